"""Models from the command line, with everything that goes wrong there."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from tests.kubernetes.waiting import until
from tests.scenarios.pdc_home import PdcHome

from paddlecloud.api.meta import Key
from paddlecloud.api.model import ModelVersion

CODE = Path(__file__).parent.parent.parent / "suites" / "serving" / "code"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model of ONNX: there is nothing to convert, so that a push takes a second."""
    return Path(shutil.copytree(CODE / "lac_model", tmp_path / "model"))


def test_a_push_again_is_the_version_it_was(cluster: PdcHome, folder: Path, name: str) -> None:
    assert f"{name}-1 is Ready" in cluster.ok("model", "push", str(folder), "--name", name, "--metric", "f=1")
    assert f"{name}-1 is Ready" in cluster.ok("model", "push", str(folder), "--name", name)
    said = json.loads(cluster.ok("model", "show", name, "-o", "json"))
    assert said["status"]["signature"]["inputs"] == [{"name": "words", "dtype": "int64", "shape": [-1, -1]}]
    assert [f["path"] for f in said["status"]["files"]] == [
        "model.onnx", "processor.py", "word.dic", "words.txt",
    ]  # fmt: skip


def test_two_versions_with_their_aliases(cluster: PdcHome, folder: Path, name: str, tmp_path: Path) -> None:
    cluster.ok("model", "push", str(folder), "--name", name, "--version", "one")
    (folder / "words.txt").write_text("other\n")
    cluster.ok("model", "push", str(folder), "--name", name, "--version", "two", "--alias", "next")

    assert f"{name}@latest is {name}-2, before {name}-1" in cluster.ok(
        "model", "alias", name, "latest", "two"
    )
    assert f"{name}@latest is {name}-1" in cluster.ok("model", "rollback", name, "latest", "--why", "worse")
    history = cluster.ok("model", "history", name).splitlines()
    assert [re.split(r"  +", line)[1:3] for line in history[1:]] == [
        ["-", f"{name}-1"], [f"{name}-1", f"{name}-2"], [f"{name}-2", f"{name}-1"],
    ]  # fmt: skip
    assert history[-1].endswith("worse")

    diff = json.loads(cluster.ok("model", "diff", f"{name}@one", "two", "-o", "json"))
    assert [d["name"] for d in diff["differences"] if d["part"] == "file"] == ["words.txt"]
    cluster.ok("model", "pull", f"{name}@next", "-o", str(tmp_path / "out"))
    assert (tmp_path / "out" / "words.txt").read_text() == "other\n"
    refused = cluster.pdc("model", "rm", f"{name}@two")
    assert refused.code == 1 and f"{name}-2 is in use: alias next" in refused.text

    with cluster.client() as client:
        key = Key("default", f"{name}-2")
        # As kubectl deletes: nobody asks who uses it.
        client.delete(ModelVersion, key)

        def words() -> str:
            conditions = client.get(ModelVersion, *key).status.conditions
            return next((c.message for c in conditions if c.reason == "InUse"), "")

        assert "alias next" in until(words, what="who uses it")
        cluster.ok("model", "alias", name, "next", "one")
        until(lambda: client.find(ModelVersion, *key) is None, what="its end")


def test_a_ready_version_cannot_be_changed(cluster: PdcHome, folder: Path, name: str) -> None:
    cluster.ok("model", "push", str(folder), "--name", name)
    with cluster.client() as client:
        key = client.get(ModelVersion, "default", f"{name}-1").key
        for patch, words in (
            ({"spec": {"metrics": {"f": 2.0}}}, "a model version never changes"),
            ({"status": {"files": []}}, "keeps its files"),
            ({"status": {"phase": "Failed"}}, "keeps its files"),
        ):
            with pytest.raises(Exception, match=words):
                client.patch(ModelVersion, key, patch, subresource="status" if "status" in patch else "")


