"""A real node in the enclosure of its cluster: containerd, kubelet, kube-proxy, CoreDNS where it is built.

With `Place.juicefs` it has the JuiceFS CSI driver, too.

Whoever starts it is root in namespaces of its own (`enclosure`): fixed paths and ports are free there.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from tests.kubernetes.control_plane import START_LIMIT, ControlPlane, Nodes
from tests.kubernetes.node_images import PAUSE
from tests.kubernetes.processes import Process, running
from tests.kubernetes.scheduler import kube_scheduler
from tests.kubernetes.waiting import until

from paddlecloud.embedded.node.sandbox import kernel

NAME = "real"
ADDRESS = "10.99.0.1"
PODS = "10.244.0.0/24"
USERS = {
    "kubelet": (f"system:node:{NAME}", "system:nodes"),
    "kube-proxy": ("system:kube-proxy", ""),
    "kube-scheduler": ("system:kube-scheduler", ""),
}
NODES = Nodes(ADDRESS, USERS)
KERNEL_SETTINGS = {"kernel/panic": "10", "kernel/panic_on_oops": "1", "vm/overcommit_memory": "1"}
"""A kubelet wants these of the whole machine."""
NETWORK_SETTINGS = {
    "net/ipv4/ip_forward": "1",
    "net/ipv4/conf/all/route_localnet": "1",
    "net/bridge/bridge-nf-call-iptables": "1",
}


class Juicefs(NamedTuple):
    driver: Path
    client: Path


@dataclass(frozen=True)
class Place:
    home: Path
    kubernetes: Path
    """The binaries of Kubernetes."""
    parts: Path
    coredns: Path | None
    group: str
    """The control group of all pods."""
    archives: tuple[Path, ...] = ()
    """Images beside those of the parts."""
    juicefs: Juicefs | None = None
    """The driver of JuiceFS, where the node is to have it."""

    @property
    def environ(self) -> dict[str, str]:
        known = {k: v for k, v in os.environ.items() if "proxy" not in k.lower()}
        return {**known, "PATH": f"{self.parts / 'bin'}:{known.get('PATH', '')}:/usr/sbin:/sbin"}


@contextmanager
def node(place: Place, plane: ControlPlane) -> Iterator[None]:
    """Everything a pod needs, until the node is Ready."""
    prepare_paths(place.home)
    with ExitStack() as stack:
        runtime = stack.enter_context(containerd(place))
        scheduler = kube_scheduler(place.home, place.kubernetes, plane.kubeconfig_of("kube-scheduler"))
        stack.enter_context(scheduler)
        names = stack.enter_context(coredns(place, plane)) if place.coredns else None
        import_images(place, runtime)
        if place.juicefs:
            stack.enter_context(juicefs_driver(place, place.juicefs))
        kubelet = stack.enter_context(running_kubelet(place, plane))

        def ready() -> bool:
            kubelet.check()
            answer = plane.rest.get(f"/api/v1/nodes/{NAME}")
            conditions = answer.body["status"].get("conditions", ()) if answer.status == 200 else ()
            return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)

        until(ready, what=f"a Ready node (log: {kubelet.log})", limit=START_LIMIT)
        # It looks for its node, and again ever later if there is none.
        stack.enter_context(kube_proxy(place, plane))
        if names:
            names.check()
        yield


def prepare_network() -> None:
    """One address for the node, and a way for everything else that leads nowhere."""
    loopback = ["ip", "link", "set", "lo", "up"]
    bridge = ["ip", "link", "add", "nowhere", "type", "bridge"]
    address = ["ip", "address", "add", f"{ADDRESS}/24", "dev", "nowhere"]
    up = ["ip", "link", "set", "nowhere", "up"]
    # A connection to a service is routed before its address is exchanged: without a route it fails.
    route = ["ip", "route", "add", "default", "dev", "nowhere"]
    for command in (loopback, bridge, address, up, route):
        subprocess.run(command, check=True, timeout=10)
    for name, value in NETWORK_SETTINGS.items():
        if (setting := Path("/proc/sys", name)).exists():
            setting.write_text(value)


def prepare_paths(home: Path) -> None:
    """The fixed paths of the components lie in *home*, seen from inside."""
    kernel.mount("tmpfs", "/run", "tmpfs", options="mode=755")
    for fixed in ("/var/lib", "/var/log"):
        own = home / fixed.removeprefix("/").replace("/", "-")
        own.mkdir()
        kernel.mount(str(own), fixed, flags=kernel.BIND)
    for name, value in KERNEL_SETTINGS.items():
        # It sees the wanted value; the machine keeps its own.
        shown = home / name.replace("/", "-")
        shown.write_text(value)
        kernel.mount(str(shown), f"/proc/sys/{name}", flags=kernel.BIND)


@contextmanager
def containerd(place: Place) -> Iterator[Process]:
    folder = place.home / "containerd"
    (folder / "cni").mkdir(parents=True)
    network = {
        "cniVersion": "0.4.0",
        "name": "pods",
        "plugins": [
            {
                "type": "bridge", "bridge": "pods", "isGateway": True, "isDefaultGateway": True,
                "hairpinMode": True,
                "ipam": {"type": "host-local", "dataDir": "/run/cni", "ranges": [[{"subnet": PODS}]]},
            }
        ],
    }  # fmt: skip
    (folder / "cni" / "pods.conflist").write_text(json.dumps(network))
    (folder / "config.toml").write_text(containerd_settings(place, folder))
    program = place.parts / "bin" / "containerd"
    with running(program, ["--config=config.toml"], folder, place.environ) as process:

        def answers() -> bool:
            process.check()
            return ctr(place, "version").returncode == 0

        until(answers, what=f"an answer of containerd (log: {process.log})", limit=START_LIMIT)
        yield process


SOCKET = "/run/containerd/containerd.sock"
CTR_LIMIT = 300.0
"""Seconds; an image with a gigabyte of packages takes one of these minutes."""
UNUSED = ("aufs", "btrfs", "devmapper", "zfs")


def containerd_settings(place: Place, folder: Path) -> str:
    cri = 'plugins."io.containerd.grpc.v1.cri"'
    runc = f"{cri}.containerd.runtimes.runc"
    return f"""version = 2
