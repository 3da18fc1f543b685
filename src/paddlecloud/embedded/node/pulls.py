"""The image of a container: found or pulled, and what it says about how its containers are run.

A failure is an `Obstacle` in the words a kubelet has for it. What an image says is put in the container's
own terms (`shaped`), so that nothing behind it needs to know of images.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from ...api.core import Pod, Secret
from ...images import obtaining, resolving, words
from ...images.credentials import Keyring, keyring
from ...images.failures import ImageFailure
from ...images.obtaining import Image as Image
from ...images.steps import Step
from ...settings import Home
from . import suites
from .environments import Environment, Environments, Progress
from .events import Recorder
from .obstacles import ImageUnknown, Obstacle
from .roles import Container
from .suites import Description, Suite
from .upstream import Upstream
from .variables import decoded

FAILED = ImageUnknown.reason


class Shop(Protocol):
    """As much of the workshop as is needed here."""

    @property
    def home(self) -> Home: ...
    @property
    def upstream(self) -> Upstream: ...
    @property
    def recorder(self) -> Recorder: ...
    @property
    def environments(self) -> Environments: ...
    @property
    def suite_folders(self) -> tuple[Path, ...]: ...


async def obtain(pod: Pod, container: Container, shop: Shop, progress: Progress) -> Image:
    """The image of *container*, fetched first if need be; raises `ImageUnknown`."""
    name = str(container.get("image") or "")
    where = obtaining.sources(shop.home.images, suites.all_suites(shop.suite_folders))
    try:
        policy = resolving.policy_of(name, str(container.get("imagePullPolicy") or ""))
        if isinstance(resolving.choose(name, policy, where.known()), resolving.FromRegistry):
            await shop.recorder.tell(pod, "Pulling", words.pulling(name), container["name"])
        began = time.monotonic()
        image = await obtaining.resolve(
            name, policy, where, await keys_of(pod, shop.upstream), reporter(name, progress)
        )
        if image.pulled:
            took = time.monotonic() - began
            message = words.pulled(name, took, took, image.size)
            await shop.recorder.tell(pod, "Pulled", message, container["name"])
        return image
    except ImageFailure as failure:
        raise obstacle(name, failure) from failure


async def ground(
    pod: Pod, container: Container, image: Image, shop: Shop, progress: Progress
) -> tuple[Suite, Environment]:
    """The suite that the image is, with its environment; any other image gets one that only repeats it."""
    if not image.suite:
        says = Description(
            name=image.name, images=[image.name], python="self", at="/",
            entrypoint=list(image.config.entrypoint), env=dict(image.config.env),
        )  # fmt: skip
        return Suite(Path("/"), says), Environment(Path("/usr/local/sbin"))
    suite = next(s for s in suites.all_suites(shop.suite_folders) if s.name == image.suite)
    if not shop.environments.present(suite):
        message = f"Making the environment of suite {suite.name} for image {image.name!r}"
        await shop.recorder.tell(pod, "Pulling", message, container["name"])
    return suite, await shop.environments.ensure(suite, progress)


async def keys_of(pod: Pod, upstream: Upstream) -> Keyring:
    """The credentials of the pod's pull secrets; one that is missing is no reason not to try."""
    contents = []
    for reference in pod.spec.get("imagePullSecrets") or ():
        secret = await upstream.find(Secret, pod.namespace, str(reference.get("name") or ""))
        if secret is not None:
            contents.append(decoded(secret.name, secret.data))
    return keyring(contents)


def reporter(name: str, progress: Progress) -> Callable[[Step], None]:
    def report(step: Step) -> None:
        far = f", {100 * step.done // step.total} %" if step.total else ""
        progress(f"{step.doing} image {name}{far}")

    return report


def obstacle(name: str, failure: ImageFailure) -> ImageUnknown:
    result = ImageUnknown(failure.message, next_step=failure.next_step)
    result.reason, result.event, result.image = failure.reason, failure.event, name
    return result


def backing_off(before: Obstacle) -> Obstacle:
    """The same obstacle while it is not looked at again."""
    if before.reason != FAILED:
        return before
    result = ImageUnknown(words.back_off(before.image, before.message), next_step=before.next_step)
    result.reason, result.event, result.image = "ImagePullBackOff", "BackOff", before.image
    return result


def words_of(container: Container, image: Image | None) -> str:
    if image is not None and image.suite:
        return f"Image {image.name!r} is the suite {image.suite}; its environment is present"
    return words.present(str(container.get("image") or ""))


def id_of(image: Image) -> str:
    if image.suite:
        return f"suite://{image.suite}"
    return f"{image.name.partition('@')[0]}@{image.digest}"


def shaped(pod: Pod, container: Container, image: Image) -> dict[str, Any]:
    """The container with what its image says where its spec says nothing."""
    result, config = dict(container), image.config
    if not container.get("command") and not container.get("args"):
        result["args"] = list(config.cmd)
    if image.suite:
        return result
    result["workingDir"] = container.get("workingDir") or config.working_dir or "/"
    said = (container.get("securityContext") or {}, pod.spec.get("securityContext") or {})
    if config.user and not any("runAsUser" in context for context in said):
        context = dict(said[0])
        user, group = user_of(config.user, image.layers)
        context |= {"runAsUser": user} | ({"runAsGroup": group} if group is not None else {})
        result["securityContext"] = context
    return result


def user_of(said: str, layers: Iterable[Path]) -> tuple[int, int | None]:
    """The ids of a `USER` line: numbers, or names that the image's own files know."""
    user, _, group = said.partition(":")
    newest = list(layers)[::-1]
    ids = (int(user), None) if user.isdecimal() else entry("passwd", user, newest)
    if not group:
        return ids
    return ids[0], int(group) if group.isdecimal() else entry("group", group, newest)[0]


def entry(file: str, name: str, layers: Iterable[Path]) -> tuple[int, int | None]:
    for layer in layers:
        path = layer / "etc" / file
        # An absolute link would lead to the machine's own file.
        if path.is_symlink() or not path.is_file():
            continue
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            fields = line.split(":")
            if fields[0] == name and len(fields) > 3 and fields[2].isdecimal():
                return int(fields[2]), int(fields[3]) if file == "passwd" and fields[3].isdecimal() else None
        break
    raise ImageUnknown(
        f"the image is to run as {name}, whom its /etc/{file} does not know",
        next_step="give the container a securityContext with runAsUser",
    )


def layers_of(found: Mapping[str, Image], container: Container) -> tuple[str, ...]:
    """The folders of the container's image, the first in front."""
    image = found.get(str(container.get("image") or ""))
    return tuple(str(layer) for layer in reversed(image.layers)) if image else ()
