"""What can go wrong with an image: a sentence, and the word Kubernetes has for it.

`reason` becomes the waiting reason of a container, `event` the reason of the event.
"""

from __future__ import annotations

from typing import ClassVar

from ..errors import Failed


class ImageFailure(Failed):
    reason: ClassVar[str] = "ErrImagePull"
    event: ClassVar[str] = "Failed"


class InvalidName(ImageFailure):
    """No image can have this name; trying again is of no use."""

    exit_code = 2
    reason, event = "InvalidImageName", "InspectFailed"


class NotPulled(ImageFailure):
    """Nothing that may be asked has the image, or whoever has it did not hand it over."""


class NeverPulled(ImageFailure):
    """It is not here, and the pod forbids to ask anybody else."""

    reason, event = "ErrImageNeverPull", "ErrImageNeverPull"


class Refused(ImageFailure):
    """The registry knows us too little: credentials are missing or wrong."""


class Damaged(ImageFailure):
    """The content is not what its digest, its description or the format promises."""


class Unsupported(ImageFailure):
    """A sound image that this machine or this version cannot use."""


class NoSpace(ImageFailure):
    """The disk is full, or a limit was reached."""


class NotUsable(ImageFailure):
    """The image is here, but the store cannot be read."""

    reason, event = "ImageInspectError", "InspectFailed"
