"""The data of the requirement documents, as printed, on one cluster whose mirrors lead to this machine.

The bucket is a folder, the Redis of the first example a real one with a password; the file system of the
second example is SQLite and a folder. Where nothing can be mounted the same files are read by the engine
`local`.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from tests.cache import sources_of_others as others
from tests.scenarios.manifests import in_namespace, pod
from tests.scenarios.pdc_home import PdcHome, all_pids, fresh_home, proc_file

from paddlecloud.api.core import ConfigMap, Event, PersistentVolume, Pod
from paddlecloud.api.meta import Key
from paddlecloud.api.samplejob import SampleJob
from paddlecloud.api.sampleset import SampleSet
from paddlecloud.sdk.waiting import wait_for

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
SYSTEM = "paddle-system"
BUCKET = "bos://paddleflow-public.hkg.bcebos.com"
REDIS = "redis://192.168.7.227:6379"
SECONDS = 10.0
"""Within which a set tells the sizes that a job has left."""
PASSWORD = "word-of-the-redis"
FILES = {
    "imagenet/demo/n01514859/1.JPEG": 29 << 10,
    "imagenet/demo/n01514859/2 ü.JPEG": 29 << 10,
    "imagenet/n01440764/1.JPEG": 4_000_000,
    "imagenet/n01440764/2.JPEG": 344_627,
    "criteo/slot_train_data_full/part-0": 22 << 10,
    "ppocr/hiertext/train.txt": 3379,
}


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("public")
    for name, size in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(bytes(size))
    return folder


@pytest.fixture(scope="module")
def home(public: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PdcHome]:
    """A cluster that was given all sets; the second one without its Secrets."""
    own, redis = tmp_path_factory.mktemp("criteo"), tmp_path_factory.mktemp("redis")
    with others.redis(redis, PASSWORD) as host, fresh_home() as made:
        made.home.make()
        mirrors = {
            BUCKET: public.as_uri(),
            REDIS: f"redis://:{PASSWORD}@{host}",
            f"{REDIS}/2": f"sqlite3://{own}/meta.db",
            f"{REDIS}/3": f"file://{own}/objects",
        }
        made.home.mirrors.write_text(yaml.safe_dump(mirrors))
        made.ok("up", "--detach", "--node-label", "beta.kubernetes.io/instance-gpu=true")
        words = [
            ("-f", str(EXAMPLES / file))
            for file in (
                "imagenet/secret.yaml",
                "imagenet/imagenet.yaml",
                "wide-deep/criteo-sampleset.yaml",
                "ppocrv3/hiertext.yaml",
            )
        ]
        made.ok("apply", *(word for pair in words for word in pair))
        yield made


def when(
    home: PdcHome, name: str, true: Callable[[SampleSet], bool], limit: float = 60, namespace: str = SYSTEM
) -> SampleSet:
    """The set when something is true of it; a watch waits for that."""
    with home.client() as client:
        return wait_for(client, SampleSet, Key(namespace, name), true, limit)


def ready(home: PdcHome, name: str, namespace: str = SYSTEM) -> SampleSet:
    return when(home, name, lambda data: data.status.phase == "Ready", namespace=namespace)


def mounted(home: PdcHome) -> bool:
    return when(home, "imagenet", lambda data: bool(data.status.engine)).status.engine == "juicefs"


def row(home: PdcHome, name: str, namespace: str = SYSTEM) -> list[str]:
    """The line that `get sampleset` prints, by its columns, without the age."""
    header, line = home.ok("get", "sampleset", name, "-n", namespace).splitlines()
    names = re.split(r"  +", header.strip())
    assert names == ["NAME", "TOTAL SIZE", "CACHED SIZE", "AVAIL SPACE", "RUNTIME", "PHASE", "AGE"]
    return re.split(r"  +", line.strip())[:-1]


def carried_out(home: PdcHome, kind: str) -> None:
    """Hand in a job of the walk-through and see it succeed."""
    body = yaml.safe_load((EXAMPLES / "imagenet" / f"{kind}-job.yaml").read_text())
    with home.client() as client:
        key = client.create(SampleJob.read(body)).key
        done = wait_for(client, SampleJob, key, lambda job: job.status.phase.final, 60)
    assert done.status.phase == "Succeeded", done.status.conditions


def sizes(data: SampleSet) -> tuple[str, str, str]:
    cache = data.status.cache_status
    return (cache.total_size, cache.cached_size, data.status.phase.value) if cache else ("", "", "")


def test_the_walk_through_of_the_first_document_as_printed(home: PdcHome) -> None:
    ready(home, "imagenet")
    name, total, cached, space, runtime, phase = row(home, "imagenet")
    assert (name, total, runtime, phase) == ("imagenet", "58 KiB", "1/1", "Ready")
    form = r"\d(\.\d)? [KMGT]iB|\d{2,4} [KMGT]?i?B|\d B"
    assert re.fullmatch(form, cached) and re.fullmatch(form, space)

    carried_out(home, "rmr")
    when(home, "imagenet", lambda data: sizes(data)[0] == "0 B", SECONDS)

    carried_out(home, "sync")
    when(home, "imagenet", lambda data: sizes(data)[::2] == ("4.2 MiB", "Ready"), SECONDS)

    carried_out(home, "clear")
    # What is in a file system can be read without a cache; a copy that is gone cannot.
    left = ("4.2 MiB", "0 B", "Ready" if mounted(home) else "PartialReady")
    when(home, "imagenet", lambda data: sizes(data) == left, SECONDS)

    carried_out(home, "warmup")
    when(home, "imagenet", lambda data: sizes(data) == ("4.2 MiB", "4.2 MiB", "Ready"), SECONDS)
    table = [line.split() for line in home.ok("get", "samplejobs", "-n", SYSTEM).splitlines()]
    ended = [[f"imagenet-{kind}", "Succeeded"] for kind in ("clear", "rmr", "sync", "warmup")]
    assert table == [["NAME", "PHASE"], *ended]


def test_the_password_of_a_mirror_is_seen_nowhere(home: PdcHome) -> None:
    ready(home, "imagenet")
    with home.client() as client:
        told = client.get(ConfigMap, "paddlecloud", "mirrors").data["mirrors.yaml"]
        events = client.list(Event, SYSTEM).items
        objects = [o for kind in (SampleSet, Pod, PersistentVolume) for o in client.list(kind, "").items]
    assert f"{BUCKET}: file://" in told and f"{REDIS}: redis://127.0.0.1:" in told
    assert any("is read from its mirror file://" in event.message for event in events)
    texts = [told, *(str(found.wire()) for found in (*events, *objects))]
    lines = [proc_file(pid, "cmdline").decode(errors="replace") for pid in all_pids()]
    logs = [*home.home.logs.iterdir(), *home.home.root.glob("nodes/*/mounts/*/*")]
    texts += lines + [path.read_text(errors="replace") for path in logs if path.is_file()]
    # Who holds the set: the process of its mount, or the one that keeps its copies.
    holds = "imagenet" if mounted(home) else "paddlecloud.cache.runtime"
    assert any(holds in line for line in lines) and not any(PASSWORD in text for text in texts)


def test_a_set_whose_secrets_come_later_goes_on_by_itself(home: PdcHome) -> None:
    when(home, "criteo", lambda data: "WaitingForSecret" in {c.reason for c in data.status.conditions})
    refused = home.pdc("apply", "-f", str(EXAMPLES / "wide-deep" / "criteo-secret.yaml"))
    assert refused.code != 0 and ('namespaces "paddle" not found' in refused.text or "base64" in refused.text)
    home.ok("apply", "-f", str(EXAMPLES / "wide-deep" / "local-criteo-secret.yaml"))

    ready(home, "criteo")
    name, total, _, _, runtime, phase = row(home, "criteo")
    assert (name, total, runtime, phase) == ("criteo", "22 KiB", "1/1", "Ready")


def test_a_model_volume_on_the_same_file_system(home: PdcHome) -> None:
    if not mounted(home):
        pytest.skip("JuiceFS cannot be mounted here")
    ready(home, "criteo")
    files = [str(EXAMPLES / "wide-deep" / f"model-center-{kind}.yaml") for kind in ("pv", "pvc")]
    claim = {"name": "v", "persistentVolumeClaim": {"claimName": "model-center"}}
    mounts = {"volumeMounts": [{"name": "v", "mountPath": "/mnt/model"}]}
    writer = pod("writer", "echo model > /mnt/model/m && cat /mnt/model/m", container=mounts, volumes=[claim])
    text = yaml.safe_dump(in_namespace(SYSTEM, writer))
    home.ok("apply", "-f", files[0], "-f", files[1], "-f", "-", stdin=text)
    with home.client() as client:
        wait_for(client, Pod, Key(SYSTEM, "writer"), lambda found: found.phase == "Succeeded", 60)
        assert client.logs(SYSTEM, "writer", "main") == "model\n"


def test_another_mirror_is_read_without_a_restart(home: PdcHome, tmp_path: Path) -> None:
    ready(home, "hiertext", "paddlecloud")
    assert row(home, "hiertext", "paddlecloud")[1] == "3.3 KiB"
    (tmp_path / "train.txt").write_bytes(bytes(3379))
    (tmp_path / "more.txt").write_bytes(bytes(33 << 10))
    table = yaml.safe_load(home.home.mirrors.read_text())
    new = home.home.mirrors.with_name("mirrors.new")
    new.write_text(yaml.safe_dump({**table, f"{BUCKET}/ppocr/hiertext": tmp_path.as_uri()}))
    new.rename(home.home.mirrors)

    when(home, "hiertext", lambda data: sizes(data)[::2] == ("36 KiB", "Ready"), namespace="paddlecloud")


@pytest.mark.parametrize(
    "file", sorted(str(path.relative_to(EXAMPLES)) for path in (EXAMPLES / "imagenet").iterdir())
)
def test_the_files_are_manifests_of_the_documents_namespace(file: str) -> None:
    body = yaml.safe_load((EXAMPLES / file).read_text())
    assert body["metadata"]["namespace"] == SYSTEM
    if body["kind"] == "Secret":
        assert {base64.b64decode(v).decode() for v in body["data"].values()} >= {f"{REDIS}/0", f"{REDIS}/1"}
