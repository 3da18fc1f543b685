"""Train a small image classifier, alone or as one of several Collective workers, and export it.

Plain Paddle: nothing here knows the system it runs on. A worker finds the others by the variables
PADDLE_TRAINER_ID, PADDLE_TRAINERS_NUM, PADDLE_TRAINER_ENDPOINTS and PADDLE_CURRENT_ENDPOINT (or POD_IP and
PADDLE_PORT), started directly or by `python -m paddle.distributed.launch`.

Rank 0 prints its progress in lines of one shape, `step` counting within the epoch:

    epoch 2/8 step 15/25 loss 0.4312 accuracy 0.871 samples/s 913

and at the end writes the inference model, `labels.txt` and `metrics.json` to the output folder, all at once;
with `--early 2` also the model as it is after epoch 2, to the folder `epoch-2` beside it. With
`--curves FOLDER` loss and accuracy are written down for VisualDL as they come.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Each worker is given one core: more threads would only fight each other. Must be set before Paddle loads.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from records import Curves

STEPS_BETWEEN_LINES = 5
Judge = Callable[[int, int], dict[str, float]]
"""What the network is worth after an epoch, at a step."""


class BadData(Exception):
    """The data folder is not what training needs; the text says why."""


def main() -> int:
    options = arguments()
    complete_endpoint(os.environ)
    try:
        labels = read_labels(options.data)
        splits = {name: read_split(options.data, name, len(labels)) for name in ("train", "test")}
    except BadData as error:
        print(f"bad data: {error}", file=sys.stderr)
        return 2

    import paddle

    if int(os.environ.get("PADDLE_TRAINERS_NUM", "1")) > 1:
        paddle.distributed.init_parallel_env()
    paddle.seed(options.seed)
    net = network(len(labels))
    first = paddle.distributed.get_rank() == 0
    with Curves(options.curves if first else None) as curves:

        def judge(epoch: int, step: int) -> dict[str, float]:
            """What the network is worth after an epoch; the early one is exported at once."""
            metrics = evaluate(net, splits["test"], options.batch_size)
            for name, value in metrics.items():
                curves.add(f"EVAL/{name}", value, step)
            if epoch == options.early:
                export(net, labels, metrics, options.output.with_name(f"epoch-{epoch}"))
            return metrics

        metrics = train(net, splits["train"], options, curves, judge)
    if first:
        print(f"test accuracy {metrics['accuracy']:.4f} loss {metrics['loss']:.4f}", flush=True)
        export(net, labels, metrics, options.output)
        print(f"exported {options.output}", flush=True)
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Train a classifier of small gray images.")
    parser.add_argument("--data", type=Path, required=True, help="folder made by make_data.py")
    parser.add_argument("--output", type=Path, required=True, help="folder for the inference model")
    parser.add_argument("--curves", type=Path, help="folder for the records of VisualDL")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--early", type=int, default=0, help="export the model of this epoch, too; 0: none")
    parser.add_argument("--batch-size", type=int, default=32, help="samples a step and worker")
    parser.add_argument("--learning-rate", type=float, default=0.003)
    parser.add_argument("--seed", type=int, default=7)
    return parser.parse_args()


def complete_endpoint(environ: Any) -> None:
    """An operator may name only the pod's address and the job's port; Paddle wants them joined."""
    if "PADDLE_CURRENT_ENDPOINT" not in environ and {"POD_IP", "PADDLE_PORT"} <= set(environ):
        environ["PADDLE_CURRENT_ENDPOINT"] = f"{environ['POD_IP']}:{environ['PADDLE_PORT']}"


@dataclass(frozen=True)
class Split:
    images: Any
    """float32, one gray value 0…255 a pixel: [samples, 1, height, width]."""
    labels: Any

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        return self.images[index], self.labels[index]


def read_labels(folder: Path) -> list[str]:
    labels = read_text(folder / "labels.txt").split()
    if len(labels) < 2:
        raise BadData(f"{folder / 'labels.txt'} names {len(labels)} classes; at least two are needed")
    return labels


def read_split(folder: Path, name: str, classes: int) -> Split:
    import numpy as np
    from PIL import Image

    listing = folder / f"{name}_list.txt"
    images, labels = [], []
    for number, line in enumerate(read_text(listing).splitlines(), 1):
        path, _, label = line.rpartition(" ")
        if not path or not label.isdigit() or int(label) >= classes:
            raise BadData(f"{listing} line {number} is {line!r}, not `path class` with class < {classes}")
        try:
            with Image.open(folder / path) as image:
                images.append(np.asarray(image.convert("L"), dtype="float32"))
        except OSError as error:
            raise BadData(f"{listing} line {number}: {folder / path} is no image ({error})") from error
        if images[-1].shape != images[0].shape:
            raise BadData(f"{folder / path} is {images[-1].shape} pixels, the first image {images[0].shape}")
        labels.append(int(label))
    if not images:
        raise BadData(f"{listing} lists no image")
    return Split(np.stack(images)[:, None], np.asarray(labels, dtype="int64"))


def read_text(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise BadData(f"{path} cannot be read ({reason}); make a data set with make_data.py") from error


def network(classes: int) -> Any:
    """Gray values 0…255 in, one score a class out."""
    from paddle import nn

    def block(inputs: int, outputs: int) -> list[Any]:
        return [nn.Conv2D(inputs, outputs, 3, padding=1, bias_attr=False), nn.BatchNorm2D(outputs), nn.ReLU(),
                nn.MaxPool2D(2)]  # fmt: skip

    class Shapes(nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.features = nn.Sequential(*block(1, 16), *block(16, 32), *block(32, 32))
            self.scores = nn.Linear(32 * 4 * 4, classes)

        def forward(self, image: Any) -> Any:
            return self.scores(self.features(image / 255.0).flatten(1))

    return Shapes()


def train(
    net: Any, split: Split, options: argparse.Namespace, curves: Curves, judge: Judge
) -> dict[str, float]:
    """What *judge* says of the last epoch; asked by rank 0 alone."""
    import paddle
    from paddle.io import DataLoader, DistributedBatchSampler

    rank, workers = paddle.distributed.get_rank(), paddle.distributed.get_world_size()
    model = paddle.DataParallel(net) if workers > 1 else net
    # The last, smaller batch goes, unless it is the only one.
    whole = len(split) >= options.batch_size * workers
    sampler = DistributedBatchSampler(split, options.batch_size, shuffle=True, drop_last=whole)
    loader = DataLoader(split, batch_sampler=sampler, use_shared_memory=False)
    total = options.epochs * len(sampler)
    rate = paddle.optimizer.lr.CosineAnnealingDecay(options.learning_rate, T_max=total)
    optimizer = paddle.optimizer.AdamW(rate, parameters=model.parameters(), weight_decay=0.01)

    step, told, since = 0, 0, time.monotonic()
    metrics: dict[str, float] = {}
    for epoch in range(1, options.epochs + 1):
        sampler.set_epoch(epoch)
        net.train()
        for images, labels in loader:
            scores = model(images)
            loss = paddle.nn.functional.cross_entropy(scores, labels)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            rate.step()
            step += 1
            if rank == 0 and (step % STEPS_BETWEEN_LINES == 0 or step == total):
                now = time.monotonic()
                speed = (step - told) * options.batch_size * workers / max(now - since, 1e-9)
                accuracy = float((scores.argmax(1) == labels).astype("float32").mean())
                within = step - (epoch - 1) * len(sampler)
                print(f"epoch {epoch}/{options.epochs} step {within}/{len(sampler)} loss {float(loss):.4f} "
                      f"accuracy {accuracy:.3f} samples/s {speed:.0f}", flush=True)  # fmt: skip
                curves.add("TRAIN/loss", float(loss), step)
                curves.add("TRAIN/accuracy", accuracy, step)
                told, since = step, now
        if rank == 0:
            metrics = judge(epoch, step)
    return metrics


def evaluate(net: Any, split: Split, batch_size: int) -> dict[str, float]:
    import paddle

    net.eval()
    right, loss = 0, 0.0
    with paddle.no_grad():
        for start in range(0, len(split), batch_size):
            images = paddle.to_tensor(split.images[start : start + batch_size])
            labels = paddle.to_tensor(split.labels[start : start + batch_size])
            scores = net(images)
            right += int((scores.argmax(1) == labels).sum())
            loss += float(paddle.nn.functional.cross_entropy(scores, labels, reduction="sum"))
    return {"accuracy": right / len(split), "loss": loss / len(split)}


def export(net: Any, labels: list[str], metrics: dict[str, float], output: Path) -> None:
    """Write the model with its probabilities as the only output; the folder appears whole."""
    import paddle

    output.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=f".{output.name}-", dir=output.parent))
    try:
        part.chmod(0o755)
        image = paddle.static.InputSpec([None, 1, 32, 32], "float32", "image")
        served = paddle.nn.Sequential(net, paddle.nn.Softmax())
        served.eval()
        traced = paddle.jit.to_static(served, input_spec=[image], full_graph=True)
        paddle.jit.save(traced, str(part / "model"))
        (part / "labels.txt").write_text("".join(f"{label}\n" for label in labels))
        (part / "metrics.json").write_text(json.dumps(metrics) + "\n")
        replace(part, output)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise


def replace(part: Path, output: Path) -> None:
    """Put *part* in the place of *output*; an export of an earlier attempt goes."""
    old = part.with_name(part.name + "-old")
    if output.exists():
        os.rename(output, old)
    os.rename(part, output)
    shutil.rmtree(old, ignore_errors=True)


if __name__ == "__main__":
    # Paddle keeps the code it traces below the home; a container's user may have none.
    with tempfile.TemporaryDirectory() as home:
        os.environ.setdefault("HOME", home)
        sys.exit(main())
