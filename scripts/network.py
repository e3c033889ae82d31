"""For `run.py`: finds a free port, and waits until a server answers.

Standard library only.
"""

import os
import socket
import sys
import time
import urllib.error
import urllib.request
import webbrowser
from collections.abc import Callable

from environment import SetupError, say

DEFAULT_PORT = 8188  # ComfyUI's own
TRIED_PORTS = 50  # from the default upwards, before giving up
POLL_INTERVAL = 0.2  # seconds between two tries to reach a server that is starting
ANSWER_LIMIT = 5.0  # seconds for one try
LOOPBACK = ("127.0.0.1", "localhost", "::1")
CONNECT_LIMIT = 0.5  # seconds; on Windows a refusal on this computer takes two
CONNECTED = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # where a server that listens everywhere answers
ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}
HEALTH = "/api/assistant/health"


def choose_port(host: str, wanted: int | None) -> int:
    """The port `wanted`, or else the first free one from 8188 on. Raises `SetupError`."""
    if wanted is not None:
        if not is_free(host, wanted):
            raise SetupError(
                f"Port {wanted} on {host} cannot be used: another program has it, or the address"
                " is not this computer's. Choose another with --port."
            )
        return wanted
    for port in range(DEFAULT_PORT, DEFAULT_PORT + TRIED_PORTS):
        if is_free(host, port):
            if port != DEFAULT_PORT:
                say(f"Port {DEFAULT_PORT} is in use (by a running ComfyUI?). Using {port}.")
            return port
    raise SetupError(f"No free port from {DEFAULT_PORT} on. Choose one with --port.")


def is_free(host: str, port: int) -> bool:
    """Whether a server can listen there, and no other answers there already."""
    return can_bind(host, port) and not somebody_answers(host, port)


def somebody_answers(host: str, port: int) -> bool:
    """Whether a connection is accepted. Windows and BSD let us bind a port at one address while
    another program listens at all addresses, and requests then reach either."""
    try:
        address = (CONNECTED.get(host, host), port)
        socket.create_connection(address, timeout=CONNECT_LIMIT).close()
    except OSError:
        return False
    return True


def can_bind(host: str, port: int) -> bool:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        if os.name == "posix":  # on Windows this option would allow a port that is in use
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def url_of(host: str, port: int) -> str:
    """The URL for a browser on this computer."""
    shown = ANY_ADDRESS.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{shown}:{port}"


def wait_until_answers(url: str, is_alive: Callable[[], bool]) -> bool:
    """Wait for any HTTP response of `url` while the server runs. True when a response came."""
    while is_alive():
        if status_of(url) is not None:
            return True
        time.sleep(POLL_INTERVAL)
    return False


def status_of(url: str) -> int | None:
    """The HTTP status of `url`; None without a response."""
    # Without a proxy: the server runs on this computer.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=ANSWER_LIMIT) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code
    except OSError:
        return None


def open_browser(url: str) -> None:
    """Open the page if there is a desktop: a text browser would use the terminal."""
    on_desktop = sys.platform in ("win32", "darwin") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    if on_desktop:
        webbrowser.open(url)


def announce(host: str, port: int, *, open_page: bool) -> None:
    """Print the line with the address, for which users and scripts wait."""
    url = url_of(host, port)
    say(f"ComfyUI Assistant: {url}")
    if host not in LOOPBACK:
        say(
            "It listens for other computers, too. The assistant answers them when"
            " ASSISTANT_ALLOWED_HOSTS and ASSISTANT_TOKEN are set."
        )
    if open_page:
        open_browser(url)
