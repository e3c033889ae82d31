"""Reads the settings from the environment and from `.env`.

An invalid value stops nothing: the default is used, and a `Problem` names the variable, the value
that was given and the values that are allowed. A provider is the exception: a chat goes to the
provider that the user chose, or nowhere. So where a value that names the provider was given and
cannot be used, no default takes its place, and the `Problem` says so (`hides_provider`);
`llm/resolver.py` then takes no other provider on its own.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .config import Settings
from .dotenv_file import Fault, read_dotenv
from .errors import Problem
from .formats import shown

PROVIDER_VARIABLES = frozenset(("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "LLM_GGUF"))
"""The variables that say which provider and model answer."""
SECRETS = ("OPENAI_API_KEY", "ASSISTANT_TOKEN")
ADDRESS = "OPENAI_BASE_URL"
FOLDER = "ASSISTANT_USER_DIR"
"""The variable of the folder that has the providers of the panel, and which one is in use."""
_OTHER_ADDRESS = re.compile(
    r"(OPENAI|LLM)[\w.-]*(BASE|URL|HOST|ENDPOINT|ADDRESS|SERVER)[\w.-]*|(API_)?BASE_URL|API_BASE",
    re.IGNORECASE,
)
"""Names that other programs, or a typing error, give the variable of the address."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class Loaded:
    settings: Settings
    problems: tuple[Problem, ...]


def load_settings(environ: Mapping[str, str], dotenv: Path | None = None) -> Loaded:
    """The settings from `environ`, then from the file `dotenv`; an empty value means unset.

    Raises nothing: a value, line or file that cannot be read is a `Problem`, and the default is
    used.
    """
    given = {name: text for name, value in environ.items() if (text := _unquoted(value))}
    values, problems = given, []
    if dotenv is not None:
        file = read_dotenv(dotenv, given)
        values = {**{name: value for name, value in file.values.items() if value}, **given}
        problems += [_problem_of(fault, dotenv.name, given, values) for fault in file.faults]
    problems += _misnamed_address(values, given)
    chosen: dict[str, Any] = {}
    for setting in dataclasses.fields(Settings):
        variable, format = setting.metadata["variable"], setting.metadata["format"]
        text = values.get(variable, "")
        if not text.strip():
            continue
        takes = "without control characters" if _CONTROL.search(text) else format.takes
        try:
            if _CONTROL.search(text):
                raise ValueError(text)
            chosen[setting.name] = format.parse(text.strip())
        except (ValueError, RuntimeError):
            hides = _hides_provider(variable, values)
            instead = _instead(variable, setting.default)
            secrets = [values[name] for name in SECRETS if values.get(name)]
            message = f"{variable} is {shown(text, secrets)} and must be {takes}; {instead}."
            problems.append(Problem("invalid_setting", message, variable, hides))
    return Loaded(Settings(**chosen), tuple(problems))


def _unquoted(text: str) -> str:
    """A value of the environment without the quotes around it, which `set NAME="value"` of Windows
    makes a part of the value."""
    bare = text.strip()
    if len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "\"'":
        return bare[1:-1]
    return bare


def _hides_provider(variable: str, values: Mapping[str, str]) -> bool:
    """Whether the provider is unknown when `variable` cannot be used. A file is served only where
    no provider is set."""
    if variable == "LLM_GGUF":
        return not (values.get(ADDRESS) or values.get("OPENAI_API_KEY"))
    return variable == FOLDER or variable in PROVIDER_VARIABLES


def _problem_of(
    fault: Fault, file: str, environ: Mapping[str, str], values: Mapping[str, str]
) -> Problem:
    """The problem of a line or file that cannot be read, without its text, which may be a key.

    It hides the provider where it has the name of a provider's variable that the environment does
    not set. Where it has no name of ours, it may have been the address.
    """
    if fault.line is None:
        message = f"{file} could not be read ({fault.reason}); its settings are not used."
        return Problem("invalid_setting", message, None, ADDRESS not in environ)
    known = {setting.metadata["variable"] for setting in dataclasses.fields(Settings)}
    named = {ADDRESS if _OTHER_ADDRESS.fullmatch(name) else name for name in fault.names} & known
    if named:
        hides = any(_hides_provider(name, values) for name in named - set(environ))
    else:
        hides = ADDRESS not in values
    variable = min(named) if len(named) == 1 else None
    place = f"{file}, line {fault.line}" + (f" ({variable})" if variable else "")
    message = f"{place}, could not be read: {fault.reason}; it is not used."
    return Problem("invalid_setting", message, variable, hides)


def _misnamed_address(values: Mapping[str, str], environ: Mapping[str, str]) -> Iterator[Problem]:
    """The problem of an address under a name that is not ours, while ours has no value: without it
    the key would go to the default address. The environment may have such a name for another
    program, so there it counts only beside a key."""
    if values.get(ADDRESS):
        return
    for name in values:
        if _OTHER_ADDRESS.fullmatch(name) and (name not in environ or "OPENAI_API_KEY" in values):
            message = f"{name} is not read: write the provider's address as {ADDRESS}."
            yield Problem("invalid_setting", message, name, hides_provider=True)


def _instead(variable: str, default: Any) -> str:
    if variable in PROVIDER_VARIABLES:
        return "nothing else is used in its place"
    return "it counts as not set" if default in (None, "", ()) else f"{default} is used"
