"""A program that serves one GGUF file with llama.cpp until its standard input closes.

`gguf` starts it; it imports no module of this package. It reads one line of JSON (path, n_ctx,
n_predict, threads, alias, api_key, which other users could read on a command line, and packages, a
folder in which llama.cpp may be), prints one line of JSON (`url`, or `error`), and ends when the
process that started it has ended.
"""

import importlib
import json
import os
import site
import sys
import tempfile
from typing import Any

ERRORS_ONLY = 1  # llama.cpp's verbosity


def main() -> None:
    # llama.cpp prints to both outputs: they go to a file, and only our answer to the real output.
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
    # Otherwise llama.cpp's threads would first finish the answer that they are generating.
    os._exit(0)


def start(order: dict[str, Any]) -> Any:
    """A running server for the file and settings in `order`."""
    site.addsitedir(order["packages"])  # after Python's own packages, and in this process only
    xllamacpp = importlib.import_module("xllamacpp")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = order["path"]
    parameters.model_alias = {order["alias"]}
    parameters.n_ctx = order["n_ctx"]
    parameters.n_predict = order["n_predict"]
    parameters.n_parallel = 1  # `line` lets one request in at a time
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
    """The first error in llama.cpp's log, which is clearer than its exception."""
    log.seek(0)
    lines = (line.partition(" E ")[2].strip() for line in log)
    return next((line for line in lines if line), "")


if __name__ == "__main__":
    main()
