"""What the components that work on files do with them: convert, pack, upload."""

from __future__ import annotations

import shutil
import tarfile
import urllib.request
from pathlib import Path

import pytest
from tests.cache.sources_of_others import KEYS, s3

from paddlecloud.errors import PaddleCloudError, WrongUse
from paddlecloud.pipelines.components.converter import COMPONENT as CONVERTER
from paddlecloud.pipelines.components.converter import convert
from paddlecloud.pipelines.components.uploader import COMPONENT as UPLOADER
from paddlecloud.pipelines.components.uploader import upload

LAYOUT = Path(__file__).parent.parent / "serving" / "weighted"
ENVIRON = {"MINIO_ACCESS_KEY": KEYS.access, "MINIO_SECRET_KEY": KEYS.secret}


@pytest.fixture
def volume(tmp_path: Path) -> Path:
    """A volume with what a training exported."""
    shutil.copytree(LAYOUT, tmp_path / "inference")
    return tmp_path


def told(volume: Path, **inputs: str) -> dict[str, str]:
    return {**CONVERTER.inputs, "mount_path": str(volume), "model_name": "weighted", **inputs}


def test_an_exported_model_becomes_what_paddle_serving_serves(volume: Path) -> None:
    (volume / "weighted").mkdir()
    (volume / "weighted" / "left-over").write_text("of another conversion")
    made = convert(told(volume))

    assert made == {"model_name": "weighted", "model_file": str(volume / "weighted.tar.gz")}
    with tarfile.open(made["model_file"]) as archive:
        assert sorted(archive.getnames()) == [
            "weighted/client/serving_client_conf.prototxt",
            "weighted/client/serving_client_conf.stream.prototxt",
            "weighted/server/model.json",
            "weighted/server/model.pdiparams",
            "weighted/server/serving_server_conf.prototxt",
            "weighted/server/serving_server_conf.stream.prototxt",
        ]
    assert sorted(p.name for p in volume.iterdir()) == ["inference", "weighted", "weighted.tar.gz"]


def test_converting_again_gives_the_same_archive(volume: Path) -> None:
    first = Path(convert(told(volume))["model_file"]).read_bytes()
    again = convert(told(volume, pdmodel="model.json", pdiparams="model.pdiparams"))
    assert Path(again["model_file"]).read_bytes() == first


@pytest.mark.parametrize(
    "wrong, said",
    [
        ({"model_name": "../etc"}, "cannot be the name of a model"),
        ({"dirname": "nowhere"}, "there is no"),
        ({"pdmodel": "other.pdmodel"}, "holds model.json, model.pdiparams"),
        ({"pdiparams": "../model.pdiparams"}, "is no name of a file"),
    ],
)
def test_what_cannot_be_converted_is_told_and_leaves_nothing(
    volume: Path, wrong: dict[str, str], said: str
) -> None:
    with pytest.raises(PaddleCloudError) as refused:
        convert(told(volume, **wrong))
    assert said in str(refused.value)
    assert [p.name for p in volume.iterdir()] == ["inference"]


def test_an_archive_is_read_by_anybody_where_the_documents_look_for_it(tmp_path: Path) -> None:
    (tmp_path / "buckets").mkdir()
    file = tmp_path / "weighted.tar.gz"
    file.write_bytes(b"archive")
    with s3(tmp_path, tmp_path / "buckets") as host:
        given = {"endpoint": f"http://{host}", "model_file": str(file), "model_name": "weighted"}
        url = upload({**UPLOADER.inputs, **given}, ENVIRON)["url"]
        assert url == f"http://{host}/model-center/weighted/latest/weighted.tar.gz"
        with urllib.request.urlopen(url, timeout=30) as answer:
            assert answer.read() == b"archive"


@pytest.mark.parametrize(
    "wrong, environ, said",
    [
        ({"model_file": "/nowhere/m.tar.gz"}, ENVIRON, "there is no file /nowhere/m.tar.gz"),
        ({}, {"MINIO_ACCESS_KEY": "a"}, "the step has no MINIO_SECRET_KEY"),
        ({"version": "../1"}, ENVIRON, "cannot name a model or a version"),
    ],
)
def test_what_cannot_be_uploaded_is_told(
    tmp_path: Path, wrong: dict[str, str], environ: dict[str, str], said: str
) -> None:
    (tmp_path / "m.tar.gz").touch()
    given = {**UPLOADER.inputs, "model_file": str(tmp_path / "m.tar.gz"), "model_name": "m", **wrong}
    with pytest.raises(WrongUse) as refused:
        upload(given, environ)
    assert said in str(refused.value)
