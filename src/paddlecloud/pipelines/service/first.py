"""The API as kfp 1.8 speaks it: v1beta1."""

from __future__ import annotations

import yaml

from ...api.workflowrun import PipelineRef, WorkflowRun
from ...api.workflowservice import Experiment, Pipeline, PipelineVersion
from ...errors import BadRequest, NotFound
from . import second
from .asking import listed
from .shared import Body, Call, Handler, of_spec, uploaded
from .views import experiment_v1, owned, pipeline_v1, run_v1, version_v1, workflow_manifest


async def list_experiments(call: Call) -> Body:
    return listed([experiment_v1(e) for e in await call.shelf.all(Experiment)], call.query, "experiments")


async def make_experiment(call: Call) -> Body:
    return experiment_v1(await call.shelf.add_experiment(call.text("name"), call.text("description")))


async def get_experiment(call: Call, id: str) -> Body:
    return experiment_v1(await call.shelf.one(Experiment, id))


async def list_pipelines(call: Call) -> Body:
    found = [await described(call, p) for p in await call.shelf.all(Pipeline)]
    return listed(found, call.query, "pipelines")


async def described(call: Call, pipeline: Pipeline) -> Body:
    return pipeline_v1(pipeline, await call.shelf.default_version(pipeline))


async def upload_pipeline(call: Call) -> Body:
    package = uploaded(call)
    name = call.query.get("name") or package.title
    pipeline = await call.shelf.add_pipeline(name, call.query.get("description") or package.description)
    version = await call.shelf.add_version(pipeline, package, name)
    return pipeline_v1(pipeline, version)


async def upload_version(call: Call) -> Body:
    pipeline = await call.shelf.one(Pipeline, call.query.get("pipelineid") or "")
    name, description = call.query.get("name") or "", call.query.get("description") or ""
    return version_v1(await call.shelf.add_version(pipeline, uploaded(call), name, description))


async def get_pipeline(call: Call, id: str) -> Body:
    return await described(call, await call.shelf.one(Pipeline, id))


async def set_default(call: Call, id: str, version: str) -> Body:
    pipeline = await call.shelf.one(Pipeline, id)
    await second.get_version(call, id, version)
    await call.shelf.change(pipeline, {"defaultVersion": version})
    return {}


async def template(call: Call, id: str) -> Body:
    version = await call.shelf.default_version(await call.shelf.one(Pipeline, id))
    if version is None:
        raise NotFound(f"pipeline {id} has no version")
    return await version_template(call, version.name)


async def version_template(call: Call, id: str) -> Body:
    version = await call.shelf.one(PipelineVersion, id)
    return {"template": yaml.safe_dump(await call.shelf.text(version.spec.package), sort_keys=False)}


async def list_versions(call: Call) -> Body:
    pipeline = await call.shelf.one(Pipeline, call.query.get("resource_key.id") or "")
    return listed([version_v1(v) for v in await call.shelf.versions(pipeline)], call.query, "versions")


async def get_version(call: Call, id: str) -> Body:
    return version_v1(await call.shelf.one(PipelineVersion, id))


async def delete_version(call: Call, id: str) -> Body:
    await call.shelf.remove(await call.shelf.one(PipelineVersion, id))
    return {}


async def list_runs(call: Call) -> Body:
    experiment = ""
    if call.query.get("resource_reference_key.type") == "EXPERIMENT":
        experiment = call.query.get("resource_reference_key.id") or ""
    runs = [r for r in await call.shelf.all(WorkflowRun) if not experiment or r.spec.experiment == experiment]
    names = {e.name: e.spec.display_name for e in await call.shelf.all(Experiment)}
    return listed([run_v1(r, references(r, names)) for r in runs], call.query, "runs")


def references(run: WorkflowRun, names: dict[str, str]) -> list[Body]:
    found = []
    if run.spec.experiment:
        found.append(owned("EXPERIMENT", run.spec.experiment, names.get(run.spec.experiment, "")))
    if run.spec.pipeline_version:
        found.append(owned("PIPELINE_VERSION", run.spec.pipeline_version, "", "CREATOR"))
    if run.spec.recurring_run:
        found.append(owned("JOB", run.spec.recurring_run, "", "CREATOR"))
    return found


