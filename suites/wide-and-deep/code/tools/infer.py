"""Judge what `trainer.py` kept, epoch by epoch, as a configuration of PaddleRec says: `infer.py -m FILE`.

`runner.infer_load_path` has a folder an epoch; from `infer_start_epoch` up to, not including,
`infer_end_epoch` each is judged on the rows of `test_data_dir`.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from argparse import Namespace
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import clicks
from trainer import BadConfiguration, command_line, load, read


def main() -> int:
    given = command_line("Judge what was trained.")
    try:
        options = read(given.config_yaml, given.opt)
        split = load(options, "test")
        return judge(options, split)
    except (BadConfiguration, clicks.BadData) as error:
        print(f"cannot judge: {error}", file=sys.stderr)
        return 2


def judge(options: Namespace, split: clicks.Split) -> int:
    import network
    import paddle
    import workers

    net = network.WideDeep(network.Shape(**options.shape))
    net.eval()
    for epoch in range(*options.infer_epochs):
        file = options.infer_folder / str(epoch) / workers.STATE
        try:
            net.set_state_dict(paddle.load(str(file))["network"])
        except (OSError, ValueError, KeyError) as error:
            raise BadConfiguration(
                f"nothing that trainer.py kept can be read from {file}: {error}"
            ) from error
        begun = time.monotonic()
        with paddle.no_grad():
            scores = net(*workers.tensors(split)).numpy()
        found = clicks.auc(split.click, scores), clicks.log_loss(split.click, scores)
        seconds = time.monotonic() - begun
        print(
            f"epoch: {epoch} done, auc: {found[0]:.6f}, loss: {found[1]:.6f}, epoch time: {seconds:.2f} s",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    # Paddle keeps the code it traces below the home; a container's user may have none.
    with tempfile.TemporaryDirectory() as home:
        os.environ.setdefault("HOME", home)
        sys.exit(main())
