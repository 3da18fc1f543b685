"""The table of contents: what every property is tried with."""

from __future__ import annotations

from tests.properties import (
    data_sets,
    kubeflow_jobs,
    other_kinds,
    pipeline_runs,
    recurring_runs,
    training_jobs,
)

SCENARIOS = (
    *training_jobs.SCENARIOS,
    *kubeflow_jobs.SCENARIOS,
    *data_sets.SCENARIOS,
    *other_kinds.SCENARIOS,
    *pipeline_runs.SCENARIOS,
    *recurring_runs.SCENARIOS,
)
EDITABLE = (*training_jobs.EDITABLE, *kubeflow_jobs.EDITABLE, *data_sets.EDITABLE)
