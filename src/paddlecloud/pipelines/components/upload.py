"""Upload an exported model to the hub's store and report the manifest.

    python -m paddlecloud.pipelines.components.upload --source DIR --converted DIR --store URI
        --model NAME --version NAME --report PATH|configmap:NAMESPACE/NAME

The report comes after the last file: who finds it finds a complete version in the store.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from ...api.core import ConfigMap
from ...api.meta import Metadata
from ...api.model import Signature
from ...cluster.kubeconfig import in_pod
from ...errors import Failed, PaddleCloudError, WrongUse
from ...models.manifest import Manifest
from ...models.opening import store_at
from ...models.upload import Step, Upload, upload
from ...sdk.client import Client
from ...sdk.modelformats import described

Report = Callable[[Manifest], None]
SECONDS_BETWEEN_LINES = 1.0


def main(arguments: list[str] | None = None) -> int:
    options = parsed(arguments)
    try:
        report = report_to(options.report)
        what = Upload(
            options.model, options.version, options.source, options.converted, signature_in(options.source)
        )
        manifest = upload(what, store_at(options.store), Lines(time.monotonic))
        report(manifest)
    except PaddleCloudError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print(
        f"version {manifest.version} of {manifest.model}: {len(manifest.files)} files, {manifest.size} bytes"
    )
    return 0


def signature_in(folder: Path) -> Signature | None:
    """Files are kept whatever they are; what cannot be read of them is told and left out."""
    try:
        return described(folder).signature
    except Failed as error:
        print(f"the signature is not known: {error}", file=sys.stderr)
        return None


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Upload an exported model to the model store.")
    parser.add_argument("--source", required=True, type=Path, help="folder of the exported model")
    parser.add_argument("--converted", type=Path, help="folder with model.onnx and conversion.json")
    parser.add_argument("--store", required=True, help="URI of the model store")
    parser.add_argument("--model", required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--report", required=True, help="a file, or configmap:NAMESPACE/NAME")
    return parser.parse_args(arguments)


class Lines:
    """Prints how far the upload is: the last step, and not more than one line a second before it."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self.printed = float("-inf")

    def __call__(self, step: Step) -> None:
        last = step.files == step.total_files
        if last or self.clock() - self.printed >= SECONDS_BETWEEN_LINES:
            print(step, flush=True)
            self.printed = self.clock()


def report_to(place: str) -> Report:
    """How to report to *place*, known before anything is uploaded. Raises `WrongUse`."""
    scheme, _, rest = place.partition(":")
    if scheme != "configmap":
        return lambda manifest: write(Path(place), manifest.encoded())
    namespace, slash, name = rest.partition("/")
    if not (namespace and slash and name):
        raise WrongUse(f"{place!r} names no ConfigMap", next_step="write configmap:NAMESPACE/NAME")
    return lambda manifest: write_config_map(namespace, name, manifest.encoded().decode())


def write_config_map(namespace: str, name: str, content: str) -> None:
    """The cluster is that of the pod; a report of an earlier attempt is replaced."""
    report = ConfigMap(metadata=Metadata(name=name, namespace=namespace), data={"manifest.json": content})
    with Client(in_pod(os.environ)) as client:
        client.apply(report)


def write(path: Path, content: bytes) -> None:
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        part.write_bytes(content)
        os.replace(part, path)
    except OSError as error:
        raise Failed(f"the report {path} cannot be written: {error.strerror}") from error


if __name__ == "__main__":
    sys.exit(main())
