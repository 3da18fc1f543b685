"""What a SampleJob tells the runtimes: to whom, under which id, in which words; pure.

The id follows from the job and its options: told again it is the same operation, edited it is another one.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from ..api.core import Pod
from ..api.samplejob import JobType, SampleJob
from ..api.sampleset import SampleSet
from ..mirroring import covers
from .dataengines import JUICEFS, SCHEMES, elsewhere, named
from .mirrors import Mirrors, root_of

TERMINATE = "terminate"


def operation_name(job: SampleJob) -> str:
    said = json.dumps([job.uid, spec_options(job)], sort_keys=True)
    return f"{kind_of(job)}-{hashlib.sha256(said.encode()).hexdigest()[:20]}"


def kind_of(job: SampleJob) -> str:
    return job.spec.type.value if job.spec.type else ""


def spec_options(job: SampleJob) -> dict[str, Any]:
    given = {
        JobType.SYNC: job.spec.sync_options,
        JobType.WARMUP: job.spec.warmup_options,
        JobType.RMR: job.spec.rmr_options,
        JobType.CLEAR: job.spec.clear_options,
        JobType.FORECAST: job.spec.forecast_options,
    }
    found = given[job.spec.type] if job.spec.type else None
    keys = named(job.spec.secret_ref) if job.spec.type is JobType.SYNC else ""
    return {**(found.wire() if found else {}), **({"keys": keys} if keys else {})}


def body_of(job: SampleJob, data: SampleSet, mirrors: Mirrors, epoch: int | None = None) -> str:
    """The options as the runtimes read them: nothing secret, what is left out taken from the set.

    With *epoch*, those of a warm-up that goes on from epoch to epoch.
    """
    options = spec_options(job)
    if job.spec.type in (JobType.SYNC, JobType.FORECAST):
        options.setdefault("source", source_of(job, data))
        own = data.spec.source and options["source"] == data.spec.source.uri
        if (
            "keys" not in options
            and own
            and data.spec.source
            and (keys := named(data.spec.source.secret_ref))
        ):
            options["keys"] = keys
        options["source"] = mirrors.of(options["source"])
    if job.spec.type is JobType.WARMUP:
        options["partitions"] = data.spec.partitions
        if epoch is not None:
            # Of copies all have to be there before anybody reads; then the share of each epoch is enough.
            first = options.get("epoch") or 0
            options |= {"epoch": epoch, "shareOnly": data.status.engine == JUICEFS or epoch > first}
    return json.dumps(options, ensure_ascii=False)


def source_of(job: SampleJob, data: SampleSet) -> str:
    """What a sync reads: what the job names, else the source of the set."""
    own = data.spec.source.uri if data.spec.source else ""
    return (job.spec.sync_options.source if job.spec.sync_options else "") or own


def targets(job: SampleJob, data: SampleSet, pods: dict[int, Pod]) -> dict[int, Pod]:
    """Everybody; but one file system is changed by the first runtime alone."""
    one = data.status.engine == JUICEFS and job.spec.type in (JobType.SYNC, JobType.RMR)
    return {i: p for i, p in pods.items() if i < data.spec.partitions and (not one or i == 0)}


def mistake(job: SampleJob) -> str:
    """What is wrong with the job as it is written; empty when nothing is."""
    options = spec_options(job)
    for path in options.get("paths") or ():
        if ".." in str(path).split("/"):
            return f"path {path} leads out of the data set: leave out `..`"
    if job.spec.type is JobType.RMR and not options.get("paths"):
        return "say what to remove: rmrOptions.paths"
    warmup = job.spec.warmup_options
    if job.spec.type is JobType.WARMUP and warmup and warmup.ahead and warmup.strategy_name != "random":
        return "warmupOptions.ahead needs strategyName: random; in sequence all epochs read the same files"
    source = str(options.get("source") or "")
    if source and source.partition("://")[0] not in SCHEMES:
        return f"source {source.partition(':')[0]}: is of no kind that is known: {', '.join(sorted(SCHEMES))}"
    return elsewhere(job.spec.secret_ref, job.namespace)


def out_of_sight(job: SampleJob, data: SampleSet, mirrors: Mirrors) -> str:
    """Why a folder cannot be copied from: the pods of a set see the one of its own source."""
    asked = mirrors.of(str(spec_options(job).get("source") or ""))
    own = mirrors.of(data.spec.source.uri) if data.spec.source else ""
    root = root_of(own, mirrors.table)
    if asked.startswith("pvc://") and claim_of(asked) != claim_of(own):
        return f"the runtimes of SampleSet {data.name} see no claim {claim_of(asked)}: make a SampleSet of it"
    if not asked.startswith("file://") or (own.startswith("file://") and covers(root, asked)):
        return ""
    seen = f"only {root}" if root.startswith("file://") else "no folder of their node"
    return f"the runtimes of SampleSet {data.name} see {seen}, not {asked}: make a SampleSet of that source"


def claim_of(uri: str) -> str:
    """The claim that `pvc://CLAIM/folder` names; empty for other sources."""
    return uri.removeprefix("pvc://").partition("/")[0] if uri.startswith("pvc://") else ""
