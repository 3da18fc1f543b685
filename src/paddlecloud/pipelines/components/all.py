"""The table of contents: every component a pipeline can use."""

from __future__ import annotations

from ..component import Component
from . import (
    canary,
    configure,
    converter,
    dataset,
    deposit,
    modelhub,
    paddlejob,
    promotion,
    requests,
    samplejob,
    samples,
    sampleset,
    serving,
    training,
    uploader,
    visualdl,
)

COMPONENTS: tuple[Component, ...] = (
    dataset.COMPONENT,
    training.COMPONENT,
    modelhub.COMPONENT,
    serving.COMPONENT,
    visualdl.COMPONENT,
    sampleset.COMPONENT,
    samplejob.COMPONENT,
    paddlejob.COMPONENT,
    samples.COMPONENT,
    deposit.COMPONENT,
    canary.COMPONENT,
    promotion.COMPONENT,
    requests.COMPONENT,
    configure.COMPONENT,
    converter.COMPONENT,
    uploader.COMPONENT,
)
