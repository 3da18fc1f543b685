"""What is decided before anything is mounted: levels, plans, users, limits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from paddlecloud.api.core import Pod
from paddlecloud.embedded.node.obstacles import ConfigMissing
from paddlecloud.embedded.node.sandbox import cgroups, holding, levels, plan, security
from paddlecloud.embedded.node.sandbox.levels import Levels
from paddlecloud.embedded.node.sandbox.surroundings import carried
from paddlecloud.errors import WrongUse

NO = "make namespaces: Operation not permitted"


def probed(overlay: str = "", user: str = "", veth: str = "", groups: str = "cgroup1") -> dict[str, Any]:
    return {
        "filesystem": {"overlay": overlay, "folders": overlay, "user folders": user},
        "network": {"veth": veth, "user veth": user, "notify": ""},
        "limits": {
            "kind": groups,
            "folders": {"memory": "/g"} if groups else {},
            "why": "" if groups else "no",
        },
    }


@pytest.mark.parametrize(
    "found, wish, expected",
    [
        (probed(), "auto", ("overlay", False, "namespaces", "cgroup1")),
        (probed(overlay=NO, veth=NO), "auto", ("folders", True, "namespaces", "cgroup1")),
        (probed(overlay=NO, veth=NO, user=NO, groups=""), "auto", ("plain", False, "notify", "polling")),
        (probed(overlay=NO, veth=NO, user=NO), "auto", ("plain", False, "notify", "cgroup1")),
        (probed(veth=NO), "auto", ("overlay", False, "notify", "cgroup1")),
        (probed(), "namespaces", ("folders", True, "namespaces", "cgroup1")),
        (probed(user=NO), "namespaces", ("plain", False, "notify", "cgroup1")),
        (probed(), "plain", ("plain", False, "notify", "polling")),
    ],
)
def test_levels_follow_what_was_probed_and_never_exceed_the_wish(
    found: dict[str, Any], wish: str, expected: tuple[Any, ...]
) -> None:
    decided = levels.decided(found, wish)
    assert (decided.filesystem, decided.user_namespace, decided.network, decided.limits) == expected


def test_a_wish_that_nobody_knows_is_refused_with_those_that_exist() -> None:
    with pytest.raises(WrongUse, match="auto, namespaces, plain"):
        levels.decided(probed(), "strict")


def test_levels_are_kept_for_one_boot_one_wish_and_one_user(tmp_path: Path) -> None:
    path, found = tmp_path / "levels.json", levels.decided(probed(), "auto")
    levels.write(path, found, "boot", "auto", 7)
    assert levels.read(path.read_text(), "boot", "auto", 7) == found == levels.kept(path)
    for boot, wish, user in (("next", "auto", 7), ("boot", "plain", 7), ("boot", "auto", 8)):
        assert levels.read(path.read_text(), boot, wish, user) is None
    assert levels.read("{", "boot", "auto", 7) is None


@pytest.mark.parametrize(
    "found, what, text",
    [
        (Levels(why_not={"filesystem": NO}), "filesystem", "run as root, or allow user namespaces"),
        (Levels(why_not={"filesystem": "asked for"}), "filesystem", "unset PADDLECLOUD_ISOLATION"),
        (Levels("folders", True), "filesystem", "for more run as root"),
        (Levels("overlay"), "filesystem", "own root"),
        (Levels(), "limits", "systemd-run"),
        (Levels(limits="cgroup2"), "limits", "by cgroup2"),
    ],
)
def test_words_say_what_is_lacking_and_how_to_get_it(found: Levels, what: str, text: str) -> None:
    assert text in levels.words(found)[what]


def a_pod(**spec: Any) -> Pod:
    metadata = {"name": "p", "namespace": "d", "uid": "u"}
    return Pod.read({"metadata": metadata, "spec": {"containers": [], **spec}})


def user(container: dict[str, Any], pod: dict[str, Any]) -> dict[str, Any]:
    return security.user_of(a_pod(securityContext=pod), {"name": "c", "securityContext": container})


@pytest.mark.parametrize(
    "container, pod, expected",
    [
        ({}, {}, {"uid": 0, "gid": 0, "groups": [], "noNewPrivileges": False}),
        ({}, {"runAsUser": 5, "runAsGroup": 6}, {"uid": 5, "gid": 6}),
        ({"runAsUser": 7}, {"runAsUser": 5, "runAsGroup": 6}, {"uid": 7, "gid": 6}),
        ({}, {"fsGroup": 9, "supplementalGroups": [8, 9]}, {"groups": [8, 9]}),
        ({"allowPrivilegeEscalation": False}, {}, {"noNewPrivileges": True}),
        ({"privileged": True, "allowPrivilegeEscalation": False}, {}, {"noNewPrivileges": False}),
        ({"privileged": True}, {}, {"capabilities": None}),
        ({"capabilities": {"drop": ["ALL"]}}, {}, {"capabilities": []}),
        (
            {"capabilities": {"drop": ["all"], "add": ["CAP_NET_ADMIN", "NO_SUCH"]}},
            {},
            {"capabilities": ["NET_ADMIN"]},
        ),
        ({"capabilities": {"drop": [*security.USUAL[1:]]}}, {}, {"capabilities": ["CHOWN"]}),
    ],
)
def test_who_a_container_runs_as(
    container: dict[str, Any], pod: dict[str, Any], expected: dict[str, Any]
) -> None:
    found = user(container, pod)
    assert {key: found[key] for key in expected} == expected


def test_a_container_that_must_not_be_root_and_is_does_not_start() -> None:
    with pytest.raises(ConfigMissing, match="container has runAsNonRoot and image will run as root"):
        user({"runAsNonRoot": True}, {})
    assert user({"runAsNonRoot": True, "runAsUser": 3}, {})["uid"] == 3


@pytest.mark.parametrize(
    "found, context, count",
    [
        (Levels(), {}, 0),
        (Levels(), {"runAsUser": 3, "readOnlyRootFilesystem": True, "privileged": True}, 3),
        (Levels("overlay"), {"runAsUser": 3, "fsGroup": 3, "privileged": True}, 0),
        (Levels("folders", True), {"runAsUser": 3}, 0),
        (Levels("folders", True), {"fsGroup": 3, "capabilities": {"add": ["SYS_ADMIN"]}}, 2),
        (Levels("folders", True), {"capabilities": {"add": ["CHOWN"]}}, 0),
    ],
)
def test_what_a_level_cannot_give_is_said(found: Levels, context: dict[str, Any], count: int) -> None:
    assert len(security.lacks(a_pod(), {"name": "c", "securityContext": context}, found)) == count


@pytest.mark.parametrize(
    "spec, separate, expected",
    [
        ({}, False, ("ipc", "uts")),
        ({}, True, ("ipc", "uts", "net")),
        ({"hostNetwork": True}, True, ("ipc",)),
        ({"hostIPC": True}, True, ("uts", "net")),
        ({"shareProcessNamespace": True}, False, ("ipc", "uts", "pid")),
        ({"volumes": [{"name": "m", "emptyDir": {"medium": "Memory"}}]}, False, ("ipc", "uts", "mnt")),
        ({"volumes": [{"name": "m", "emptyDir": {}}]}, False, ("ipc", "uts")),
    ],
)
def test_the_namespaces_of_a_pod(spec: dict[str, Any], separate: bool, expected: tuple[str, ...]) -> None:
    assert holding.namespaces_of(a_pod(**spec), separate) == expected


def test_volumes_that_the_cluster_fills_are_read_only_and_the_rest_as_the_pod_says() -> None:
    pod = a_pod(
        volumes=[
            {"name": "c", "configMap": {"name": "x"}},
            {"name": "e", "emptyDir": {}},
            {"name": "p", "persistentVolumeClaim": {"claimName": "x", "readOnly": True}},
        ]
    )
    names = ("c", "e", "p")
    container = {
        "volumeMounts": [{"name": n, "mountPath": f"/{n}", "subPathExpr": "$(WHO)"} for n in names],
    }
    found = plan.of_volumes(pod, container, {n: Path("/v", n) for n in names}, {"WHO": "me"})
    assert [(m["target"], m["readOnly"], m["subPath"]) for m in found] == [
        ("/c", True, "me"), ("/e", False, "me"), ("/p", True, "me"),
    ]  # fmt: skip


def test_the_home_of_the_platform_is_hidden_wherever_it_lies() -> None:
    def hidden(platform: str) -> list[str]:
        site = plan.Site(Levels("overlay"), Path(platform), Path(platform, "pod"))
        found: list[str] = plan.plan_of(a_pod(), {"name": "c"}, site, {})["hidden"]
        return found

    assert "/srv/cloud" in hidden("/srv/cloud")
    assert "/home/me/.paddlecloud" not in hidden("/home/me/.paddlecloud") and "/home" in hidden("/x")


@pytest.mark.parametrize(
    "points, expected",
    [
        (["/", "/proc", "/sys/fs/cgroup", "/dev/shm"], []),
        (["/usr", "/usr/local", "/data"], ["/usr"]),
        (["/opt/a", "/opt/b", "/home/me", "/usrlocal"], ["/opt/a", "/opt/b"]),
        (["/srv/hidden/x", "/srv/seen"], ["/srv/seen"]),
    ],
)
def test_mounts_with_programs_come_along(points: list[str], expected: list[str]) -> None:
    assert carried(points, ["/home", "/srv/hidden"]) == expected


def limited(name: str, **limits: str) -> dict[str, Any]:
    return {"name": name, "resources": {"limits": limits}}


@pytest.mark.parametrize(
    "containers, init, expected",
    [
        ([limited("a", memory="1Gi", cpu="500m"), limited("b", memory="1Gi")], [], {"memory": 2 << 30}),
        ([limited("a", memory="1Gi"), limited("b")], [], {}),
        ([limited("a", memory="1Gi")], [limited("i", memory="3Gi")], {"memory": 3 << 30}),
        ([limited("a", cpu="2"), limited("b", cpu="500m")], [], {"cpu": 2.5}),
    ],
)
def test_the_limits_of_a_pod_are_those_of_its_containers(
    containers: list[Any], init: list[Any], expected: dict[str, Any]
) -> None:
    found = plan.pod_limits(a_pod(containers=containers, initContainers=init))
    assert found.pop("pids") == 4096 and found.pop("shares") > 0
    assert found == expected


@pytest.mark.parametrize(
    "kind, limits, expected",
    [
        ("cgroup1", {}, []),
        ("cgroup1", {"memory": 5, "pids": 7}, ["memory.limit_in_bytes 5", "pids.max 7"]),
        ("cgroup1", {"cpu": 0.5}, ["cpu.cfs_period_us 100000", "cpu.cfs_quota_us 50000"]),
        ("cgroup1", {"shares": 0.5}, ["cpu.shares 512"]),
        (
            "cgroup2",
            {"memory": 5, "cpu": 2, "pids": 7},
            ["memory.max 5", "memory.swap.max 0", "cpu.max 200000 100000", "pids.max 7"],
        ),
        (
            "cgroup2",
            {"memory": 5, "whole": True},
            ["memory.max 5", "memory.swap.max 0", "memory.oom.group 1"],
        ),
        ("cgroup2", {"shares": 1}, ["cpu.weight 39"]),
        ("cgroup2", {"shares": 0.0001}, ["cpu.weight 1"]),
    ],
)
def test_limits_in_the_words_of_the_kernel(kind: str, limits: dict[str, Any], expected: list[str]) -> None:
    assert [f"{name} {text}" for _, name, text in cgroups.writes(kind, limits)] == expected


def test_groups_of_the_second_version_hand_controllers_down_and_hold_processes_at_the_end_only(
    tmp_path: Path,
) -> None:
    """Files stand for those of the kernel, which makes them with the folder."""
    pod, run = tmp_path / "base" / "uid", tmp_path / "base" / "uid" / "main-0"
    run.mkdir(parents=True)
    files = [
        "cgroup.procs",
        "cgroup.subtree_control",
        "memory.max",
        "memory.oom.group",
        "cpu.max",
        "pids.max",
    ]
    for folder in (tmp_path / "base", pod, run):
        for name in files:
            (folder / name).touch()
    said = {
        "kind": "cgroup2",
        "pod": {"unified": str(pod)},
        "podLimits": {"memory": 9, "pids": 4096},
        "name": "main-0",
        "limits": {"memory": 5, "cpu": 0.5},
    }
    group = cgroups.Group(said)
    group.make()
    group.take(0)

    def holds(folder: Path) -> dict[str, str]:
        return {name: text for name in files if (text := (folder / name).read_text())}

    down = {"cgroup.subtree_control": "+memory +cpu +pids"}
    assert holds(tmp_path / "base") == down
    assert holds(pod) == {**down, "memory.max": "9", "pids.max": "4096"}
    assert holds(run) == {
        "cgroup.procs": "0",
        "memory.max": "5",
        "memory.oom.group": "1",
        "cpu.max": "50000 100000",
    }
    (run / "memory.events").write_text("low 0\noom 2\noom_kill 1\n")
    assert group.out_of_memory()


@pytest.mark.parametrize(
    "mounts, own, expected",
    [
        ([], "0::/x\n", []),
        ([("cgroup2", "rw", "/g")], "0::/me\n", [("cgroup2", {"unified": "/g/me"})]),
        (
            [("cgroup", "rw,memory", "/m"), ("cgroup", "rw,cpu,cpuacct", "/c"), ("cgroup", "rw,pids", "/p")],
            "3:cpu,cpuacct:/\n2:memory:/a\n1:pids:/\n",
            [("cgroup1", {"memory": "/m/a", "cpu": "/c", "cpuacct": "/c", "pids": "/p"})],
        ),
        ([("cgroup", "rw,memory", "/m")], "2:memory:/a\n", []),
    ],
)
def test_groups_are_looked_for_below_our_own(
    mounts: list[tuple[str, str, str]], own: str, expected: list[Any]
) -> None:
    assert cgroups.candidates(mounts, own) == expected


@pytest.mark.parametrize(
    "limits, same_tree, expected",
    [
        ({}, False, {"pids"}),
        ({"memory": "1Gi"}, False, {"pids", "memory"}),
        ({"cpu": "1"}, False, {"pids", "cpu"}),
        ({"cpu": "1"}, True, {"pids", "cpu", "cpuacct"}),
    ],
)
def test_a_pod_enters_only_the_groups_it_needs(
    limits: dict[str, str], same_tree: bool, expected: set[str]
) -> None:
    groups = {"memory": "/m", "cpu": "/c", "cpuacct": "/c" if same_tree else "/a", "pids": "/p"}
    assert set(plan.needed(a_pod(containers=[limited("a", **limits)]), groups)) == expected


def test_where_there_is_one_tree_a_pod_is_always_in_it() -> None:
    assert plan.needed(a_pod(containers=[limited("a")]), {"unified": "/u"}) == {"unified": "/u"}
