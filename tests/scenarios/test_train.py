"""`pdc train` on a running cluster: from a script to its end."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from tests.scenarios.pdc_home import PdcHome

SCRIPT = """
import os, sys
import beside
rank, size = os.environ["PADDLE_TRAINER_ID"], os.environ["PADDLE_TRAINERS_NUM"]
print("rank", rank, "of", size, sys.argv[1:], beside.WORD)
for step in range(1, 4):
    print(f"epoch 1/1 step {step}/3 loss {1 / step:.3f}", flush=True)
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    (tmp_path / "beside.py").write_text("WORD = 'beside'")
    path = tmp_path / "fit.py"
    path.write_text(SCRIPT)
    return path


def words(script: Path, name: str) -> list[str]:
    beside = str(script.with_name("beside.py"))
    return ["train", str(script), "--name", name, "--image", "python", "--file", beside, "--workers", "2"]


def test_a_script_is_followed_to_its_end(cluster: PdcHome, name: str, script: Path) -> None:
    said = cluster.ok(*words(script, name), "--env", "A=b", "--follow", "--", "--lr", "0.1")

    assert f"paddlejob/{name} created" in said and "[worker-0] rank 0 of 2 ['--lr', '0.1'] beside" in said
    assert "[worker-1] rank 1 of 2" in said and said.count("[worker-1] epoch 1/1 step 3/3") == 1
    assert "100%  epoch 1 of 1  3/3 steps  loss 0.3330" in said
    assert f"job {name} is Completed" in said
    # The code goes with the job.
    cluster.ok("delete", "job", name)
    assert "gone" in cluster.ok("wait", f"configmap/{name}-code", "--for", "delete", "--timeout", "60")
    assert cluster.pdc("wait", f"configmap/{name}-code", "--for", "Ready").code == 1


def test_a_script_that_fails_says_why(cluster: PdcHome, name: str, tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("raise SystemExit('the learning rate is a word')")
    said = cluster.pdc("train", str(broken), "--name", name, "--image", "python", "--follow")

    assert (
        said.code == 1 and "the learning rate is a word" in said.text and f"pdc why job/{name}" in said.text
    )


def test_who_does_not_want_to_wait_any_longer_says_so_and_the_job_goes_on(
    cluster: PdcHome, name: str, tmp_path: Path
) -> None:
    slow = tmp_path / "slow.py"
    slow.write_text("import time; print('begun', flush=True); time.sleep(600)")
    words = ("train", str(slow), "--name", name, "--image", "python", "--follow")
    late = cluster.pdc(*words, "--timeout", "3")
    assert late.code == 4 and f"job {name} has not ended after 3 s; it goes on" in late.text
    with cluster.running(*words[:3], f"{name}-b", *words[4:]) as following:
        following.until_said("begun")
        following.interrupt()
        said = following.ended()
    assert said.code == 130 and f"end it with `pdc delete job {name}-b`" in said.text
    cluster.ok("delete", "job", name, f"{name}-b")


@pytest.mark.parametrize(
    "form, beginning", [("yaml", "apiVersion: v1"), ("json", "{"), ("name", "configmap/")]
)
def test_what_it_would_make_is_printed_in_every_form(
    home: PdcHome, script: Path, form: str, beginning: str
) -> None:
    """Without a cluster: nothing is asked."""
    assert home.ok(*words(script, "j"), "--dry-run", "-o", form).startswith(beginning)


def test_what_it_would_make_can_be_applied(cluster: PdcHome, name: str, script: Path) -> None:
    printed = cluster.ok(*words(script, name), "--dry-run")
    assert [body["kind"] for body in yaml.safe_load_all(printed)] == ["ConfigMap", "PaddleJob"]
    cluster.ok("apply", "-f", "-", stdin=printed)
    cluster.ok("wait", f"job/{name}", "--for", "Completed", "--timeout", "120")


def test_a_name_that_is_taken_leaves_everything_as_it_is(cluster: PdcHome, name: str, script: Path) -> None:
    cluster.ok(*words(script, name))
    again = cluster.pdc(*words(script, name))

    assert again.code == 1 and "already exists" in again.text
    cluster.ok("wait", f"job/{name}", "--for", "Completed", "--timeout", "120")
