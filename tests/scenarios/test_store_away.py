"""A service whose models' store goes away: what runs goes on answering, what starts says what it lacks."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tests.kubernetes.waiting import until
from tests.scenarios.pdc_home import PdcHome

from paddlecloud.api.core import Pod
from paddlecloud.api.meta import Key
from paddlecloud.api.model import ModelVersion

MODEL = Path(__file__).parent.parent.parent / "suites" / "serving" / "code" / "lac_model"
QUESTION = {"feed": [{"words": "我爱北京天安门"}], "fetch": ["word_seg"]}


def test_what_runs_answers_and_what_starts_waits_until_the_store_is_back(
    home: PdcHome, tmp_path: Path
) -> None:
    home.ok("up", "--detach")
    home.ok("model", "push", str(MODEL), "--name", "words")
    home.ok("serve", "words@latest", "--name", "cutter", "--min-scale", "1")
    question = tmp_path / "question.json"
    question.write_text(json.dumps(QUESTION))
    answer = home.ok("predict", "cutter", "--file", str(question))

    with home.client() as client:
        storage = client.get(ModelVersion, "default", "words-1").status.storage
        store = Path(unquote(urlsplit(storage).path))
        moved(store, tmp_path / "away")
        assert home.ok("predict", "cutter", "--file", str(question)) == answer

        [pod] = [p for p in client.list(Pod, "default").items if p.name.startswith("cutter-")]
        client.delete(Pod, Key("default", pod.name))
        lacking = f"the store {store} has no version words-1 of model words"
        until(lambda: lacking in home.pdc("serve", "logs", "cutter").text, what="what the new pod lacks")

        moved(tmp_path / "away", store)
        predict = ("predict", "cutter", "--file", str(question))
        until(lambda: home.pdc(*predict).text == answer, what="the answer of the new pod")


def moved(source: Path, target: Path) -> None:
    """All that lies in a folder: the folder itself may be a volume of a pod."""
    target.mkdir(exist_ok=True)
    for path in list(source.iterdir()):
        shutil.move(path, target / path.name)
