"""The table of contents: every component a pipeline can use."""

from __future__ import annotations

from ..component import Component
from . import (
    configure,
    dataset,
    modelhub,
    paddlejob,
    samplejob,
    samples,
    sampleset,
    serving,
    training,
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
    configure.COMPONENT,
)
