"""Stands for `assistant/llm/gguf_server.py` without llama.cpp: the same JSON in, the same out, and
a server that behaves as the model's file says, a JSON object:

`seconds`: how long an answer takes, one after the other, but for a question of one token. `hangs`:
how many processes, counted over starts, never answer. Each request is a line in the file `.log`
beside the model's: process id, requests at a time, most tokens.
"""

import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

order: dict[str, Any] = json.loads(sys.stdin.readline())
file = Path(order["path"])
behaviour = json.loads(file.read_text(encoding="utf-8"))
starts = file.with_suffix(".starts")
with starts.open("a", encoding="utf-8") as started:
    started.write(json.dumps(order) + "\n")
number = len(starts.read_text(encoding="utf-8").splitlines())
lock = threading.Lock()
one_slot = threading.Lock()
at_a_time = 0


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self.answer(b"{}", "application/json")

    def do_POST(self) -> None:
        global at_a_time
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with lock:
            at_a_time += 1
            with file.with_suffix(".log").open("a", encoding="utf-8") as log:
                log.write(f"{os.getpid()} {at_a_time} {body.get('max_tokens')}\n")
        if number <= behaviour.get("hangs", 0):
            threading.Event().wait()
        if body.get("max_tokens") != 1:
            with one_slot:
                time.sleep(behaviour.get("seconds", 0))
        with lock:  # before the answer: then the next request may come
            at_a_time -= 1
        choice = {"index": 0, "delta": {"content": "Hello"}, "finish_reason": "stop"}
        self.answer(f"data: {json.dumps({'choices': [choice]})}\n\ndata: [DONE]\n\n".encode())

    def answer(self, content: bytes, kind: str = "text/event-stream") -> None:
        try:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
        except OSError:
            pass  # The client has left.


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
print(json.dumps({"url": f"http://127.0.0.1:{server.server_port}"}), flush=True)  # noqa: T201
sys.stdin.read()
os._exit(0)
