"""`paddle_serving_client.convert`: from a Paddle inference model to Paddle Serving's layout, without Paddle.

python -m paddlecloud.serving.convert --dirname DIR [--model_filename F] [--params_filename F]
    [--serving_server serving_server] [--serving_client serving_client]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..errors import Failed, PaddleCloudError
from .layout import Target, write
from .modelfiles import Files, paddle_files
from .programs import signature_of


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser("convert", description="Lay a model out for Paddle Serving.")
    parser.add_argument("--dirname", type=Path, required=True, help="folder of the inference model")
    parser.add_argument("--model_filename", help="the program in it")
    parser.add_argument("--params_filename", help="the parameters in it")
    parser.add_argument("--serving_server", type=Path, default=Path("serving_server"))
    parser.add_argument("--serving_client", type=Path, default=Path("serving_client"))
    given = parser.parse_args(arguments)
    try:
        files = chosen(given.dirname, given.model_filename, given.params_filename)
        signature = signature_of(files.program)
        write(files, signature, Target(given.serving_server, given.serving_client))
    except PaddleCloudError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print(f"wrote {given.serving_server} and {given.serving_client}: {signature}")
    return 0


def chosen(folder: Path, program: str | None, parameters: str | None) -> Files:
    """The files that were named, the others as they are found. Raises `Failed` for what is missing."""
    found = paddle_files(folder)
    files = Files(
        folder,
        folder / program if program else found.program if found else folder / "__model__",
        folder / parameters if parameters else found.parameters if found else None,
    )
    for file in (files.program, files.parameters):
        if file is None or not file.is_file():
            inside = ", ".join(sorted(p.name for p in folder.glob("*"))) or "nothing"
            raise Failed(f"there is no {file or 'file of parameters'}; {folder} holds {inside}")
    return files


if __name__ == "__main__":
    sys.exit(main())
