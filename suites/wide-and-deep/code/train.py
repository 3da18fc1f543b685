"""Train wide & deep on clicks: with parameter servers, as one of several workers, or alone.

Plain Paddle: nothing here knows the system it runs on. A process finds its role and the others by the
variables TRAINING_ROLE, PADDLE_TRAINER_ID, PADDLE_PSERVERS_IP_PORT_LIST, PADDLE_TRAINER_ENDPOINTS,
PADDLE_TRAINERS_NUM, PADDLE_PORT and POD_IP; with PADDLE_WITH_GLOO the workers meet before they begin.
Without them it trains alone. Where PADDLE_HETER_ENDPOINTS names heterogeneous workers, they do the second
stage of the network (`heter`).

The model is exported to the output folder at the end, with `--early 1` also as it is after epoch 1, to the
folder `epoch-1` beside it. With `--curves FOLDER` loss and AUC are written down for VisualDL as they come.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
from pathlib import Path

# Each process is given one core: more threads would only fight each other. Must be set before Paddle loads.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import clicks
import make_data
from checkpoints import Checkpoints


def main() -> int:
    options = arguments()
    role = os.environ.get("TRAINING_ROLE", "TRAINER")
    with_servers = bool(os.environ.get("PADDLE_PSERVERS_IP_PORT_LIST"))
    if role == "PSERVER" and not with_servers:
        print("TRAINING_ROLE is PSERVER, but PADDLE_PSERVERS_IP_PORT_LIST names no servers", file=sys.stderr)
        return 2
    if role != "TRAINER" and (ended := stand_before_a_child()) is not None:
        return ended
    try:
        splits = load(options) if role == "TRAINER" else {}
    except clicks.BadData as error:
        print(f"bad data: {error}; make a data set with make_data.py", file=sys.stderr)
        return 2

    import network

    options.shape = network.Shape()
    kept = Checkpoints(options.checkpoint)
    if with_servers and os.environ.get("PADDLE_HETER_ENDPOINTS"):
        return in_stages(options, role, splits)
    if with_servers:
        import servers

        servers.serve(options) if role == "PSERVER" else servers.train(options, kept, **splits)
    else:
        import workers

        workers.train(options, kept, **splits)
    return 0


def in_stages(options: argparse.Namespace, role: str, splits: dict[str, clicks.Split]) -> int:
    import heter
    import heterroles

    if heter.refused(options):
        return 2
    heterroles.complete(os.environ)
    if role == "PSERVER":
        heter.serve(options)
    elif role == "TRAINER":
        heter.first_stage(options, splits["split"])
    else:
        heter.second_stage(options)
    return 0


def stand_before_a_child() -> int | None:
    """None in a child that goes on; the first process ends it when told to, and then all is well.

    Paddle's servers never look at signals, and the first process of a container is not ended by a signal that
    it does not look at.
    """
    child = os.fork()
    if not child:
        return None
    told: list[int] = []

    def end(number: int, _: object) -> None:
        told.append(number)
        os.kill(child, signal.SIGTERM)

    signal.signal(signal.SIGTERM, end)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return 0 if told else (code if code >= 0 else 128 - code)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Train wide & deep on clicks.")
    parser.add_argument("--data", type=Path, help="folder made by make_data.py [drawn from the seed]")
    parser.add_argument("--output", type=Path, help="folder for the inference model")
    parser.add_argument("--checkpoint", type=Path, help="folder to keep checkpoints in and to go on from")
    parser.add_argument("--curves", type=Path, help="folder for the records of VisualDL")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--early", type=int, default=0, help="export the model of this epoch, too; 0: none")
    parser.add_argument("--batch-size", type=int, default=128, help="rows a step and worker")
    parser.add_argument("--learning-rate", type=float, default=0.005)
    parser.add_argument("--seed", type=int, default=make_data.SEED)
    parser.add_argument("--gpus", default="", help="taken and left aside: this suite trains on the CPU")
    return parser.parse_args()


def load(options: argparse.Namespace) -> dict[str, clicks.Split]:
    if options.data is None:
        sizes = {"split": ("train", make_data.TRAIN), "test": ("test", make_data.TEST)}
        return {use: clicks.drawn(name, count, options.seed) for use, (name, count) in sizes.items()}
    return {
        "split": clicks.read(options.data / make_data.FOLDERS["train"], make_data.FEATURES),
        "test": clicks.read(options.data / make_data.FOLDERS["test"], make_data.FEATURES),
    }


if __name__ == "__main__":
    # Paddle keeps the code it traces below the home; a container's user may have none.
    with tempfile.TemporaryDirectory() as home:
        os.environ.setdefault("HOME", home)
        sys.exit(main())
