"""Models with a processor of their own: pictures in, labels out, as the requirement documents print it."""

import http.server
import json
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.serving.modelservers import PATIENCE, ask, models, serving, start
from tests.serving.pictures import picture, png

PROCESSOR = """
from paddlecloud.serving.processing.labels import likeliest, read_labels
from paddlecloud.serving.processing.pictures import Pictures
import numpy as np

class Processor:
    def __init__(self, folder):
        self.labels = read_labels(folder / "labels.txt")
        self.pictures = Pictures(side=8, resized=8)

    def before(self, feed):
        read = self.pictures.array
        return {"x": np.stack([read(e["image"], f'"feed"[{n}].image') for n, e in enumerate(feed)])}

    def after(self, arrays, feed):
        if feed[0].get("fail"):
            raise RuntimeError("told to fail")
        return {"isCanary": ["true"], **likeliest(arrays["mean"], self.labels)}
"""


class Site(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        away = self.path == "/away"
        self.send_response(302 if away else 200)
        if away:
            self.send_header("Location", "http://169.254.0.1/inner")
        self.end_headers()
        if not away:
            self.wfile.write(png(lambda x, y: (0, 0, 255)))

    def log_message(self, *_: Any) -> None: ...


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="module")
def address(site: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("colours")
    shutil.copy(models() / "colours" / "model.onnx", folder)
    (folder / "labels.txt").write_text("rose, red\nleaf, green\nsky, blue\n")
    (folder / "processor.py").write_text(PROCESSOR)
    with serving("--model", f"colours={folder}", environ={"PADDLECLOUD_IMAGE_HOSTS": site}) as at:
        yield at


def predict(address: str, feed: Any) -> tuple[int, Any]:
    status, answer = ask(f"{address}/image/prediction", {"feed": feed, "fetch": ["score"]})
    return status, json.loads(answer)


def encoded(*colour: int) -> str:
    red, green, blue = colour
    return picture(lambda x, y: (red, green, blue))


def test_pictures_become_labels_in_the_printed_form(address: str) -> None:
    status, answer = predict(
        address, [{"image": encoded(255, 0, 0)}, {"image": f"data:image/png;base64,{encoded(0, 255, 0)}"}]
    )
    assert status == 200 and list(answer["result"]) == ["isCanary", "label", "prob"]
    assert answer["result"]["isCanary"] == ["true"] and answer["result"]["label"] == ["rose", "leaf"]


def test_the_pipeline_form_reaches_the_processor_too(address: str) -> None:
    body = {"key": ["image"], "value": [encoded(0, 0, 255)]}
    answer = json.loads(ask(f"{address}/yolov3/prediction", body)[1])
    assert answer["err_no"] == 0 and answer["value"][1] == "['sky']"


def test_a_picture_is_fetched_from_an_allowed_host(address: str, site: str) -> None:
    assert predict(address, [{"image": f"http://{site}/daisy.png"}])[1]["result"]["label"] == ["sky"]


@pytest.mark.parametrize(
    "image, told",
    [
        ("http://169.254.0.1/inner", "not fetched from 169.254.0.1"),
        ("http://SITE/away", "not fetched from 169.254.0.1"),
        ("http://user@SITE/x", "only plain http"),
        ("!!!", "neither base64 nor a URL"),
        ("aGVsbG8=", "no picture that can be read"),
        (7, "must be a picture"),
    ],
)
def test_what_is_no_picture_is_refused_by_its_field(address: str, site: str, image: Any, told: str) -> None:
    value = image.replace("SITE", site) if isinstance(image, str) else image
    status, answer = predict(address, [{"image": value}])
    assert status == 400 and '"feed"[0].image' in answer["error"] and told in answer["error"]


def test_what_a_processor_misses_is_the_clients_fault_and_what_it_breaks_is_not(address: str) -> None:
    status, answer = predict(address, [{"picture": ""}])
    assert status == 400 and "lacks 'image'" in answer["error"]
    status, answer = predict(address, [{"image": encoded(1, 2, 3), "fail": True}])
    assert status == 500 and "after() of processor.py failed: RuntimeError: told to fail" in answer["error"]


@pytest.mark.parametrize(
    "text, told", [("class Other: ...", "Processor"), ("import nothing_of_the_kind", "nothing_of")]
)
def test_a_processor_that_cannot_be_used_ends_the_server(tmp_path: Path, text: str, told: str) -> None:
    shutil.copy(models() / "colours" / "model.onnx", tmp_path)
    (tmp_path / "processor.py").write_text(text)
    process = start("--model", f"colours={tmp_path}")
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1 and told in err and "Traceback" not in err