async def make_run(call: Call) -> Body:
    return await shown(call, await call.shelf.start(*await asked_for(call)))


async def asked_for(call: Call) -> tuple[PipelineRef, Body]:
    """The package of the runs a client asks for, and what their spec says."""
    given = {r["key"]["type"]: r["key"]["id"] for r in call.body.get("resource_references") or ()}
    spec = call.body.get("pipeline_spec") or {}
    if experiment := given.get("EXPERIMENT", ""):
        await call.shelf.one(Experiment, experiment)
    parameters = {p["name"]: p.get("value", "") for p in spec.get("parameters") or ()}
    # Where artifacts go is told to every pipeline, whether it asked for it or not.
    parameters.pop("pipeline-root", None)
    version = given.get("PIPELINE_VERSION", "")
    reference, version, generation = await package_for(call, spec, version, parameters)
    return reference, {
        "parameters": parameters,
        "experiment": experiment,
        "generation": generation,
        "display_name": call.text("name"),
        "description": call.text("description"),
        "pipeline_version": version,
        "service_account": call.text("service_account"),
    }


async def package_for(call: Call, spec: Body, version: str, parameters: Body) -> tuple[PipelineRef, str, str]:
    if manifest := spec.get("workflow_manifest") or spec.get("pipeline_manifest"):
        package = of_spec(manifest)
        return await call.shelf.keep(package, parameters), "", package.generation
    if not version and spec.get("pipeline_id"):
        pipeline = await call.shelf.one(Pipeline, str(spec["pipeline_id"]))
        newest = await call.shelf.default_version(pipeline)
        version = newest.name if newest else ""
    if not version:
        raise BadRequest("the run names neither a workflow nor a pipeline nor a version of one")
    found = await call.shelf.one(PipelineVersion, version)
    return found.spec.package, found.name, found.spec.generation


async def shown(call: Call, run: WorkflowRun) -> Body:
    names = {e.name: e.spec.display_name for e in await call.shelf.all(Experiment)}
    manifest = workflow_manifest(run, await call.shelf.text(run.spec.pipeline))
    return {"run": run_v1(run, references(run, names)), "pipeline_runtime": {"workflow_manifest": manifest}}


async def get_run(call: Call, id: str) -> Body:
    return await shown(call, await call.shelf.run(id))


ROUTES: tuple[tuple[str, str, Handler], ...] = (
    ("GET", "healthz", second.health),
    ("GET", "experiments", list_experiments),
    ("POST", "experiments", make_experiment),
    ("GET", "experiments/{}", get_experiment),
    ("DELETE", "experiments/{}", second.delete_experiment),
    ("POST", "experiments/{}:archive", second.archive_experiment),
    ("POST", "experiments/{}:unarchive", second.unarchive_experiment),
    ("GET", "pipelines", list_pipelines),
    ("POST", "pipelines/upload", upload_pipeline),
    ("POST", "pipelines/upload_version", upload_version),
    ("GET", "pipelines/{}", get_pipeline),
    ("DELETE", "pipelines/{}", second.delete_pipeline),
    ("POST", "pipelines/{}/default_version/{}", set_default),
    ("GET", "pipelines/{}/templates", template),
    ("GET", "pipeline_versions", list_versions),
    ("GET", "pipeline_versions/{}", get_version),
    ("DELETE", "pipeline_versions/{}", delete_version),
    ("GET", "pipeline_versions/{}/templates", version_template),
    ("GET", "runs", list_runs),
    ("POST", "runs", make_run),
    ("GET", "runs/{}", get_run),
    ("DELETE", "runs/{}", second.delete_run),
    ("POST", "runs/{}:archive", second.archive_run),
    ("POST", "runs/{}:unarchive", second.unarchive_run),
    ("POST", "runs/{}/terminate", second.terminate_run),
    ("POST", "runs/{}/retry", second.retry_run),
)
