"""Text classification with the switches of PaddleNLP: `train.py --do_train --do_eval --data_dir …`.

The folder has `train.txt` and `dev.txt` (`sentence TAB label` a line) and `label.txt` (a label a line).
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from kit.command import DEEDS
from kit.configuration import BadConfiguration

ASIDE = ("model_name_or_path", "device", "early_stopping", "metric_for_best_model", "save_strategy")
"""Switches of the original that a small network has no use for."""


def main() -> int:
    parser = argparse.ArgumentParser(description="Train, judge and export a classifier of sentences.")
    for deed in ("do_train", "do_eval", "do_export"):
        parser.add_argument(f"--{deed}", nargs="?", const="true", default="false")
    parser.add_argument("--data_dir", default="./data")
    parser.add_argument("--output_dir", default="./checkpoint")
    parser.add_argument("--num_train_epochs", type=float, default=4)
    parser.add_argument("--per_device_train_batch_size", default=32)
    parser.add_argument("--learning_rate", default=2e-3)
    parser.add_argument("--max_length", default=32)
    for name in ("logging_steps", "logging_dir", "seed", "resume_from_checkpoint", *ASIDE):
        parser.add_argument(f"--{name}")
    options = vars(parser.parse_args())
    deeds = [deed for deed in DEEDS if str(options[f"do_{deed}"]).lower() == "true"]
    if not deeds:
        parser.error("nothing is to be done: give --do_train, --do_eval or --do_export")
    config = {"Sentiment": options, "Global": {"device": options["device"]}}
    with tempfile.TemporaryDirectory() as home:
        os.environ.setdefault("HOME", home)
        try:
            for deed in deeds:
                DEEDS[deed](config)
        except BadConfiguration as error:
            print(f"cannot {deed}: {error}", file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
