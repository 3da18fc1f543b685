"""The table of contents: every component a pipeline can use."""

from __future__ import annotations

from ..component import Component
from . import (
    configure,
    converter,
    dataset,
    modelhub,
    paddlejob,
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
    configure.COMPONENT,
    converter.COMPONENT,
    uploader.COMPONENT,
)
