"""The API as kfp 2 speaks it: v2beta1."""

from __future__ import annotations

from ...api.workflowrun import PipelineRef, WorkflowRun
from ...api.workflowservice import Experiment, Pipeline, PipelineVersion
from ...errors import BadRequest, NotFound
from .asking import listed
from .shared import Body, Call, Handler, archive, of_spec, retry, stop, uploaded
from .views import experiment_v2, pipeline_v2, run_v2, version_v2


async def health(_: Call) -> Body:
    return {"multi_user": False}


async def list_experiments(call: Call) -> Body:
    return listed([experiment_v2(e) for e in await call.shelf.all(Experiment)], call.query, "experiments")


async def make_experiment(call: Call) -> Body:
    return experiment_v2(await call.shelf.add_experiment(call.text("display_name"), call.text("description")))


async def get_experiment(call: Call, id: str) -> Body:
    return experiment_v2(await call.shelf.one(Experiment, id))


async def delete_experiment(call: Call, id: str) -> Body:
    await call.shelf.remove(await call.shelf.one(Experiment, id))
    return {}


async def archive_experiment(call: Call, id: str) -> Body:
    return await archive(call, await call.shelf.one(Experiment, id), True)


async def unarchive_experiment(call: Call, id: str) -> Body:
    return await archive(call, await call.shelf.one(Experiment, id), False)


async def list_pipelines(call: Call) -> Body:
    return listed([pipeline_v2(p) for p in await call.shelf.all(Pipeline)], call.query, "pipelines")


async def make_pipeline(call: Call) -> Body:
    name = call.text("display_name") or call.text("name")
    return pipeline_v2(await call.shelf.add_pipeline(name, call.text("description")))


async def upload_pipeline(call: Call) -> Body:
    package = uploaded(call)
    name = call.query.get("name") or call.query.get("display_name") or package.title
    pipeline = await call.shelf.add_pipeline(name, call.query.get("description") or package.description)
    await call.shelf.add_version(pipeline, package, name)
    return pipeline_v2(pipeline)


async def upload_version(call: Call) -> Body:
    pipeline = await call.shelf.one(Pipeline, call.query.get("pipelineid") or "")
    name, description = call.query.get("name") or "", call.query.get("description") or ""
    package = uploaded(call)
    version = await call.shelf.add_version(pipeline, package, name, description)
    return version_v2(version, package.text)


async def get_pipeline(call: Call, id: str) -> Body:
    return pipeline_v2(await call.shelf.one(Pipeline, id))


async def pipeline_by_name(call: Call, name: str) -> Body:
    for pipeline in await call.shelf.all(Pipeline):
        if pipeline.spec.display_name == name:
            return pipeline_v2(pipeline)
    raise NotFound(f"there is no pipeline {name!r}")


async def delete_pipeline(call: Call, id: str) -> Body:
    pipeline = await call.shelf.one(Pipeline, id)
    for version in await call.shelf.versions(pipeline):
        await call.shelf.remove(version)
    await call.shelf.remove(pipeline)
    return {}


async def list_versions(call: Call, pipeline: str) -> Body:
    found = await call.shelf.versions(await call.shelf.one(Pipeline, pipeline))
    return listed([version_v2(v) for v in found], call.query, "pipeline_versions")


async def get_version(call: Call, pipeline: str, id: str) -> Body:
    version = await call.shelf.one(PipelineVersion, id)
    if version.spec.pipeline != pipeline:
        raise NotFound(f"pipeline {pipeline} has no version {id}")
    return version_v2(version, await call.shelf.text(version.spec.package))


async def delete_version(call: Call, pipeline: str, id: str) -> Body:
    await get_version(call, pipeline, id)
    await call.shelf.remove(await call.shelf.one(PipelineVersion, id))
    return {}


async def list_runs(call: Call) -> Body:
    experiment = call.query.get("experiment_id") or ""
    runs = [r for r in await call.shelf.all(WorkflowRun) if not experiment or r.spec.experiment == experiment]
    return listed([run_v2(r) for r in runs], call.query, "runs")


async def make_run(call: Call) -> Body:
    return await shown(call, await call.shelf.start(*await asked_for(call)))


