"""`paddle_serving_server.serve`: the original's command line, in front of our server.

    python -m paddle_serving_server.serve --model FOLDER… [--port 9393] [--thread 4] [--name NAME] …

Its port opens when the models are loaded: its users look at nothing but the port. What chooses a device, a
memory optimiser or an operator there has no meaning here: it is accepted, and named once on the error output.
"""

from __future__ import annotations

import argparse
import os
import sys

from ..errors import PaddleCloudError
from .server import parsed, processors, run

FLAGS = ("--mem_optim_off", "--ir_optim", "--use_mkl", "--use_trt", "--use_xpu", "--use_lite", "--use_calib",
         "--use_multilang", "--use_ascend_cl", "--gpu_multi_stream", "--enable_prometheus")  # fmt: skip
VALUES = ("--gpu_ids", "--op_num", "--op_max_batch", "--precision", "--workdir", "--prometheus_port",
          "--product_name", "--container_id", "--runtime_thread_num", "--batch_infer_size")  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    try:
        return run(parsed(translated(arguments), os.environ.get("POD_IP") or "127.0.0.1", processors()))
    except PaddleCloudError as error:
        print(error, file=sys.stderr)
        return error.exit_code


def translated(arguments: list[str] | None) -> list[str]:
    """The same wishes as options of our server."""
    parser = argparse.ArgumentParser("serve", description="Serve a model of Paddle Serving.")
    parser.add_argument("server", nargs="?", choices=["start"], help="as without it")
    parser.add_argument("--model", nargs="+", required=True, help="folders with serving_server_conf.prototxt")
    parser.add_argument("--port", type=int, default=9393)
    parser.add_argument("--thread", type=int, default=0, help="inferences at a time")
    parser.add_argument("--name", help="name of the service")
    parser.add_argument("--max_body_size", type=int, default=64 << 20, help="bytes of a request")
    for flag in FLAGS:
        parser.add_argument(flag, action="store_true", help=argparse.SUPPRESS)
    for value in VALUES:
        parser.add_argument(value, nargs="+", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if ignored := [option for option in (*FLAGS, *VALUES) if getattr(given, option[2:])]:
        print(f"without meaning here: {', '.join(ignored)}", file=sys.stderr)
    result = ["--port", str(given.port), "--max-body", str(max(1, given.max_body_size >> 20))]
    # The original's threads also read requests; more of them than cores would only wait for each other.
    result += ["--concurrent", str(min(given.thread, processors()))] if given.thread > 0 else []
    result += ["--name", given.name] if given.name and len(given.model) == 1 else []
    return [*result, *(part for folder in given.model for part in ("--model", folder))]


if __name__ == "__main__":
    sys.exit(main())
