"""Recurring runs as a user of kfp 2 makes them: HOST, FOLDER of packages."""

import sys
import time
from pathlib import Path

import kfp
from kfp_server_api.exceptions import ApiException

host, folder = sys.argv[1], Path(sys.argv[2])
client = kfp.Client(host=host)
experiment = client.create_experiment("nights").experiment_id
package = str(folder / "second-chain.yaml")
pipeline = client.upload_pipeline(package, pipeline_name="nightly")
[version] = client.list_pipeline_versions(pipeline.pipeline_id).pipeline_versions
often = client.create_recurring_run(
    experiment,
    "often",
    cron_expression="* * * * * *",
    params={"a": 5},
    pipeline_id=pipeline.pipeline_id,
    version_id=version.pipeline_version_id,
    no_catchup=True,
)
print("made", often.status, often.trigger.cron_schedule.cron, often.max_concurrency)


def ended():
    runs = client.list_runs(experiment_id=experiment).runs or []
    return [r for r in runs if r.state == "SUCCEEDED"]


until = time.monotonic() + 120
while not ended() and time.monotonic() < until:
    time.sleep(0.5)
client.disable_recurring_run(often.recurring_run_id)
known = client.get_recurring_run(often.recurring_run_id)
print("ran", ended()[0].display_name.startswith("often "), known.status)
print("of", ended()[0].recurring_run_id == often.recurring_run_id)
print("version", known.pipeline_version_reference.pipeline_version_id == version.pipeline_version_id)
client.enable_recurring_run(often.recurring_run_id)
listed = client.list_recurring_runs(experiment_id=experiment).recurring_runs
print("listed", [(r.display_name, r.status) for r in listed])
client.delete_recurring_run(often.recurring_run_id)
print("left", client.list_recurring_runs().recurring_runs, bool(ended()))

late = client.create_recurring_run(
    experiment,
    "late",
    interval_second=3600,
    start_time="2090-01-01T00:00:00Z",
    pipeline_package_path=package,
    enabled=False,
    max_concurrency=3,
)
periodic = late.trigger.periodic_schedule
print("late", periodic.interval_second, periodic.start_time.year, late.status, late.max_concurrency)
client.delete_recurring_run(late.recurring_run_id)
try:
    client.create_recurring_run(
        experiment, "many", interval_second=60, pipeline_package_path=package, max_concurrency=11
    )
except ApiException as error:
    print("refused", error.status, "from 1 to 10" in error.body)
