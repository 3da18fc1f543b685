"""A kopf operator on PaddleJobs: notes every job it sees in an annotation, and ends when told."""

import kopf


@kopf.on.create("batch.paddlepaddle.org", "v1", "paddlejobs")
def noticed(name: str, patch: kopf.Patch, **_: object) -> None:
    patch.metadata.annotations["example.org/noticed"] = name
