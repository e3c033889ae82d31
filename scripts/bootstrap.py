"""Makes the package importable outside ComfyUI under one name, `plugin`, from any folder.

ComfyUI loads the plugin by its absolute path, whatever the folder is called, so inside the package
all imports are relative. Other code (tests, preview, bench, scripts) calls `register()` once and
then writes `from plugin.assistant.context import ...`. This neither changes `sys.path` nor imports
the root `__init__.py`, which is for ComfyUI.
"""

import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

NAME = "plugin"
ROOT = Path(__file__).resolve().parent.parent


def register(root: Path | None = None) -> None:
    """Register an empty package `plugin` whose `__path__` is `root` (default: this checkout).

    Calling it again with the same root does nothing; with another root it raises `RuntimeError`,
    because two checkouts in one process would mix their modules.
    """
    location = str((root or ROOT).resolve())
    known = sys.modules.get(NAME)
    if known is not None:
        known_locations = list(getattr(known, "__path__", []))
        if known_locations == [location]:
            return
        raise RuntimeError(
            f"The package name {NAME!r} already belongs to {known_locations}, not to {location}."
        )
    spec = ModuleSpec(NAME, None, is_package=True)
    spec.submodule_search_locations = [location]
    package = ModuleType(NAME, __doc__)
    package.__path__ = [location]
    package.__spec__ = spec
    sys.modules[NAME] = package
