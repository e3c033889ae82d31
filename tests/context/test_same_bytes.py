"""Another process, hash seed or locale gives the same bytes (R52)."""

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from plugin.assistant.config import Settings

from .planning import (
    CACHED,
    SMALL,
    body_of,
    requests,
)
from .wild import wild_log

ROOT = Path(__file__).resolve().parents[2]
SUBPROCESS = """
import importlib.util, pathlib
spec = importlib.util.spec_from_file_location("_bootstrap", pathlib.Path("scripts/bootstrap.py"))
bootstrap = importlib.util.module_from_spec(spec)
spec.loader.exec_module(bootstrap)
bootstrap.register(pathlib.Path.cwd())
from plugin.tests.context.test_same_bytes import fingerprint
print(fingerprint())
"""


def fingerprint() -> str:
    """A hash of the requests and reports of chats that use every stage."""
    digest = hashlib.sha256()
    settings = (Settings(), CACHED, Settings(summary="off"))
    for each in settings:
        for seed in range(2):
            for request in requests(wild_log(seed, 25), each, replace(SMALL, alternation=True)):
                report = request.plan.report
                body = [body_of(request.messages), report.to_json(), report.to_header()]
                digest.update(json.dumps(body).encode())
    return digest.hexdigest()


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "locale"), [("1", "C"), ("2", "C.UTF-8")])
def test_another_process_hash_seed_and_locale_give_the_same_bytes(seed: str, locale: str) -> None:
    command = [sys.executable, "-c", SUBPROCESS]
    env = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": locale}
    done = subprocess.run(
        command, cwd=ROOT, env=env, capture_output=True, text=True, encoding="utf-8"
    )
    assert done.stdout.strip() == fingerprint(), done.stderr
