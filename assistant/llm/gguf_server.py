"""A program of its own: serves one GGUF file with llama.cpp until its standard input closes.

Started by `gguf`; imports nothing of ours. It reads one line of JSON (path, n_ctx, threads, alias,
api_key: not on the command line, where other users could read it), answers with one line of JSON
(`url`, or `error`), and ends when the process that started it is gone.
"""

import importlib
import json
import os
import sys
import tempfile
from typing import Any

ERRORS_ONLY = 1  # llama.cpp's verbosity


def main() -> None:
    # llama.cpp writes where it likes: its words go to a file, the one line of our answer does not.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    log = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
    os.dup2(log.fileno(), 1)
    os.dup2(log.fileno(), 2)
    order = json.loads(sys.stdin.readline())
    try:
        server = start(order)
    except Exception as error:
        answer = {"error": first_error(log) or f"{type(error).__name__}: {error}"}
    else:
        answer = {"url": server.listening_address}
    answers.write(json.dumps(answer) + "\n")
    answers.flush()
    if "url" in answer:
        sys.stdin.read()
    # Its threads would otherwise finish the answer that they are at.
    os._exit(0)


def start(order: dict[str, Any]) -> Any:
    """A running server for `order`."""
    xllamacpp = importlib.import_module("xllamacpp")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = order["path"]
    parameters.model_alias = {order["alias"]}
    parameters.n_ctx = order["n_ctx"]
    parameters.n_parallel = 1
    for cpu in (parameters.cpuparams, parameters.cpuparams_batch):
        cpu.n_threads = order["threads"]
        cpu.poll = 0  # no busy waiting between tokens: ComfyUI needs the processor
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.api_keys = [order["api_key"]]
    parameters.ui = False
    parameters.verbosity = ERRORS_ONLY
    return xllamacpp.Server(parameters)


def first_error(log: Any) -> str:
    """llama.cpp's own first complaint, which says more than what it raises."""
    log.seek(0)
    lines = (line.partition(" E ")[2].strip() for line in log)
    return next((line for line in lines if line), "")


if __name__ == "__main__":
    main()
