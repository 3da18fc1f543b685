"""What a node says about images in events and statuses, word for word as a kubelet does. Pure."""

from __future__ import annotations

FIRST_PAUSE, LONGEST_PAUSE = 10.0, 300.0


def pulling(image: str) -> str:
    return f'Pulling image "{image}"'


def pulled(image: str, seconds: float, waited: float, size: int) -> str:
    """*waited* is the time since somebody asked, *seconds* that of the work itself."""
    return (
        f'Successfully pulled image "{image}" in {span(seconds)} ({span(waited)} including waiting). '
        f"Image size: {size} bytes."
    )


def present(image: str) -> str:
    return f'Container image "{image}" already present on machine'


def failed(image: str, why: str) -> str:
    return f'Failed to pull image "{image}": {why}'


def never(image: str) -> str:
    return f'Container image "{image}" is not present with pull policy of Never'


def back_off(image: str, why: str = "") -> str:
    """The message of `ImagePullBackOff`; *why* is the failure before, without it this is the event."""
    return f'Back-off pulling image "{image}"' + (f": ErrImagePull: {why}" if why else "")


def pause(failures: int) -> float:
    """Seconds until a failed pull may be tried again: doubling, up to five minutes."""
    return min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(max(failures - 1, 0), 10))


def span(seconds: float) -> str:
    """A duration as Go prints it, to the millisecond: `312ms`, `2.5s`, `1m3.25s`."""
    if seconds < 1:
        return f"{round(seconds * 1000)}ms"
    minutes, rest = divmod(round(seconds, 3), 60)
    hours, minutes = divmod(int(minutes), 60)
    text = f"{rest:.3f}".rstrip("0").rstrip(".") + "s"
    return (f"{hours}h" if hours else "") + (f"{minutes}m" if hours or minutes else "") + text
