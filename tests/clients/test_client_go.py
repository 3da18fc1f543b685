"""client-go's shared informer, unmodified: the way every Go controller sees a cluster."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.contracts.objects import core
from tests.kubernetes import build
from tests.kubernetes.processes import running
from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until
from tests.servers import Server

# A streamed list is what client-go asks for by default from 0.35 on; a server may send it back to list+watch.
WAYS = {"list and watch": "false", "streamed list": "true"}


@pytest.mark.kubectl
@pytest.mark.parametrize("way", WAYS)
def test_an_informer_follows_what_happens(
    server: Server, rest: Rest, namespace: str, tmp_path: Path, way: str
) -> None:
    binaries = build.built()
    if binaries is None:
        pytest.skip("Kubernetes has not been built here: make test-kubernetes")
    environ = {
        **os.environ,
        "KUBECONFIG": str(server.kubeconfig),
        "KUBE_FEATURE_WatchListClient": WAYS[way],
        "HOME": str(tmp_path),
    }
    path = core(namespace, "configmaps", "first")
    with running(binaries / "informer", [namespace, "first"], tmp_path / "informer", environ) as informer:

        def said(line: str) -> bool:
            informer.check()
            return line in informer.log.read_text().splitlines()

        until(lambda: said("added first v"), what="the object that was there")
        until(lambda: any(x.startswith("synced") for x in informer.log.read_text().splitlines()), what="sync")
        rest.merge(path, {"data": {"k": "w"}}).expect(200)
        until(lambda: said("updated first w"), what="the change")
        rest.delete(path).expect(200)
        until(lambda: said("deleted first w"), what="the deletion")
