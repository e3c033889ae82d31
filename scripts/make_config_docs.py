"""Writes `.env.example` and `docs/configuration.md` from the settings in `assistant/config.py`.

    .venv/bin/python scripts/make_config_docs.py

`tests/test_docs.py` fails when one of the two files no longer fits the settings.
"""

import dataclasses
import itertools
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bootstrap

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / ".env.example"
GUIDE = ROOT / "docs" / "configuration.md"
WIDTH = 100  # characters of a line in `.env.example`

EXAMPLE_HEAD = """\
# Settings of ComfyUI Assistant. Copy this file to .env in the same folder and remove the # before
# each setting that you change. A variable of the environment overrides .env, and a provider that is
# entered in the panel overrides both. Restart ComfyUI after a change.
# Made by scripts/make_config_docs.py from assistant/config.py.
"""

GUIDE_HEAD = """\
# Configuration

No setting is needed to start: the assistant finds a local server, and a provider can be entered in
the panel. Each setting is a variable in the environment that starts ComfyUI, or in a file `.env` in
the plugin's folder ([`.env.example`](../.env.example) has all of them).

The first of these that has a value is used: the panel's settings (providers only), the environment,
`.env`, the default. An empty value means not set. Restart ComfyUI after a change. A wrong value
stops nothing: the default is used, and the panel and ComfyUI's log name the variable, its value and
the values that it takes.

**Which provider answers.** A chat goes to the provider that you chose, or nowhere. That is the one
in use in the panel; else the one of `OPENAI_BASE_URL` (with a key alone: OpenAI); else the file of
`LLM_GGUF`. Only where you chose nothing at all, a server that runs on this machine answers, or else
the demo model. A provider that is gone or deleted, an address that cannot be used, a damaged
`providers.json` and a line of `.env` that may have named the provider or its folder ask for
another choice, with an error; no other provider takes the place of yours.

**Lines of `.env`.** One variable a line: `NAME=value`, with or without quotes, in UTF-8 or in
UTF-16 with a byte order mark, at most 256 kB in all. Paths stand as they are: in
`ASSISTANT_USER_DIR="C:\\Users\\tom\\new"` a backslash is a backslash. `${NAME}` is the value of
another variable, as `%NAME%` is, ` #` begins a comment. A value ends with its line. A line that
cannot be read is named in the panel, by its number.

The value 0 switches off a limit in characters, messages, rules, rounds or steps, unless the table
says otherwise. [context.md](context.md) explains the limits of what the model is sent.
"""

GUIDE_TAIL = """\
## For the scripts and tests

| variable | what it is |
|---|---|
| `COMFYUI_PYTHON` | The Python that starts your ComfyUI, if `scripts/run.py` does not find it. |
| `COMFYUI_DIR` | A ComfyUI's folder, for the tests marked `comfyui`; else they are skipped. |
| `CHROMIUM` | The browser for the tests, if they do not find it. |

This page is made from `assistant/config.py` by `scripts/make_config_docs.py`.
"""


@dataclass(frozen=True)
class Variable:
    """One setting as the documents show it; all fields are texts."""

    section: str
    name: str
    about: str
    takes: str
    default: str


def variables() -> list[Variable]:
    """All settings, in the order of their definition."""
    bootstrap.register(ROOT)
    from plugin.assistant.config import Settings

    return [variable_of(setting) for setting in dataclasses.fields(Settings)]


def variable_of(setting: "dataclasses.Field[Any]") -> Variable:
    facts = setting.metadata
    takes = facts["format"].takes + (f" ({facts['unit']})" if facts["unit"] else "")
    return Variable(
        facts["section"], facts["variable"], facts["about"], takes, plain(setting.default)
    )


def plain(default: Any) -> str:
    """A default as it is written in `.env`; empty where nothing is set."""
    if default in (None, "", ()):
        return ""
    if isinstance(default, bool):
        return str(int(default))
    return f"{default:g}" if isinstance(default, float) else str(default)


def sections() -> Iterator[tuple[str, list[Variable]]]:
    for title, members in itertools.groupby(variables(), lambda variable: variable.section):
        yield title, list(members)


def example() -> str:
    """The text of `.env.example`: every setting with its default, commented out."""
    lines = EXAMPLE_HEAD.splitlines()
    for title, members in sections():
        lines += ["", "", f"# === {title} ==="]
        for variable in members:
            about = f"{variable.about} Takes {variable.takes}."
            lines += ["", *(f"# {line}" for line in textwrap.wrap(about, WIDTH - 2))]
            lines.append(f"#{variable.name}={variable.default}")
    return "\n".join(lines) + "\n"


def guide() -> str:
    """The text of `docs/configuration.md`: a table for each section."""
    blocks = [GUIDE_HEAD]
    for title, members in sections():
        rows = [
            f"## {title}",
            "",
            "| variable | what it is | takes | default |",
            "|---|---|---|---|",
        ]
        for variable in members:
            default = f"`{variable.default}`" if variable.default else "not set"
            rows.append(f"| `{variable.name}` | {variable.about} | {variable.takes} | {default} |")
        blocks.append("\n".join(rows) + "\n")
    return "\n".join((*blocks, GUIDE_TAIL))


def main() -> None:
    for file, text in ((EXAMPLE, example()), (GUIDE, guide())):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
        print(f"Wrote {file.relative_to(ROOT)}.")


if __name__ == "__main__":
    main()
