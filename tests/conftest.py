"""What every test needs: the package under the name `plugin`, however pytest was called."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def _register_package() -> None:
    spec = importlib.util.spec_from_file_location("_bootstrap", ROOT / "scripts" / "bootstrap.py")
    assert spec is not None and spec.loader is not None
    bootstrap = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bootstrap)
    bootstrap.register(ROOT)


_register_package()