root = "{folder / "root"}"
state = "/run/containerd"
oom_score = 0
disabled_plugins = {json.dumps([f"io.containerd.snapshotter.v1.{name}" for name in UNUSED])}
[grpc]
address = "{SOCKET}"
[{cri}]
sandbox_image = "{PAUSE}"
restrict_oom_score_adj = true
disable_apparmor = true
disable_hugetlb_controller = true
tolerate_missing_hugetlb_controller = true
[{cri}.cni]
bin_dir = "{place.parts / "root/usr/lib/cni"}"
conf_dir = "{folder / "cni"}"
[{cri}.containerd]
snapshotter = "{snapshotter(place.home)}"
default_runtime_name = "runc"
[{runc}]
runtime_type = "io.containerd.runc.v2"
[{runc}.options]
BinaryName = "{place.parts / "bin/runc"}"
"""


def snapshotter(home: Path) -> str:
    """Copies of images where this disk can carry no overlay, as inside of many containers."""
    folders = {name: home / "tried" / name for name in ("lower", "upper", "work", "merged")}
    for path in folders.values():
        path.mkdir(parents=True)
    options = "lowerdir={lower},upperdir={upper},workdir={work}".format(**folders)
    try:
        kernel.mount("overlay", str(folders["merged"]), "overlay", options=options)
    except OSError:
        return "native"
    kernel.unmount(str(folders["merged"]))
    return "overlayfs"


def import_images(place: Place, runtime: Process) -> None:
    for archive in (*sorted((place.parts / "images").glob("*.tar")), *place.archives):
        done = ctr(place, "--namespace=k8s.io", "images", "import", str(archive))
        assert done.returncode == 0, f"{archive} was not imported: {done.stderr} (log: {runtime.log})"


def ctr(place: Place, *words: str) -> subprocess.CompletedProcess[str]:
    command = [str(place.parts / "bin" / "ctr"), f"--address={SOCKET}", *words]
    return subprocess.run(command, env=place.environ, capture_output=True, text=True, timeout=CTR_LIMIT)


@contextmanager
def running_kubelet(place: Place, plane: ControlPlane) -> Iterator[Process]:
    folder = place.home / "kubelet"
    folder.mkdir(exist_ok=True)
    (folder / "resolv.conf").write_text("nameserver 127.0.0.1\n")
    settings: dict[str, Any] = {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": str(plane.certificates.ca)},
        },
        "containerRuntimeEndpoint": f"unix://{SOCKET}",
        "podLogsDir": str(folder / "logs"),
        "volumePluginDir": str(folder / "plugins"),
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{place.group}",
        "failCgroupV1": False,
        "failSwapOn": False,
        "oomScoreAdj": 0,
        "makeIPTablesUtilChains": False,
        "resolvConf": str(folder / "resolv.conf"),
        "clusterDomain": "cluster.local",
        "clusterDNS": [ADDRESS],
        "evictionHard": {"memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
        "imageGCHighThresholdPercent": 100,
        # How long a changed ConfigMap takes to reach the files of a pod; a minute by default.
        "syncFrequency": "2s",
    }
    (folder / "config.yaml").write_text(yaml.safe_dump(settings))
    flags = [
        "--config=config.yaml",
        f"--kubeconfig={plane.kubeconfig_of('kubelet')}",
        f"--root-dir={folder / 'root'}",
        f"--cert-dir={folder / 'certificates'}",
        f"--hostname-override={NAME}",
        f"--node-ip={ADDRESS}",
    ]
    with running(place.kubernetes / "kubelet", flags, folder, place.environ) as process:
        yield process


@contextmanager
def juicefs_driver(place: Place, juicefs: Juicefs) -> Iterator[Process]:
    """A process of the node and no pod; what it mounts goes with the enclosure."""
    folder = place.home / "juicefs"
    flags = [
        f"--node={NAME}",
        f"--folder={folder}",
        f"--registry={place.home / 'kubelet' / 'root' / 'plugins_registry'}",
        f"--client={juicefs.client}",
    ]
    with running(juicefs.driver, flags, folder, place.environ) as process:
        yield process


@contextmanager
def kube_proxy(place: Place, plane: ControlPlane) -> Iterator[Process]:
    settings: dict[str, Any] = {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "clientConnection": {"kubeconfig": str(plane.kubeconfig_of("kube-proxy"))},
        "mode": "nftables",
        "clusterCIDR": PODS,
        "oomScoreAdj": 0,
        # These belong to the whole machine.
        "conntrack": {"maxPerCore": 0, "min": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s"},
    }
    folder = place.home / "kube-proxy"
    folder.mkdir()
    (folder / "config.yaml").write_text(yaml.safe_dump(settings))
    flags = ["--config=config.yaml", f"--hostname-override={NAME}"]
    with running(place.kubernetes / "kube-proxy", flags, folder, place.environ) as process:
        yield process


COREFILE = """.:53 {{
    errors
    kubernetes cluster.local in-addr.arpa {{
        kubeconfig {kubeconfig}
        pods insecure
    }}
}}
"""


@contextmanager
def coredns(place: Place, plane: ControlPlane) -> Iterator[Process]:
    """A process of the node and no pod: pods ask the address of the node for names."""
    assert place.coredns
    folder = place.home / "coredns"
    folder.mkdir()
    (folder / "Corefile").write_text(COREFILE.format(kubeconfig=plane.kubeconfig))
    with running(place.coredns, ["-conf=Corefile"], folder, place.environ) as process:
        yield process
