"""The columns and cells of `kubectl get` for one object of each built-in kind, exactly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.contracts.built_ins import SHOWN
from tests.kubernetes.rest import Rest

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
WANTED: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "tables.yaml").read_text())
NAME = "contract-x"


def shown(table: dict[str, Any], uid: str, name: str) -> dict[str, Any]:
    """The columns as `name type format priority` and the cells, without what differs from run to run."""
    columns = [
        " ".join(filter(None, (c["name"], c["type"], c["format"], str(c["priority"]))))
        for c in table["columnDefinitions"]
    ]
    [row] = table["rows"]
    cells = []
    for column, cell in zip(table["columnDefinitions"], row["cells"], strict=True):
        if column["name"] in ("Age", "Created At"):
            cell = type(cell).__name__
        elif column["name"] == "Cluster-IP" and cell not in ("None", "<none>"):
            cell = "address"
        cells.append(cell.replace(uid, "UID").replace(name, NAME) if isinstance(cell, str) else cell)
    return {"columns": columns, "cells": cells}


def made(rest: Rest, namespace: str, key: str) -> dict[str, Any]:
    """The table of a new object of that manifest, which is gone again."""
    manifest = SHOWN[key]
    # Objects without a namespace may take a while to go: no two tests use one name.
    name = f"{namespace}-x"
    metadata = {"name": name, **manifest.body.get("metadata", {})}
    body = {**manifest.body, "metadata": metadata}
    if "involvedObject" in body:
        body["involvedObject"] = {**body["involvedObject"], "namespace": namespace}
    path = f"{manifest.path(namespace)}/{name}"
    uid = rest.post(manifest.path(namespace), body).expect(201)["metadata"]["uid"]
    try:
        return shown(rest.get_as(TABLE, path).expect(200), uid, name)
    finally:
        rest.delete(path, {"gracePeriodSeconds": 0})


@pytest.mark.parametrize("key", SHOWN)
def test_an_object_is_shown_in_the_columns_of_its_kind(rest: Rest, namespace: str, key: str) -> None:
    assert made(rest, namespace, key) == WANTED[key]
