"""The packages of templates, loaded by unmodified kfp: they are to run where it runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from tests.pipelines.environment import HERE, run

from paddlecloud.pipelines.templates.pipeline import pipeline_of


@pytest.mark.parametrize(
    "name, given", [("text-detection", {}), ("ranking", {"data": "s3://b", "serve": False})]
)
def test_kfp_loads_the_package_of_a_template(name: str, given: dict[str, object], tmp_path: Path) -> None:
    pipeline = pipeline_of(name, {**given, "epochs": 3})
    (tmp_path / "package.yaml").write_text(yaml.safe_dump(pipeline.spec))

    done = run(2, HERE / "programs" / "load_package.py", str(tmp_path / "package.yaml"), home=tmp_path)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["name"] == name and said["inputs"]["epochs"] == ["Integer", 3]
    assert set(said["inputs"]) == set(pipeline.graph.parameters)
