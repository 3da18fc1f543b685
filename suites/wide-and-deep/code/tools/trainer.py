"""Train wide & deep as a configuration file of PaddleRec says: `trainer.py -m config.yaml`.

A snapshot of every epoch lies in a folder with its number, the exported model in the last of them. Where
the data is not there, clicks that are drawn from a seed take its place, and a sentence says so.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import clicks
import make_data
import yaml
from checkpoints import Checkpoint

SEED = make_data.SEED


class BadConfiguration(Exception):
    """The configuration says what cannot be done; the text says why."""


def main() -> int:
    given = command_line("Train as a configuration file says.")
    try:
        options = read(given.config_yaml, given.opt)
        splits = {"split": load(options, "train"), "test": load(options, "test")}
    except (BadConfiguration, clicks.BadData) as error:
        print(f"cannot train: {error}", file=sys.stderr)
        return 2

    import network
    import paddle
    import workers

    options.shape = network.Shape(**options.shape)
    net = workers.train(options, Snapshots(options.folder, options.epochs), **splits)
    if paddle.distributed.get_rank() == 0:
        last = options.folder / str(options.epochs - 1)
        workers.write(net, options.shape, last / "rec_inference")
        print(f"exported {last}", flush=True)
    return 0


def command_line(description: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("-m", "--config_yaml", type=Path, required=True, help="the configuration file")
    parser.add_argument("-o", "--opt", nargs="*", default=[], help="KEY=VALUE instead of what the file says")
    return parser.parse_args()


def read(path: Path, changes: list[str]) -> argparse.Namespace:
    try:
        said = yaml.safe_load(path.read_text())
    except (OSError, yaml.YAMLError) as error:
        raise BadConfiguration(f"{path} cannot be read: {error}") from error
    for change in changes:
        name, _, value = change.partition("=")
        *outer, last = name.split(".")
        place = said
        for word in outer:
            place = place.setdefault(word, {})
        place[last] = yaml.safe_load(value)
    try:
        runner, hyper = said["runner"], said["hyper_parameters"]
        folder = Path(runner["model_save_path"])
        epochs = int(runner["epochs"])
        if runner.get("use_gpu"):
            print("use_gpu is left aside: this suite trains on the CPU", flush=True)
        return argparse.Namespace(
            folder=folder,
            infer_folder=Path(runner.get("infer_load_path") or folder),
            infer_epochs=(
                int(runner.get("infer_start_epoch", 0)),
                int(runner.get("infer_end_epoch", epochs)),
            ),
            output=None,
            curves=None,
            early=0,
            epochs=epochs,
            batch_size=int(runner["train_batch_size"]),
            learning_rate=float(hyper["optimizer"]["learning_rate"]),
            seed=SEED,
            data={split: Path(runner[f"{split}_data_dir"]) for split in ("train", "test")},
            shape={
                # The first of their slots is the click itself.
                "slots": int(hyper["sparse_inputs_slots"]) - 1,
                "dense": int(hyper["dense_input_dim"]),
                "features": int(hyper["sparse_feature_number"]),
                "width": int(hyper["sparse_feature_dim"]),
                "layers": tuple(int(size) for size in hyper["fc_sizes"]),
            },
        )
    except (KeyError, TypeError, ValueError) as error:
        raise BadConfiguration(f"{path} says nothing usable about {error}") from error


def load(options: argparse.Namespace, split: str) -> clicks.Split:
    folder, shape = options.data[split], options.shape
    if folder.is_dir():
        return clicks.read(folder, shape["features"], shape["slots"], shape["dense"])
    drawn = (make_data.SLOTS, make_data.DENSE)
    if (shape["slots"], shape["dense"]) != drawn or shape["features"] < make_data.FEATURES:
        raise BadConfiguration(f"there is no data in {folder}")
    print(f"there is no data in {folder}: takes clicks drawn from a seed instead", flush=True)
    return clicks.drawn(split, {"train": make_data.TRAIN, "test": make_data.TEST}[split], options.seed)


class Snapshots:
    """Checkpoints as PaddleRec keeps them: a folder `0`, `1`, … an epoch, all of them kept."""

    def __init__(self, root: Path, epochs: int) -> None:
        self._root, self._epochs = root, epochs

    def newest(self) -> Checkpoint | None:
        """The last whole one; a training that is over is no beginning of another."""
        whole = [p.parent.name for p in self._root.glob("*/rec.pdparams")]
        done = [int(name) + 1 for name in whole if name.isdigit()]
        epoch = max(done, default=0)
        return Checkpoint(epoch, self._root / str(epoch - 1)) if 0 < epoch < self._epochs else None

    def write(self, epoch: int, save: Callable[[Path], None]) -> None:
        folder = self._root / str(epoch - 1)
        part = self._root / f".{folder.name}.{os.getpid()}"
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        save(part)
        shutil.rmtree(folder, ignore_errors=True)
        os.rename(part, folder)


if __name__ == "__main__":
    # Paddle keeps the code it traces below the home; a container's user may have none.
    with tempfile.TemporaryDirectory() as home:
        os.environ.setdefault("HOME", home)
        sys.exit(main())
