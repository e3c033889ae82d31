"""Lets tiktoken find an encoding where there is no network: litellm ships the files."""

import os
from importlib.util import find_spec
from pathlib import Path

spec = find_spec("litellm")
if spec is not None and spec.origin:
    folder = Path(spec.origin).parent / "litellm_core_utils" / "tokenizers"
    os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(folder))
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
