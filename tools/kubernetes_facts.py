"""Writes `src/paddlecloud/embedded/server/facts/`: what Kubernetes' own sources say about its built-in kinds.

Facts only: names, types, keys and numbers, no sentence of a description. The sources are Go modules whose
versions follow from the one that `tests/kubernetes/hyperkube/go.mod` pins, so that the embedded server and
the one the contracts compare it with are of one version.

    make facts        needs Go (for the modules) and, from the package index, the compiler of protobuf
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from go_types import GoTypes, short

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "src" / "paddlecloud" / "embedded" / "server" / "facts"
GROUPS = {
    "": "v1", "apps": "v1", "batch": "v1", "autoscaling": "v1 v2", "networking.k8s.io": "v1",
    "rbac.authorization.k8s.io": "v1", "policy": "v1", "storage.k8s.io": "v1", "scheduling.k8s.io": "v1",
    "coordination.k8s.io": "v1", "discovery.k8s.io": "v1", "events.k8s.io": "v1",
    "apiextensions.k8s.io": "v1", "apiregistration.k8s.io": "v1", "authentication.k8s.io": "v1",
    "authorization.k8s.io": "v1", "certificates.k8s.io": "v1", "admissionregistration.k8s.io": "v1",
    "node.k8s.io": "v1",
}  # fmt: skip
MODULES = ("api", "apimachinery", "apiextensions-apiserver", "kube-aggregator", "metrics")
# Beside the packages of the groups, whose types are found under these.
PACKAGES = (
    "apimachinery/pkg/apis/meta/v1",
    "apimachinery/pkg/api/resource",
    "apimachinery/pkg/runtime",
    "apimachinery/pkg/util/intstr",
    "apimachinery/pkg/types",
)
ELSEWHERE = {
    "apiextensions.k8s.io": "apiextensions-apiserver/pkg/apis/apiextensions",
    "apiregistration.k8s.io": "kube-aggregator/pkg/apis/apiregistration",
    "metrics.k8s.io": "metrics/pkg/apis/metrics",
}
OPTIONS = ("meta/v1.DeleteOptions", "meta/v1.Status")
# Marked in the sources, and yet not told by a server.
UNTOLD = (("admissionregistration", "scope"),)
KEPT = (
    "type", "format", "required", "enum", "default", "items", "properties", "additionalProperties",
    "allOf", "oneOf", "$ref", "nullable", "uniqueItems",
)  # fmt: skip


def main() -> int:
    version = pinned()
    modules = {name: module(f"k8s.io/{name}", version.replace("v1.", "v0.", 1)) for name in MODULES}
    api = module("k8s.io/kubernetes", version) / "api"
    documents = {gv: schemas(api, *gv) for gv in group_versions()}
    resources = [r for gv in group_versions() for r in served(api, *gv)]
    go = GoTypes()
    for package in packages():
        go.read(f"k8s.io/{package}", modules[package.split("/")[0]] / package.partition("/")[2])
    for document in documents.values():
        for name, schema in document.items():
            add_choices(schema, go, name)
    structs, named = go.closure([*OPTIONS, *types_of(resources), *metrics(go)])
    definitions = {name: text(schema) for document in documents.values() for name, schema in document.items()}
    facts = {
        "kubernetes": version,
        "resources": resources,
        "documents": {"/".join(filter(None, gv)): sorted(found) for gv, found in documents.items()},
        "definitions": dict(sorted(definitions.items())),
        "structs": {name: "\n".join(lines) for name, lines in structs.items()},
        "named": named,
    }
    facts["digest"] = hashlib.sha256(text(facts).encode()).hexdigest()
    write("kubernetes-1.33.json.gz", text(facts).encode())
    write("kubernetes-1.33.protoset.gz", descriptors(modules))
    print(f"{len(resources)} resources, {len(definitions)} definitions, {len(structs)} structs of {version}")
    return 0


def pinned() -> str:
    go_mod = (ROOT / "tests" / "kubernetes" / "hyperkube" / "go.mod").read_text()
    found = re.search(r"^\s*k8s\.io/kubernetes (v\S+)$", go_mod, re.M)
    if not found:
        sys.exit("tests/kubernetes/hyperkube/go.mod does not pin k8s.io/kubernetes")
    return found[1]


def module(name: str, version: str) -> Path:
    """The folder of a Go module, fetched if need be."""
    done = subprocess.run(
        ["go", "mod", "download", "-json", f"{name}@{version}"], capture_output=True, text=True, check=True
    )
    return Path(json.loads(done.stdout)["Dir"])


def group_versions() -> list[tuple[str, str]]:
    return [(group, version) for group, versions in GROUPS.items() for version in versions.split()]


def package_of(group: str, version: str) -> str:
    """Where the Go types of a group and version are, below k8s.io."""
    return f"{ELSEWHERE.get(group) or 'api/' + (group or 'core').split('.')[0]}/{version}"


def packages() -> list[str]:
    groups = [*group_versions(), ("metrics.k8s.io", "v1beta1")]
    return [*(package_of(*gv) for gv in groups), *PACKAGES]


def schemas(api: Path, group: str, version: str) -> dict[str, Any]:
    name = f"apis__{group}__{version}" if group else f"api__{version}"
    document = json.loads((api / "openapi-spec" / "v3" / f"{name}_openapi.json").read_text())
    return {name: facts_of(schema) for name, schema in document["components"]["schemas"].items()}


def facts_of(schema: Any) -> Any:
    """A schema without its sentences."""
    if not isinstance(schema, dict):
        return schema
    kept: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "properties":
            kept[key] = {name: facts_of(inner) for name, inner in value.items()}
        elif key in ("items", "additionalProperties"):
            kept[key] = facts_of(value)
        elif key in ("allOf", "oneOf"):
            kept[key] = [facts_of(inner) for inner in value]
        elif key in KEPT or key.startswith("x-kubernetes-"):
            kept[key] = value
    return kept


def add_choices(schema: dict[str, Any], go: GoTypes, name: str) -> None:
    """What the published schemas lack and a server tells: the values that a field may have."""
    package, version, kind = name.split(".")[-3:]
    for field, around, values in go.chosen(f"{package}/{version}.{kind}"):
        if (package, field) not in UNTOLD:
            said = schema["properties"][field]
            inner = {"": "", "[]": "items"}.get(around, "additionalProperties")
            (said[inner] if inner else said)["enum"] = values


def served(api: Path, group: str, version: str) -> list[dict[str, Any]]:
    """The resources of a group and version, as discovery tells of them."""
    if not group:
        listed = json.loads((api / "discovery" / "api__v1.json").read_text())["resources"]
    else:
        listed = json.loads((api / "discovery" / f"apis__{group}__{version}.json").read_text())["resources"]
    found = []
    for entry in (r for r in listed if "/" not in r["name"]):
        plural = entry["name"]
        found.append(
            {
                "group": group,
                "version": version,
                "kind": entry["kind"],
                "plural": plural,
                "singular": entry["singularName"],
                "namespaced": entry["namespaced"],
                "short": entry.get("shortNames", []),
                "categories": entry.get("categories", []),
                "verbs": entry["verbs"],
                "type": f"{short(package_of(group, version))}.{entry['kind']}",
                "schema": schema_name(group, version, entry["kind"]),
                "subresources": [
                    {
                        "name": r["name"].partition("/")[2],
                        "group": r.get("group", ""),
                        "version": r.get("version", ""),
                        "kind": r["kind"],
                        "verbs": r["verbs"],
                    }
                    for r in listed
                    if r["name"].startswith(f"{plural}/")
                ],
            }
        )
    return found


def schema_name(group: str, version: str, kind: str) -> str:
    return f"io.k8s.{package_of(group, version).replace('/', '.')}.{kind}"


def types_of(resources: list[dict[str, Any]]) -> list[str]:
    found = [r["type"] for r in resources]
    for resource, sub in ((r, s) for r in resources for s in r["subresources"]):
        owner = sub if sub["group"] else resource
        found.append(f"{short(package_of(owner['group'], owner['version']))}.{sub['kind']}")
    return found


def metrics(go: GoTypes) -> list[str]:
    return [name for name in go.structs if name.startswith("metrics/")]


def descriptors(modules: dict[str, Path]) -> bytes:
    """All messages as protobuf's compiler describes them."""
    with tempfile.TemporaryDirectory() as folder:
        sources, made = Path(folder) / "sources", Path(folder) / "set"
        (sources / "k8s.io").mkdir(parents=True)
        for name, path in modules.items():
            (sources / "k8s.io" / name).symlink_to(path)
        files = [f"k8s.io/{p}/generated.proto" for p in packages()]
        files = [f for f in files if (sources / f).is_file()]
        subprocess.run([sys.executable, "-m", "uv", "venv", "-q", f"{folder}/venv"], check=True)
        python = f"{folder}/venv/bin/python"
        install = ["uv", "pip", "install", "-q", "-p", python, "grpcio-tools"]
        subprocess.run([sys.executable, "-m", *install], check=True)
        compiler = [python, "-m", "grpc_tools.protoc", f"-I{sources}", "--include_imports"]
        # It warns of every import it finds unused; what stops it is in the error.
        command = [*compiler, f"--descriptor_set_out={made}", *files]
        subprocess.run(command, check=True, stderr=subprocess.PIPE)
        return made.read_bytes()


def text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def write(name: str, content: bytes) -> None:
    (FOLDER / name).write_bytes(gzip.compress(content, 9, mtime=0))


if __name__ == "__main__":
    sys.exit(main())
