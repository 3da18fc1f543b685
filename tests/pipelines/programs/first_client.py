"""What a user of kfp 1.8 does with a service: HOST, FOLDER of packages."""

import json
import sys
from pathlib import Path

import kfp
from kfp_server_api.exceptions import ApiException

host, folder = sys.argv[1], Path(sys.argv[2])
client = kfp.Client(host=host)
experiment = client.create_experiment("older tries")
print("experiment", client.get_experiment(experiment_name="older tries").id == experiment.id)

run = client.create_run_from_pipeline_package(
    str(folder / "first-chain.yaml"),
    arguments={"a": "5"},
    run_name="five",
    experiment_name="older tries",
    service_account="pipeline-runner",
)
done = client.wait_for_run_completion(run.run_id, 120)
print("status", done.run.status)
nodes = json.loads(done.pipeline_runtime.workflow_manifest)["status"]["nodes"]
print("nodes", sorted((n["displayName"], n["phase"]) for n in nodes.values()))

pipeline = client.upload_pipeline(str(folder / "first-branches.yaml"), pipeline_name="older")
version = client.upload_pipeline_version(str(folder / "first-chain.yaml"), "two", pipeline_id=pipeline.id)
print("versions", sorted(v.name for v in client.list_pipeline_versions(pipeline.id).versions))
second = client.run_pipeline(experiment.id, "of a version", version_id=version.id, params={"a": 5})
print("version run", client.wait_for_run_completion(second.id, 120).run.status)
print("runs", sorted(r.name for r in client.list_runs(experiment_id=experiment.id).runs))

try:
    client.create_run_from_pipeline_package(str(folder / "first-chain.yaml"), arguments={"nobody": "1"})
except ApiException as error:
    print("unknown", error.status, "nobody" in error.body)
failed = client.create_run_from_pipeline_package(str(folder / "first-exits.yaml"), arguments={})
done = client.wait_for_run_completion(failed.run_id, 120)
print("failed", done.run.status, "no luck" in done.run.error)
client.runs.delete_run(failed.run_id)
client.delete_pipeline(pipeline.id)
print("left", client.list_pipelines().pipelines)
