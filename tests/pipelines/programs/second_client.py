"""What a user of kfp 2 does with a service: HOST, FOLDER of packages."""

import sys
from pathlib import Path

import kfp
from kfp_server_api.exceptions import ApiException

host, folder = sys.argv[1], Path(sys.argv[2])
client = kfp.Client(host=host)
experiment = client.create_experiment("tries", description="what we try")
print("experiment", client.get_experiment(experiment_name="tries").experiment_id == experiment.experiment_id)

run = client.create_run_from_pipeline_package(
    str(folder / "second-chain.yaml"), arguments={"a": 5}, run_name="five", experiment_name="tries"
)
done = client.wait_for_run_completion(run.run_id, timeout=120, sleep_duration=1)
print("state", done.state)
print("tasks", sorted((t.display_name, t.state) for t in done.run_details.task_details))

pipeline = client.upload_pipeline(
    str(folder / "second-branches.yaml"), pipeline_name="kept", description="to keep"
)
version = client.upload_pipeline_version(
    str(folder / "second-chain.yaml"), pipeline_version_name="two", pipeline_id=pipeline.pipeline_id
)
print("pipeline", client.get_pipeline_id("kept") == pipeline.pipeline_id)
versions = client.list_pipeline_versions(pipeline.pipeline_id).pipeline_versions
print("versions", [v.display_name for v in versions])
second = client.run_pipeline(
    experiment.experiment_id,
    "of a version",
    pipeline_id=pipeline.pipeline_id,
    version_id=version.pipeline_version_id,
    params={"a": 5},
)
print("version run", client.wait_for_run_completion(second.run_id, timeout=120, sleep_duration=1).state)
print("runs", sorted(r.display_name for r in client.list_runs(experiment_id=experiment.experiment_id).runs))
client.archive_run(second.run_id)
print("archived", client.get_run(second.run_id).storage_state)

try:
    client.create_run_from_pipeline_package(str(folder / "second-chain.yaml"), arguments={"nobody": 1})
except ApiException as error:
    print("unknown", error.status, "nobody" in error.body)
failed = client.create_run_from_pipeline_package(str(folder / "second-exits.yaml"), arguments={})
done = client.wait_for_run_completion(failed.run_id, timeout=120, sleep_duration=1)
print("failed", done.state, "no luck" in done.error.message)
client.delete_run(failed.run_id)
client.delete_pipeline_version(pipeline.pipeline_id, version.pipeline_version_id)
client.delete_pipeline(pipeline.pipeline_id)
print("left", client.list_pipelines().pipelines)
