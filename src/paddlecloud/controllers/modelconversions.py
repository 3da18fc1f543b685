"""Other formats of a version that is Ready: asked for by annotation, made by a Job, recorded by a report.

    checkpoint ─▶ paddle ─▶ serving, onnx          convert.hub.paddlepaddle.org/FORMAT: "" on the ModelVersion

The version itself stays what it is: the files of a conversion are listed with it in `status.conversions`, and
one that was recorded, also as impossible, is not tried again. Pure.
"""

from __future__ import annotations

import json
from typing import Any

from ..api.batch import Job
from ..api.core import ConfigMap
from ..api.meta import Metadata
from ..api.model import Conversion, ModelVersion, ModelVersionStatus
from .contract import Snapshot
from .hub import store_keys, store_volume
from .modelpods import CONVERTER, LABEL, REPORT, UPLOADER

ASKED = "convert.hub.paddlepaddle.org/"
PLACE = "/conversion"
"""Where the steps of a Job find the files of the one before."""
WAYS: dict[tuple[str, str], tuple[str, ...]] = {
    ("paddle", "onnx"): ("onnx",),
    ("paddle", "serving"): ("serving",),
    ("checkpoint", "paddle"): ("paddle",),
    ("checkpoint", "onnx"): ("paddle", "onnx"),
    ("checkpoint", "serving"): ("paddle", "serving"),
}
"""From a format to another: the steps in between."""
SAME = "the same program and parameters in Paddle Serving's layout"


def asked(version: ModelVersion) -> list[str]:
    """The formats that are asked for and not recorded yet."""
    known = {c.format for c in version.status.conversions}
    wishes = (k.removeprefix(ASKED) for k in version.metadata.annotations if k.startswith(ASKED))
    return sorted(form for form in wishes if form not in known)


def recorded(version: ModelVersion, seen: Snapshot) -> list[Conversion]:
    """What is known now of the formats that were asked for."""
    jobs, reports = seen.owned(Job), seen.owned(ConfigMap)
    found: list[Conversion] = []
    for form in asked(version):
        name = conversion_name(version, form)
        job, report = jobs.get(name), reports.get(name)
        if (version.spec.format, form) not in WAYS:
            found.append(
                Conversion(format=form, message=f"there is no way from {version.spec.format} to {form}")
            )
        elif report and REPORT in report.data:
            found.append(told(form, report.data[REPORT]))
        elif job and job.holds("Failed"):
            found.append(Conversion(format=form, message=f"job/{name} failed; its log says why"))
    return found


def told(form: str, report: str) -> Conversion:
    try:
        body = json.loads(report)
        said = next((c for c in body.get("conversions") or () if c.get("format") == form), None)
        read = ModelVersionStatus.model_validate({"files": body.get("files") or []})
        about = Conversion.model_validate(said or {"format": form, "exact": True, "message": SAME})
    except (ValueError, AttributeError) as error:
        return Conversion(format=form, message=f"its report cannot be read: {str(error).splitlines()[0]}")
    return about.but(files=read.files)


def wanted(version: ModelVersion, new: list[Conversion], seen: Snapshot) -> tuple[Job | ConfigMap, ...]:
    """Jobs at work with their reports, and those that failed, for their logs."""
    done = {conversion_name(version, c.format) for c in new}
    kept = tuple(j for j in seen.owned(Job).values() if j.holds("Failed"))
    names = {job.name for job in kept}
    return kept + tuple(
        made
        for form in asked(version)
        if (name := conversion_name(version, form)) not in done | names
        for made in (report_of(version, name), make_job(version, form, name))
    )


def conversion_name(version: ModelVersion, form: str) -> str:
    return f"{version.name}-to-{form}"


def report_of(version: ModelVersion, name: str) -> ConfigMap:
    """Made empty by us, so that it is ours; the Job fills it in."""
    return ConfigMap(metadata=Metadata(name=name, namespace=version.namespace, labels={LABEL: version.name}))


def make_job(version: ModelVersion, form: str, name: str) -> Job:
    store = version.status.storage
    volumes, mounts = store_volume(store, read_only=False)
    work = {"name": "conversion", "mountPath": PLACE}
    reaching: dict[str, Any] = {"image": UPLOADER, "volumeMounts": [work, *mounts]}
    if keys := store_keys(store):
        reaching["env"] = keys
    fetch = ["python", "-m", "paddlecloud.models.fetch", "--store", store, "--model", version.spec.model,
             "--version", version.name, "--to", f"{PLACE}/source"]  # fmt: skip
    upload = [
        "python", "-m", "paddlecloud.pipelines.components.upload", "--source", f"{PLACE}/{form}",
        "--converted", f"{PLACE}/{form}", "--store", store, "--model", version.spec.model,
        "--version", f"{version.name}.{form}", "--report", f"configmap:{version.namespace}/{name}",
    ]  # fmt: skip
    steps, before = [], f"{PLACE}/source"
    for step in WAYS[version.spec.format, form]:
        steps.append({"name": f"to-{step}", "volumeMounts": [work], **program(step, before)})
        before = f"{PLACE}/{step}"
    template = {
        "metadata": {"labels": {LABEL: version.name}},
        "spec": {
            "restartPolicy": "Never",
            "initContainers": [{"name": "fetch", "command": fetch, **reaching}, *steps],
            "containers": [{"name": "upload", "command": upload, **reaching}],
            "volumes": [{"name": "conversion", "emptyDir": {}}, *volumes],
        },
    }
    labels = {LABEL: version.name}
    return Job(
        metadata=Metadata(name=name, namespace=version.namespace, labels=labels),
        spec={"backoffLimit": 1, "template": template},
    )


def program(step: str, source: str) -> dict[str, Any]:
    folder = f"{PLACE}/{step}"
    if step == "serving":
        # Of the conversion that Paddle Serving's users know; it needs no Paddle.
        places = [
            "--serving_server",
            f"{folder}/serving_server",
            "--serving_client",
            f"{folder}/serving_client",
        ]
        command = ["python", "-m", "paddlecloud.serving.convert", "--dirname", source, *places]
        return {"image": UPLOADER, "command": command}
    script = "convert.py" if step == "onnx" else "export.py"
    return {"image": CONVERTER, "command": ["python", script, "--model", source, "--output", folder]}
