"""Starts ComfyUI Assistant: in your ComfyUI, or in a preview that needs nothing but Python.

    python scripts/run.py                    the preview, with ComfyUI's own front end
    python scripts/run.py --comfyui DIR      your ComfyUI, with this plugin

The first start makes `.venv` in this folder and installs what is needed; later ones take seconds.
Ends with Ctrl-C. Standard library only until that `.venv` exists.
"""

import sys

if sys.version_info < (3, 10):  # noqa: UP036  An older Python must be able to print this.
    sys.exit(f"ComfyUI Assistant needs Python 3.10 or newer; this is {sys.version.split()[0]}.")

import argparse
import asyncio
import logging
import os
import signal
import threading
from pathlib import Path

# An isolated Python (`-I`, ComfyUI's portable build) leaves a script's own folder out.
if (FOLDER := str(Path(__file__).resolve().parent)) not in sys.path:
    sys.path.insert(0, FOLDER)

import bootstrap
import comfyui
import environment
from environment import ROOT, SetupError, say
from network import HEALTH, announce, choose_port, url_of, wait_until_answers

PREVIEW_DATA = ROOT / "preview" / ".data"


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Start ComfyUI Assistant: in your ComfyUI, or in a preview without it.",
        epilog="What follows '--' is handed to ComfyUI, such as: -- --lowvram",
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, help="port to listen on (default: 8188 or the next)")
    parser.add_argument("--no-open", action="store_true", help="do not open a browser")
    parser.add_argument("--comfyui", type=Path, metavar="DIR", help="start the ComfyUI in DIR")
    parser.add_argument(
        "--no-demo-model", action="store_true", help="neither install nor offer the demo model"
    )
    parser.add_argument("extra", nargs="*", metavar="-- ...", help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> int:
    environment.accept_any_text()
    arguments = parse_arguments()
    # Both raise KeyboardInterrupt, also when a shell started this process with SIGINT ignored.
    for ending in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ending, signal.default_int_handler)
    try:
        folder = arguments.comfyui or comfyui.enclosing(Path(__file__))
        if folder is not None:
            return comfyui.run(launch_of(folder.resolve(), arguments))
        if not environment.inside():
            environment.make()
            return environment.rerun(str(Path(__file__).resolve()))
        environment.install([environment.PLUGIN, environment.PREVIEW])
        prepare_demo_model(arguments)
        run_preview(arguments)
    except SetupError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        say("Stopped.")
    return 0


def launch_of(folder: Path, arguments: argparse.Namespace) -> comfyui.Launch:
    return comfyui.Launch(
        folder=folder,
        host=arguments.host,
        port=choose_port(arguments.host, arguments.port),
        open_page=not arguments.no_open,
        demo_model=not arguments.no_demo_model,
        extra=arguments.extra,
    )


def prepare_demo_model(arguments: argparse.Namespace) -> None:
    """Install the demo model and enable it. A failure leaves the preview without it."""
    os.environ.pop("ASSISTANT_DEMO_MODEL", None)
    if arguments.no_demo_model and not os.environ.get("LLM_GGUF"):
        return
    try:
        environment.install([environment.DEMO])
    except SetupError as error:
        say(f"{error}\nGoing on without the demo model.")
        return
    if not arguments.no_demo_model:
        os.environ["ASSISTANT_DEMO_MODEL"] = "1"


def run_preview(arguments: argparse.Namespace) -> None:
    """Serve the preview until Ctrl-C."""
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    logging.getLogger("comfyui_assistant").setLevel(logging.INFO)
    bootstrap.register(ROOT)
    from plugin.preview.server import create_app, serve

    port = choose_port(arguments.host, arguments.port)

    def listening(port: int) -> None:
        threading.Thread(target=announce_when_ready, args=(arguments, port), daemon=True).start()

    async def preview() -> None:
        app = create_app(ROOT, PREVIEW_DATA, os.environ)
        await serve(app, arguments.host, port, listening)

    try:
        asyncio.run(preview())
    except OSError as error:
        raise SetupError(
            f"The preview cannot listen on {arguments.host}:{port}: {error}"
        ) from error


def announce_when_ready(arguments: argparse.Namespace, port: int) -> None:
    """Runs in a thread beside the server: prints the address when the server answers."""
    if wait_until_answers(url_of(arguments.host, port) + HEALTH, lambda: True):
        announce(arguments.host, port, open_page=not arguments.no_open)


if __name__ == "__main__":
    sys.exit(main())