@pytest.mark.parametrize(
    "words, code, sentence",
    [
        (["push", "/nowhere/model", "--name", "m"], 2, "there is no folder /nowhere/model"),
        (["push", "{empty}", "--name", "m"], 2, "is empty"),
        (["push", "{folder}/..", "--name", "m"], 2, "holds no model: "),
        (["push", "{folder}", "--name", "Not_Ok"], 2, "'Not_Ok' cannot be the name of a model"),
        (["push", "{folder}", "--name", "m", "--alias", "a b"], 2, "'a b' cannot be the name of an alias"),
        (["push", "{folder}", "--name", "m", "--metric", "f1"], 2, "'f1' is no metric"),
        (["push", "{broken}", "--name", "m"], 1, "is no ONNX model"),
        (["show", "no-such-model"], 1, "there is no model no-such-model in namespace default"),
        (["alias", "no-such-model", "x", "1"], 1, "there is no model no-such-model"),
        (["history", "no-such-model", "--at", "soon"], 2, "'soon' is no time"),
        (["rm", "no-such-model"], 2, "a version is named NAME@VERSION"),
    ],
)
def test_what_makes_no_sense_is_a_sentence(
    cluster: PdcHome, folder: Path, tmp_path: Path, words: list[str], code: int, sentence: str
) -> None:
    for made in ("empty", "broken"):
        (tmp_path / made).mkdir()
    (tmp_path / "broken" / "model.onnx").write_bytes(b"\xff\xff")
    places = {"folder": folder, "empty": tmp_path / "empty", "broken": tmp_path / "broken"}
    said = cluster.pdc("model", *(word.format(**places) for word in words))

    assert (said.code, sentence in said.text, "Traceback" in said.text) == (code, True, False), said.text


def test_names_that_are_taken_or_unknown(cluster: PdcHome, folder: Path, name: str) -> None:
    cluster.ok("model", "push", str(folder), "--name", name, "--version", "one")
    (folder / "words.txt").write_text("other\n")

    taken = cluster.pdc("model", "push", str(folder), "--name", name, "--version", "one")
    assert taken.code == 1 and f"version one of model {name} exists with other files: {name}-1" in taken.text
    unknown = cluster.pdc("model", "alias", name, "production", "seven")
    assert (
        unknown.code == 1
        and f"has no alias and no version seven; aliases: latest; versions: {name}-1" in (unknown.text)
    )
    nothing = cluster.pdc("model", "rollback", name, "latest")
    assert nothing.code == 1 and "there is nothing to go back to" in nothing.text


@pytest.fixture
def slow(folder: Path) -> Iterator[Path]:
    """So large that a push of it can be caught in the middle."""
    with (folder / "large.bin").open("wb") as file:
        for _ in range(300):
            file.write(os.urandom(1 << 20))
    yield folder
    (folder / "large.bin").unlink()


def test_a_push_that_is_killed_leaves_no_version_and_goes_on(cluster: PdcHome, slow: Path, name: str) -> None:
    command = cluster.command("model", "push", str(slow), "--name", name)
    parts = cluster.home.objects / "models" / "default" / "tmp"
    for _ in range(2):
        before = {p.name for p in parts.glob("*")}
        push = subprocess.Popen(
            command, env=cluster.environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        until(partial(large_part, parts, before), what="a file on its way")
        push.send_signal(signal.SIGKILL)
        push.communicate()
    with cluster.client() as client:
        assert [v for v in client.list(ModelVersion, "default").items if v.spec.model == name] == []

    assert f"{name}-1 is Ready" in cluster.ok("model", "push", str(slow), "--name", name)
    with cluster.client() as client:
        version = client.get(ModelVersion, "default", f"{name}-1")
    assert {f.path for f in version.status.files} >= {"large.bin", "model.onnx"}


def large_part(folder: Path, before: set[str]) -> bool:
    new = [p for p in folder.glob("*") if p.name not in before]
    return any(p.stat().st_size > 1 << 20 for p in new)
