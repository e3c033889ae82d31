"""schemathesis asks the preview server what the OpenAPI document allows and what it does not.

No answer is a 500, and none is outside of the document. The seed is fixed, and so is the number of
requests: three thousand, in about a minute.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from aiohttp import web
from plugin.assistant.routes import guard
from plugin.tests.hosts import running_preview

EXAMPLES = 8
"""Requests per operation and phase."""
MOST_SECONDS = 600
"""A bound for a busy machine."""
CHECKS = (
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
)
ENDLESS = "/api/chats/subscribe"
"""Answered by a stream that does not end; `test_openapi` checks its events."""


@pytest.mark.slow
def test_no_request_gets_a_500_or_an_answer_that_is_not_described(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    statuses: Counter[int] = Counter()
    answer_to = guard._answer_to

    def counted(error: Exception, request: web.Request) -> web.Response:
        response = answer_to(error, request)
        statuses[response.status] += 1
        return response

    monkeypatch.setattr(guard, "_answer_to", counted)
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
                *("--generation-database", "none", "--no-color", "--request-timeout", "30"),
                *("--suppress-health-check", "all"),
            ],
            cwd=tmp_path,
            env={**os.environ, "PYTHONIOENCODING": "utf-8", "PYTHONWARNINGS": ""},
            capture_output=True,
            encoding="utf-8",
            timeout=MOST_SECONDS,
        )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    # The document's `default` would allow a 500; a 502 or 503 says what is wrong elsewhere.
    assert statuses[400] > 500 and not statuses[500], statuses
