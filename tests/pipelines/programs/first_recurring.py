"""Recurring runs as a user of kfp 1.8 makes them: HOST, FOLDER of packages."""

import sys
import time
from pathlib import Path

import kfp
from kfp_server_api.exceptions import ApiException

host, folder = sys.argv[1], Path(sys.argv[2])
client = kfp.Client(host=host)
experiment = client.create_experiment("older nights")
package = str(folder / "first-chain.yaml")
job = client.create_recurring_run(
    experiment.id,
    "often",
    description="again and again",
    interval_second=1,
    params={"a": "5"},
    pipeline_package_path=package,
    no_catchup=True,
)
print("made", job.enabled, job.trigger.periodic_schedule.interval_second, job.max_concurrency)


def ended():
    runs = client.list_runs(experiment_id=experiment.id).runs or []
    return [r for r in runs if r.status == "Succeeded"]


until = time.monotonic() + 120
while not ended() and time.monotonic() < until:
    time.sleep(0.5)
client.disable_job(job.id)
print("ran", ended()[0].name.startswith("often "), client.get_recurring_run(job.id).enabled)
creators = [r.key.id for r in ended()[0].resource_references if r.key.type == "JOB"]
print("creator", creators == [job.id])
client.jobs.enable_job(job.id)
print("listed", [j.name for j in client.list_recurring_runs(experiment_id=experiment.id).jobs])
client.delete_job(job.id)
print("left", client.list_recurring_runs().jobs, bool(ended()))

nightly = {"start_time": "2090-01-01T00:00:00Z", "end_time": "2091-01-01T00:00:00Z", "enabled": False}
late = client.create_recurring_run(
    experiment.id, "late", cron_expression="0 30 2 * * ?", pipeline_package_path=package, **nightly
)
print("late", late.trigger.cron_schedule.cron, late.trigger.cron_schedule.start_time.year, late.enabled)
client.delete_job(late.id)
try:
    client.create_recurring_run(
        experiment.id, "never", cron_expression="0 30 2 * *", pipeline_package_path=package
    )
except ApiException as error:
    print("refused", error.status, "the second first" in error.body)
