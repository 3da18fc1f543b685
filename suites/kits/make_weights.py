"""Makes the weights that lie in `code/weights`: trained on drawn pages, as anybody can repeat.

    python make_weights.py FOLDER

`det.pdparams` is the detector after `det_mv3_db.yml`; `det_distill.pdparams` has the same as the teacher of
`ch_PP-OCRv3_det_cml.yml`, and the two students that learnt from it. Run in the environment of the suite.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

CODE = Path(__file__).resolve().parent / "code"
sys.path.insert(0, str(CODE))


def main() -> int:
    import paddle

    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        run(
            "make_data.py",
            "icdar2015",
            str(place / "data"),
            "--train",
            "160",
            "--test",
            "40",
            "--seed",
            "2022",
        )
        train(place, "configs/det/det_mv3_db.yml", "det")
        found = paddle.load(str(place / "det" / "best_accuracy.pdparams"))
        paddle.save(found, str(folder / "det.pdparams"))
        teacher = {f"Teacher.{name}": value for name, value in found.items()}
        paddle.save(teacher, str(place / "teacher.pdparams"))
        begin = f"Global.pretrained_model={place / 'teacher'}"
        train(place, "configs/det/ch_PP-OCRv3/ch_PP-OCRv3_det_cml.yml", "cml", begin)
        paddle.save(paddle.load(str(place / "cml" / "latest.pdparams")), str(folder / "det_distill.pdparams"))
    return 0


def train(place: Path, config: str, name: str, *changes: str) -> None:
    data = place / "data"
    given = [f"{split}.dataset.data_dir={data}" for split in ("Train", "Eval")]
    given += [
        f"Train.dataset.label_file_list=[{data / 'train_icdar2015_label.txt'}]",
        f"Eval.dataset.label_file_list=[{data / 'test_icdar2015_label.txt'}]",
        f"Global.save_model_dir={place / name}",
    ]
    run("tools/train.py", "-c", config, "-o", *given, *changes)


def run(program: str, *arguments: str) -> None:
    subprocess.run([sys.executable, program, *arguments], cwd=CODE, check=True)


if __name__ == "__main__":
    sys.exit(main())
