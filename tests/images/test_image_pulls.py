from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.images.making import Made, file, image, sha
from tests.images.registries import PASSWORD, USER, Registry, serving

from paddlecloud.images import names
from paddlecloud.images.connection import Surroundings
from paddlecloud.images.credentials import EMPTY, Keyring, keyring
from paddlecloud.images.failures import Damaged, ImageFailure, NeverPulled, NotPulled, Refused, Unsupported
from paddlecloud.images.layout import Entry, Store
from paddlecloud.images.manifests import INDEX
from paddlecloud.images.obtaining import resolve, sources
from paddlecloud.images.pulling import pull
from paddlecloud.images.resolving import Policy
from paddlecloud.images.steps import Step


@pytest.fixture
async def registry() -> AsyncIterator[Registry]:
    async with serving(Registry()) as running:
        yield running


@pytest.fixture
def app() -> Made:
    return image(
        [file("etc/a", b"1")], [file("bin/b", os.urandom(3_000_000))], run={"Cmd": ["/bin/b"], "Env": ["A=1"]}
    )


class Rests:
    """Waits nowhere and remembers for how long it was asked to."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def rest(self, seconds: float) -> None:
        self.seconds.append(seconds)

    def around(self) -> Surroundings:
        return Surroundings(luck=lambda: 1.0, rest=self.rest, proxies={"http": "http://127.0.0.1:9"})


async def pulled(
    registry: Registry, store: Store, known: Keyring = EMPTY, rests: Rests | None = None
) -> Entry:
    name = names.parse(f"{registry.host}/team/app:1")
    return await pull(store, name, known, around=(rests or Rests()).around())


def secrets(registry: Registry, password: str = PASSWORD) -> Keyring:
    auths = {"auths": {registry.host: {"username": USER, "password": password}}}
    return keyring([{".dockerconfigjson": json.dumps(auths).encode()}])


def half_made(store: Store) -> list[Path]:
    return [p for f in ("tmp", "parts") if (store.root / f).is_dir() for p in (store.root / f).iterdir()]


async def test_an_image_is_pulled_unpacked_and_ready_to_run(
    registry: Registry, app: Made, tmp_path: Path
) -> None:
    registry.offer("team/app", "1", app)
    steps: list[Step] = []
    where = sources(tmp_path, [], Rests().around())
    found = await resolve(f"{registry.host}/team/app:1", Policy.IF_NOT_PRESENT, where, report=steps.append)
    assert found.digest == app.manifest.digest and found.pulled
    assert (found.config.cmd, found.config.env) == (("/bin/b",), {"A": "1"})
    assert [
        (layer / name).exists() for layer, name in zip(found.layers, ("etc/a", "bin/b"), strict=True)
    ] == [True] * 2
    assert {s.doing for s in steps} == {"downloading", "unpacking"}
    done = {s.digest: (s.done, s.total) for s in steps if s.doing == "downloading"}
    assert all(have == total for have, total in done.values()) and len(done) == 3
    assert half_made(where.store) == []


async def test_an_index_leads_to_the_image_of_this_machine(
    registry: Registry, app: Made, tmp_path: Path
) -> None:
    other = image([file("other")])
    for made in (app, other):
        registry.offer("team/app", "unused", made)
    entries = [
        {**other.manifest.document(), "platform": {"os": "windows", "architecture": "amd64"}},
        {**app.manifest.document(), "platform": {"os": "linux", "architecture": "amd64"}},
        {**app.manifest.document(), "platform": {"os": "linux", "architecture": "arm64"}},
    ]
    index = json.dumps({"schemaVersion": 2, "mediaType": INDEX, "manifests": entries}).encode()
    registry.manifests["team/app@1"] = INDEX, index
    assert (await pulled(registry, Store(tmp_path))).manifest.digest == app.manifest.digest
    registry.manifests["team/app@1"] = INDEX, json.dumps({"manifests": entries[:1]}).encode()
    with pytest.raises(Unsupported, match="it has windows/amd64"):
        await pulled(registry, Store(tmp_path))


@pytest.mark.parametrize("auth", ["basic", "bearer"])
async def test_credentials_of_a_pull_secret_open_the_registry(
    registry: Registry, app: Made, tmp_path: Path, auth: str
) -> None:
    registry.offer("team/app", "1", app)
    registry.auth = auth
    with pytest.raises(Refused, match="pull access denied"):
        await pulled(registry, Store(tmp_path))
    with pytest.raises(Refused) as caught:
        await pulled(registry, Store(tmp_path), secrets(registry, "wrong"))
    assert "wrong" not in str(caught.value)
    both = Keyring((*secrets(registry, "wrong").entries, *secrets(registry).entries))
    assert (await pulled(registry, Store(tmp_path), both)).manifest.digest == app.manifest.digest


async def test_a_token_that_runs_out_is_asked_for_again(
    registry: Registry, app: Made, tmp_path: Path
) -> None:
    registry.offer("team/app", "1", app)
    registry.auth, registry.expired_after = "bearer", 3
    await pulled(registry, Store(tmp_path), secrets(registry))
    assert registry.asked["/token"] > 1


async def test_credentials_never_go_to_a_token_server_without_encryption(
    registry: Registry, app: Made, tmp_path: Path
) -> None:
    registry.offer("team/app", "1", app)
    registry.auth, registry.realm = "bearer", "http://192.0.2.1/token"
    with pytest.raises(NotPulled, match="not encrypted"):
        await pulled(registry, Store(tmp_path), secrets(registry))


async def test_a_redirect_is_followed_without_credentials(
    registry: Registry, app: Made, tmp_path: Path
) -> None:
    registry.offer("team/app", "1", app)
    registry.auth = "basic"
    async with serving(Registry(blobs=registry.blobs)) as store_of_blobs:
        registry.redirect = f"http://{store_of_blobs.host}"
        await pulled(registry, Store(tmp_path), secrets(registry))
        assert store_of_blobs.asked.total() == 3 and store_of_blobs.shown == {""}
    registry.redirect = "http://192.0.2.1"
    with pytest.raises(NotPulled, match="not encrypted"):
        await pulled(registry, Store(tmp_path / "again"), secrets(registry))


@pytest.mark.parametrize("ranges", [True, False])
async def test_a_broken_download_goes_on_where_it_ended(
    registry: Registry, app: Made, tmp_path: Path, ranges: bool
) -> None:
    registry.offer("team/app", "1", app)
    registry.ranges, big = ranges, app.layers[1]
    registry.cut = {big.digest: 2}
    await pulled(registry, Store(tmp_path))
    resumed = [r for r in registry.ranges_asked if r]
    assert len(resumed) == 2 and all(r != "bytes=0-" for r in resumed)
    assert Store(tmp_path).blob(big.digest).read_bytes() == app.blobs[big.digest]


async def test_a_pull_that_was_killed_is_gone_on_with_by_the_next(
    registry: Registry, app: Made, tmp_path: Path
) -> None:
    registry.offer("team/app", "1", app)
    store, big = Store(tmp_path), app.layers[1]
    store.unfinished(big.digest).write_bytes(app.blobs[big.digest][:1000])
    await pulled(registry, store)
    assert "bytes=1000-" in registry.ranges_asked
    assert store.blob(big.digest).read_bytes() == app.blobs[big.digest]


async def test_a_damaged_half_is_thrown_away_and_fetched_anew(
    registry: Registry, app: Made, tmp_path: Path
) -> None:
    registry.offer("team/app", "1", app)
    store, big = Store(tmp_path), app.layers[1]
    store.unfinished(big.digest).write_bytes(b"\0" * 1000)
    await pulled(registry, store)
    assert store.blob(big.digest).read_bytes() == app.blobs[big.digest]


async def test_content_with_another_digest_never_gets_a_name(
    registry: Registry, app: Made, tmp_path: Path
) -> None:
    registry.offer("team/app", "1", app)
    big = app.layers[1]
    registry.blobs[big.digest] = bytes(reversed(app.blobs[big.digest]))
    store = Store(tmp_path)
    with pytest.raises(Damaged, match="where sha256"):
        await pulled(registry, store)
    assert store.entries() == () and not store.has(big.digest)
    # What was on its way meanwhile may stay: the next pull goes on with it.
    assert big.digest.removeprefix("sha256:") not in {part.name for part in half_made(store)}


async def test_a_manifest_with_another_digest_is_refused(
    registry: Registry, app: Made, tmp_path: Path
) -> None:
    registry.offer("team/app", "1", app)
    registry.manifests[f"team/app@{sha(b'other')}"] = registry.manifests["team/app@1"]
    with pytest.raises(Damaged, match="promised"):
        await pull(Store(tmp_path), names.parse(f"{registry.host}/team/app@{sha(b'other')}"), EMPTY)


@pytest.mark.parametrize(
    "busy, waited",
    [
        ([(429, {"Retry-After": "7"})], [7.0]),
        ([(503, {}), (500, {})], [0.1, 0.2]),
        ([(429, {"Retry-After": "4000"})], [30.0]),
    ],
)
async def test_a_busy_registry_is_asked_again_when_it_says(
    registry: Registry, app: Made, tmp_path: Path, busy: list[tuple[int, dict[str, str]]], waited: list[float]
) -> None:
    registry.offer("team/app", "1", app)
    registry.busy, rests = busy, Rests()
    await pulled(registry, Store(tmp_path), rests=rests)
    assert rests.seconds == waited


async def test_a_registry_that_stays_busy_is_left_alone(registry: Registry, tmp_path: Path) -> None:
    registry.busy = [(429, {})] * 50
    with pytest.raises(NotPulled, match="BUSY: later"):
        await pulled(registry, Store(tmp_path))
    assert len(registry.busy) >= 40


async def test_concurrent_pulls_of_one_image_fetch_it_once(
    registry: Registry, app: Made, tmp_path: Path
) -> None:
    registry.offer("team/app", "1", app)
    await asyncio.gather(*(pulled(registry, Store(tmp_path)) for _ in range(5)))
    fetched = {path: count for path, count in registry.asked.items() if "/blobs/" in path}
    assert len(fetched) == 3 and set(fetched.values()) == {1}


@pytest.mark.parametrize(
    "policy, asks, error",
    [("IfNotPresent", 0, None), ("Never", 0, None), ("Always", 1, None)],
)
async def test_the_policy_says_whether_the_registry_is_asked_for_what_is_here(
    registry: Registry, app: Made, tmp_path: Path, policy: str, asks: int, error: type[ImageFailure] | None
) -> None:
    registry.offer("team/app", "1", app)
    where = sources(tmp_path, [], Rests().around())
    await pulled(registry, where.store)
    registry.asked.clear()
    found = await resolve(f"{registry.host}/team/app:1", Policy(policy), where)
    assert registry.asked.total() == asks and not found.pulled


async def test_what_is_nowhere_fails_in_the_words_of_kubernetes(
    registry: Registry, app: Made, tmp_path: Path
) -> None:
    registry.offer("team/app", "1", app)
    where = sources(tmp_path, [], Rests().around())
    await pulled(registry, where.store)
    missing = f"{registry.host}/team/app:2"
    with pytest.raises(NotPulled) as caught:
        await resolve(missing, Policy.IF_NOT_PRESENT, where)
    assert caught.value.message == (
        f'Failed to pull image "{missing}": failed to resolve reference "{missing}": {missing}: not found'
    )
    assert caught.value.reason == "ErrImagePull" and f"{registry.host}/team/app:1" in caught.value.next_step
    with pytest.raises(NeverPulled) as never:
        await resolve(missing, Policy.NEVER, where)
    assert never.value.message == f'Container image "{missing}" is not present with pull policy of Never'
    assert never.value.reason == "ErrImageNeverPull"


async def test_a_registry_that_is_not_there_is_given_up_soon(tmp_path: Path) -> None:
    async with serving(Registry()) as gone:
        host = gone.host
    rests = Rests()
    with pytest.raises(NotPulled, match="Cannot connect"):
        await pull(Store(tmp_path), names.parse(f"{host}/a"), EMPTY, around=rests.around())
    assert len(rests.seconds) == 1


@pytest.mark.parametrize(
    "document, why",
    [
        (b"<html>", "is no JSON"),
        (b"[]", "no JSON object"),
        (b'{"schemaVersion": 1}', "schema 1"),
        (b'{"mediaType": "application/vnd.oci.image.manifest.v1+json"}', "descriptor that is no object"),
        (b'{"config": {"digest": "sha256:../../etc/passwd", "size": 1}}', "no sha256 digest"),
        (b'{"mediaType": "application/vnd.cncf.helm"}', "is no image"),
        (b"x" * (5 << 20), "more than"),
    ],
)
async def test_a_manifest_that_makes_no_sense_is_refused(
    registry: Registry, tmp_path: Path, document: bytes, why: str
) -> None:
    registry.manifests["team/app@1"] = "application/json", document
    with pytest.raises(ImageFailure, match=why):
        await pulled(registry, Store(tmp_path))