async def asked_for(call: Call) -> tuple[PipelineRef, Body]:
    """The package of the runs a client asks for, and what their spec says."""
    parameters = dict((call.body.get("runtime_config") or {}).get("parameters") or {})
    experiment = call.text("experiment_id") or call.query.get("experiment_id") or ""
    if experiment:
        await call.shelf.one(Experiment, experiment)
    reference, version, generation = await package_for(call, parameters)
    return reference, {
        "parameters": parameters,
        "experiment": experiment,
        "generation": generation,
        "display_name": call.text("display_name"),
        "description": call.text("description"),
        "pipeline_version": version,
        "service_account": call.text("service_account"),
    }


async def package_for(call: Call, parameters: Body) -> tuple[PipelineRef, str, str]:
    """The package of a run, the version it is of, and its generation."""
    if spec := call.body.get("pipeline_spec"):
        package = of_spec(spec)
        return await call.shelf.keep(package, parameters), "", package.generation
    reference = call.body.get("pipeline_version_reference") or {}
    id = str(reference.get("pipeline_version_id") or "")
    if not id:
        pipeline = await call.shelf.one(Pipeline, str(reference.get("pipeline_id") or ""))
        newest = await call.shelf.default_version(pipeline)
        if newest is None:
            raise BadRequest(f"pipeline {pipeline.spec.display_name} has no version")
        id = newest.name
    version = await call.shelf.one(PipelineVersion, id)
    return version.spec.package, version.name, version.spec.generation


async def shown(call: Call, run: WorkflowRun) -> Body:
    text = await call.shelf.text(run.spec.pipeline)
    return run_v2(run, text, await pipeline_of(call, run.spec.pipeline_version))


async def pipeline_of(call: Call, version: str) -> str:
    """The id of the pipeline that a version is of; empty where there is none any more."""
    found = await call.shelf.client.find(PipelineVersion, call.shelf.namespace, version) if version else None
    return found.spec.pipeline if found else ""


async def get_run(call: Call, id: str) -> Body:
    return await shown(call, await call.shelf.run(id))


async def delete_run(call: Call, id: str) -> Body:
    await call.shelf.remove(await call.shelf.run(id))
    return {}


async def archive_run(call: Call, id: str) -> Body:
    return await archive(call, await call.shelf.run(id), True)


async def unarchive_run(call: Call, id: str) -> Body:
    return await archive(call, await call.shelf.run(id), False)


async def terminate_run(call: Call, id: str) -> Body:
    return await stop(call, await call.shelf.run(id))


async def retry_run(call: Call, id: str) -> Body:
    return await retry(call, await call.shelf.run(id))


ROUTES: tuple[tuple[str, str, Handler], ...] = (
    ("GET", "healthz", health),
    ("GET", "experiments", list_experiments),
    ("POST", "experiments", make_experiment),
    ("GET", "experiments/{}", get_experiment),
    ("DELETE", "experiments/{}", delete_experiment),
    ("POST", "experiments/{}:archive", archive_experiment),
    ("POST", "experiments/{}:unarchive", unarchive_experiment),
    ("GET", "pipelines", list_pipelines),
    ("POST", "pipelines", make_pipeline),
    ("POST", "pipelines/upload", upload_pipeline),
    ("POST", "pipelines/upload_version", upload_version),
    ("GET", "pipelines/names/{}", pipeline_by_name),
    ("GET", "pipelines/{}", get_pipeline),
    ("DELETE", "pipelines/{}", delete_pipeline),
    ("GET", "pipelines/{}/versions", list_versions),
    ("GET", "pipelines/{}/versions/{}", get_version),
    ("DELETE", "pipelines/{}/versions/{}", delete_version),
    ("GET", "runs", list_runs),
    ("POST", "runs", make_run),
    ("GET", "runs/{}", get_run),
    ("DELETE", "runs/{}", delete_run),
    ("POST", "runs/{}:archive", archive_run),
    ("POST", "runs/{}:unarchive", unarchive_run),
    ("POST", "runs/{}:terminate", terminate_run),
    ("POST", "runs/{}:retry", retry_run),
)
