"""The model server for a version of the hub: brings its files, then serves them, in one process.

    python -m paddlecloud.hubserver --store URI --model NAME --version V --to FOLDER [--port PORT] …

What the first four do not say is said to the server. One program, so that a process which has imported all of
it can become it at once.
"""

from __future__ import annotations

import argparse
import sys

from .models import fetch
from .serving import server


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="paddlecloud.hubserver", description="Fetch and serve a model.")
    for name in ("store", "model", "version", "to"):
        parser.add_argument(f"--{name}", required=True)
    given, rest = parser.parse_known_args(arguments)
    wanted = [f"--{name}={getattr(given, name)}" for name in ("store", "model", "version", "to")]
    if code := fetch.main(wanted):
        return code
    sys.stdout.flush()
    return server.main(["--listen-first", "--model", given.to, "--name", given.model, *rest])


if __name__ == "__main__":
    sys.exit(main())
