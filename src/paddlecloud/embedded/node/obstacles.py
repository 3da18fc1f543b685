"""Why a pod cannot go on right now: a word of Kubernetes and a sentence.

An obstacle is not a failure. The pod waits, says what for, and the node looks again.
"""

from __future__ import annotations

from ...errors import PaddleCloudError


class Obstacle(PaddleCloudError):
    """`reason` becomes the waiting reason of the container, `event` the reason of the event."""

    reason = "ContainerCreating"
    event = "Failed"
    image = ""
    """The one that is missing; empty: something else is."""


class ImageUnknown(Obstacle):
    reason = "ErrImagePull"


class EnvironmentBroken(Obstacle):
    """The suite is known, but what it needs could not be installed."""

    reason = "ErrImagePull"


class VolumeMissing(Obstacle):
    event = "FailedMount"


class ConfigMissing(Obstacle):
    """An environment variable refers to something that is not there."""

    reason = "CreateContainerConfigError"


class CreationFailed(Obstacle):
    """The folder of a run could not be made."""

    reason = "CreateContainerError"


class RunFailed(Obstacle):
    """A described run could not be launched."""

    reason = "RunContainerError"


class SandboxFailed(Obstacle):
    """What all containers of a pod share could not be made."""

    event = "FailedCreatePodSandBox"
