"""schemathesis asks the preview server what the OpenAPI document allows and what it does not.

No answer is a 500, and none is outside of the document. The seed is fixed, and the requests are
counted, so a run takes about a minute.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from plugin.tests.hosts import running_preview

EXAMPLES = 8
"""Requests per operation and phase."""
MOST_SECONDS = 240
"""A bound for a busy machine."""
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
)
ENDLESS = "/api/chats/subscribe"
"""Answered by a stream that does not end; `test_openapi` checks its events."""


@pytest.mark.slow
def test_no_request_gets_a_500_or_an_answer_that_is_not_described(tmp_path: Path) -> None:
    environ = {"ASSISTANT_DISCOVER": "0", "ASSISTANT_DEMO_MODEL": "0"}
    with running_preview(environ, tmp_path) as url:
        ran = subprocess.run(
            [
                *(sys.executable, "-m", "schemathesis.cli", "run"),
                f"{url}/api/assistant/openapi.json",
                *("--checks", ",".join(CHECKS)),
                *("--exclude-path", ENDLESS),
                *("--phases", "examples,coverage,fuzzing"),
                *("--max-examples", str(EXAMPLES)),
                *("--seed", "20260121"),
                *("--generation-deterministic", "--no-color", "--request-timeout", "30"),
                *("--suppress-health-check", "all"),
            ],
            cwd=tmp_path,
            env={**os.environ, "PYTHONIOENCODING": "utf-8", "PYTHONWARNINGS": ""},
            capture_output=True,
            encoding="utf-8",
            timeout=MOST_SECONDS,
        )
    assert ran.returncode == 0, ran.stdout + ran.stderr
