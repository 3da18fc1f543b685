"""A data set on a cluster as a client sees it, and the files it is made from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.contracts.objects import core, sample_set, sample_sets
from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until

Body = dict[str, Any]
VOLUMES = "/api/v1/persistentvolumes"
FILES = {"a b.txt": b"one", "n01/x.txt": b"three", "n01/y.txt": b"four", "\u6df1/\u5ea6.txt": b"two"}
SIZE = f"{sum(map(len, FILES.values()))} B"


def write_files(folder: Path) -> None:
    for name, content in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


@dataclass(frozen=True)
class Words:
    """The set `words` of a namespace."""

    rest: Rest
    namespace: str
    nodes: tuple[str, ...]
    disk: Callable[[str, str], Path]
    """Where the folder of a node is on this machine."""
    limit: float = 60.0

    def make(self, folder: Path, **spec: Any) -> None:
        body = sample_set("words", **{"source": {"uri": folder.as_uri()}, **spec})
        self.rest.post(sample_sets(self.namespace), body, fieldValidation="Strict").expect(201)

    def edit(self, **spec: Any) -> None:
        self.rest.merge(sample_sets(self.namespace, "words"), {"spec": spec}).expect(200)

    def status(self) -> Body:
        found: Body = self.rest.get(sample_sets(self.namespace, "words")).expect(200).get("status") or {}
        return found

    def waits_for(self) -> tuple[str, str]:
        told = (c for c in self.status().get("conditions") or () if c["type"] == "Progressing")
        return next(((c["reason"], c["message"]) for c in told if c["status"] == "False"), ("", ""))

    def until(self, condition: Callable[[], bool], what: str) -> None:
        try:
            until(condition, what=what, limit=self.limit)
        except TimeoutError as error:
            seen = self.rest.get(sample_sets(self.namespace, "words"))
            raise AssertionError(f"{error}: {seen.text}") from error

    def comes_to(self, phase: str, ready: str = "1/1") -> None:
        def there() -> bool:
            status = self.status()
            runtimes = (status.get("runtimeStatus") or {}).get("runtimeReady")
            return (status.get("phase"), runtimes) == (phase, ready)

        self.until(there, f"{phase} {ready}")

    def object(self, plural: str, name: str) -> Body:
        found: Body = self.rest.get(core(self.namespace, plural, name)).expect(200)
        return found

    def runtimes(self) -> Body:
        path = f"/apis/apps/v1/namespaces/{self.namespace}/statefulsets/words-runtime"
        found: Body = self.rest.get(path).expect(200)
        return found

    def volume(self) -> Body:
        found: Body = self.rest.get(f"{VOLUMES}/{self.namespace}-words").expect(200)
        return found

    def labels(self) -> dict[str, str]:
        """The runtime that each node says it has."""
        key = f"{self.namespace}.sampleset.paddlepaddle.org/words"
        nodes = (self.rest.get(f"/api/v1/nodes/{name}").expect(200) for name in self.nodes)
        told = {n["metadata"]["name"]: n["metadata"]["labels"].get(key) for n in nodes}
        return {name: runtime for name, runtime in told.items() if runtime}

    def copies(self, node: str) -> dict[str, bytes]:
        root = self.disk(node, f"/var/lib/paddlecloud/samplesets/{self.namespace}/words/data")
        return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}

    def does(self, kind: str, **options: Any) -> None:
        """A SampleJob that must succeed."""
        path = f"/apis/batch.paddlepaddle.org/v1alpha1/namespaces/{self.namespace}/samplejobs"
        body = {
            "apiVersion": "batch.paddlepaddle.org/v1alpha1",
            "kind": "SampleJob",
            "metadata": {"name": f"words-{kind}"},
            "spec": {"type": kind, "sampleSetRef": {"name": "words"}, **options},
        }
        self.rest.post(path, body, fieldValidation="Strict").expect(201)

        def ended() -> bool:
            status = self.rest.get(f"{path}/words-{kind}").expect(200).get("status") or {}
            assert status.get("phase") != "Failed", status
            return status.get("phase") == "Succeeded"

        self.until(ended, f"the end of {kind}")

    def goes(self) -> None:
        self.rest.delete(sample_sets(self.namespace, "words")).expect(200)

    def gone(self) -> bool:
        return self.rest.get(sample_sets(self.namespace, "words")).status == 404
