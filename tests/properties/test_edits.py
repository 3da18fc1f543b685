"""Every field of a spec, changed and changed back: the object is as a fresh one, or the edit was refused."""

from __future__ import annotations

import asyncio

import pytest
import uvloop
from tests.properties.edited import Editable, faults_of_edit
from tests.properties.edits import edits, fields
from tests.properties.scenarios import EDITABLE

from paddlecloud.cluster.client import Client
from paddlecloud.cluster.kubeconfig import Access

CASES = [
    pytest.param(editable, field, id=f"{editable.scenario.name}: {field}")
    for editable in EDITABLE
    for field in fields(editable.kind, editable.spec)
    if any(f"{field}.".startswith(f"{name}.") for name in editable.only)
]


@pytest.mark.parametrize("editable, field", CASES)
def test_an_edit_leads_where_a_fresh_object_would_be_or_is_refused(
    access: Access, editable: Editable, field: str
) -> None:
    async def faults() -> list[str]:
        tried = [e for e in edits(editable.kind, editable.spec, editable.samples) if e.field == field]
        async with Client(access) as client:
            found = await asyncio.gather(*(faults_of_edit(client, editable, edit) for edit in tried))
        return [line for lines in found for line in lines]

    assert uvloop.run(faults()) == []
