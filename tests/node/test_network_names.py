"""What the names of the cluster lead to, and the files that tell programs where to ask."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest
from tests.node.test_network_routing import a_service, a_slice, at

from paddlecloud.api.core import Pod, Service
from paddlecloud.embedded.node.network import dnswire, podfiles
from paddlecloud.embedded.node.network.dnswire import AAAA, ANY, CNAME, PTR, SRV, A, encode, service_record
from paddlecloud.embedded.node.network.names import lookup, world
from paddlecloud.embedded.node.network.podfiles import Resolution, hosts, resolution
from paddlecloud.embedded.node.network.standing import Standing, told

PORTS = [{"name": "web", "port": 80}]
OFFERED = [{"name": "web", "port": 8080, "protocol": "TCP"}]
SEEN = world(
    [
        a_service("s", clusterIP="127.9.0.7", ports=PORTS),
        a_service("bare", clusterIP="None", ports=PORTS),
        a_service("empty", clusterIP="None"),
        Service.read(
            {
                "metadata": {"name": "out", "namespace": "d"},
                "spec": {"type": "ExternalName", "externalName": "a.b"},
            }
        ),
    ],
    [
        a_slice(
            at("127.8.0.1") | {"hostname": "w-0"},
            at("127.8.0.2"),
            at("127.8.0.3", ready=False),
            service="bare",
            ports=OFFERED,
        )
    ],
)
NAME = "s.d.svc.cluster.local"


@pytest.mark.parametrize(
    "name, kind, expected",
    [
        (NAME, A, ["127.9.0.7"]),
        (NAME, ANY, ["127.9.0.7"]),
        (NAME, AAAA, []),
        ("bare.d.svc.cluster.local", A, ["127.8.0.1", "127.8.0.2"]),
        ("empty.d.svc.cluster.local", A, []),
        ("w-0.bare.d.svc.cluster.local", A, ["127.8.0.1"]),
        ("127-8-0-2.bare.d.svc.cluster.local", A, ["127.8.0.2"]),
        ("127-8-0-1.d.pod.cluster.local", A, ["127.8.0.1"]),
        ("d.svc.cluster.local", A, []),
        ("cluster.local", A, []),
    ],
)
def test_addresses_of_names(name: str, kind: int, expected: list[str]) -> None:
    found = lookup(name, kind, SEEN)
    assert found is not None
    assert [socket.inet_ntoa(record.data) for record in found] == expected


@pytest.mark.parametrize(
    "name",
    [
        "nobody.d.svc.cluster.local",
        "s.other.svc.cluster.local",
        "w-1.bare.d.svc.cluster.local",
        "127-8-0-3.bare.d.svc.cluster.local",
        "x.s.d.svc.cluster.local",
        "_none._tcp.s.d.svc.cluster.local",
        "example.com.d.svc.cluster.local",
        "s",
        "9.9.9.127.in-addr.arpa",
    ],
)
def test_names_that_nobody_has_do_not_exist(name: str) -> None:
    with pytest.raises(LookupError):
        lookup(name, A, SEEN)


@pytest.mark.parametrize("name", ["example.com", "notcluster.local", "1.2.0.192.in-addr.arpa"])
def test_names_of_others_are_for_others(name: str) -> None:
    assert lookup(name, A, SEEN) is None


@pytest.mark.parametrize(
    "name, kind, data",
    [
        ("_web._tcp.s.d.svc.cluster.local", SRV, [service_record(80, NAME)]),
        (
            "_web._tcp.bare.d.svc.cluster.local",
            SRV,
            [
                service_record(8080, "w-0.bare.d.svc.cluster.local"),
                service_record(8080, "127-8-0-2.bare.d.svc.cluster.local"),
            ],
        ),
        ("7.0.9.127.in-addr.arpa", PTR, [encode(NAME)]),
        ("1.0.8.127.in-addr.arpa", PTR, [encode("w-0.bare.d.svc.cluster.local")]),
        ("out.d.svc.cluster.local", CNAME, [encode("a.b")]),
        ("out.d.svc.cluster.local", A, [encode("a.b")]),
    ],
)
def test_other_records_of_names(name: str, kind: int, data: list[bytes]) -> None:
    assert [record.data for record in lookup(name, kind, SEEN) or ()] == data


def a_question(name: str, kind: int = A, tail: bytes = b"") -> bytes:
    head = dnswire.HEADER.pack(7, 0x0100, 1, 0, 0, 1 if tail else 0)
    return head + encode(name) + bytes([0, kind, 0, 1]) + tail


EDNS = b"\0" + bytes([0, 41]) + (4096).to_bytes(2, "big") + bytes(6)


def test_a_question_is_read_and_repeated_to_the_letter() -> None:
    question = dnswire.parse(a_question("S.d.SVC.cluster.local"))
    assert (question.id, question.name, question.kind, question.size) == (7, NAME, A, 512)
    reply = dnswire.response(question, dnswire.NO_ERROR)
    assert encode("S.d.SVC.cluster.local") in reply


def test_an_extended_question_gets_an_extended_answer_of_a_safe_size() -> None:
    question = dnswire.parse(a_question(NAME, tail=EDNS))
    assert (question.size, question.extended) == (1232, True)
    assert dnswire.response(question, 0)[10:12] == b"\0\1"


def test_an_answer_that_does_not_fit_is_cut_off_and_says_so() -> None:
    question = dnswire.parse(a_question(NAME))
    records = tuple(dnswire.Record(NAME, A, bytes(4)) for _ in range(100))
    cut, whole = dnswire.response(question, 0, records, 512), dnswire.response(question, 0, records)
    assert len(cut) <= 512 and cut[2] & 0x02
    assert not whole[2] & 0x02 and whole[6:8] == (100).to_bytes(2, "big")


@pytest.mark.parametrize(
    "message", [b"", b"x" * 11, a_question(NAME)[:20], b"\0\7\x81\x80" + a_question(NAME)[4:], b"\xff" * 40]
)
def test_what_is_no_question_is_malformed(message: bytes) -> None:
    with pytest.raises(dnswire.Malformed):
        dnswire.parse(message)


def a_pod(**spec: Any) -> Pod:
    return Pod.read({"metadata": {"name": "p", "namespace": "d"}, "spec": {"containers": [{}], **spec}})


DNS, MACHINE = "127.9.255.53", Resolution(("192.0.2.1",), ("corp.example",), ("timeout:1",))
OURS = ("d.svc.cluster.local", "svc.cluster.local", "cluster.local", "corp.example")
CONFIG = {
    "nameservers": ["192.0.2.9"],
    "searches": ["x.example", "cluster.local"],
    "options": [{"name": "ndots", "value": "2"}, {"name": "edns0"}],
}


@pytest.mark.parametrize(
    "spec, cluster, expected",
    [
        ({}, DNS, Resolution((DNS,), OURS, ("ndots:5",))),
        ({}, "", MACHINE),
        ({"dnsPolicy": "Default"}, DNS, MACHINE),
        ({"hostNetwork": True}, DNS, MACHINE),
        (
            {"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet"},
            DNS,
            Resolution((DNS,), OURS, ("ndots:5",)),
        ),
        (
            {"dnsPolicy": "None", "dnsConfig": CONFIG},
            DNS,
            Resolution(("192.0.2.9",), ("x.example", "cluster.local"), ("ndots:2", "edns0")),
        ),
        (
            {"dnsConfig": CONFIG},
            DNS,
            Resolution((DNS, "192.0.2.9"), (*OURS, "x.example"), ("ndots:2", "edns0")),
        ),
    ],
)
def test_how_a_pod_looks_up_names(spec: dict[str, Any], cluster: str, expected: Resolution) -> None:
    assert resolution(a_pod(**spec), cluster, MACHINE) == expected


def test_a_resolv_conf_is_read_as_it_is_written() -> None:
    assert podfiles.read(MACHINE.text()) == MACHINE
    assert podfiles.read("# x\nsearch a\nsearch b c\nnameserver 192.0.2.1\n") == Resolution(
        ("192.0.2.1",), ("b", "c")
    )


def test_hosts_names_the_pod_and_its_aliases() -> None:
    aliases = [{"ip": "192.0.2.5", "hostnames": ["one", "two"]}]
    text = hosts(a_pod(hostname="h", subdomain="sub", hostAliases=aliases), "127.8.0.1")
    assert "127.8.0.1\th.sub.d.svc.cluster.local\th\n" in text
    assert "192.0.2.5\tone\ttwo\n" in text


def test_files_are_rewritten_in_place(tmp_path: Path) -> None:
    podfiles.write(tmp_path, {"hosts": "a"})
    before = (tmp_path / "etc/hosts").stat().st_ino
    podfiles.write(tmp_path, {"hosts": "b"})
    assert (tmp_path / "etc/hosts").read_text() == "b"
    assert (tmp_path / "etc/hosts").stat().st_ino == before


PLAIN: dict[str, Any] = {"env": {"A": "1"}}
BOXED: dict[str, Any] = {"env": {"A": "1"}, "sandbox": {}}


@pytest.mark.parametrize(
    "order, standing, spec, network",
    [
        (PLAIN, Standing(DNS, 53), {}, None),
        (PLAIN, Standing(DNS, 53, watched=True), {}, {"address": "127.8.0.1", "dns": [DNS, 53]}),
        (BOXED, Standing(DNS, 53, watched=True), {}, {"address": "127.8.0.1"}),
        (BOXED, Standing(DNS, 10053, watched=True), {}, {"address": "127.8.0.1", "dns": [DNS, 10053]}),
        (BOXED, Standing(DNS, 0, watched=True), {}, {"address": "127.8.0.1"}),
        (PLAIN, Standing(DNS, 53, watched=True), {"dnsPolicy": "Default"}, {"address": "127.8.0.1"}),
        (PLAIN, Standing(DNS, 53, watched=True), {"hostNetwork": True}, None),
        (
            BOXED,
            Standing(DNS, 53, watched=True),
            {"containers": [{"securityContext": {"privileged": True}}]},
            None,
        ),
    ],
)
def test_who_is_looked_at(
    order: dict[str, Any], standing: Standing, spec: dict[str, Any], network: dict[str, Any] | None
) -> None:
    assert told(order, a_pod(**spec), "127.8.0.1", standing).get("network") == network


def test_plain_pods_get_their_search_list_by_variables() -> None:
    env = told(PLAIN, a_pod(), "127.8.0.1", Standing(DNS, 53, watched=True))["env"]
    assert env == {
        "A": "1",
        "LOCALDOMAIN": "d.svc.cluster.local svc.cluster.local cluster.local",
        "RES_OPTIONS": "ndots:5",
    }
