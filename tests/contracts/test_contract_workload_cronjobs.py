"""CronJobs: a Job for every moment of a schedule. A test moves the last moment back instead of waiting."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.contracts.workloads import Body, Workloads, name_of, owners, stamp, template
from tests.kubectl import Kubectl
from tests.kubernetes.rest import Rest

pytestmark = pytest.mark.needs_controllers
SCHEDULED = "batch.kubernetes.io/cronjob-scheduled-timestamp"


@pytest.fixture
def w(rest: Rest, namespace: str) -> Workloads:
    return Workloads(rest, namespace)


def hourly(minutes_ago: int = 10) -> tuple[str, datetime]:
    """A schedule of every hour whose last moment was so long ago."""
    when = (datetime.now(UTC) - timedelta(minutes=minutes_ago)).replace(second=0, microsecond=0)
    return f"{when.minute} * * * *", when


def due(w: Workloads, *, hours: int = 1, minutes_ago: int = 10, **spec: Any) -> datetime:
    """A CronJob that has missed its last moment and is let go now; the moment it should start."""
    schedule, when = hourly(minutes_ago)
    body = {
        "schedule": schedule,
        "suspend": True,
        "jobTemplate": {"spec": {"template": template(restartPolicy="Never")}},
        **spec,
    }
    w.make("cronjobs", "tick", body)
    before = {"lastScheduleTime": stamp(when - timedelta(hours=hours))}
    w.rest.merge(w.path("cronjobs", "tick", "status"), {"status": before}).expect(200)
    w.patch("cronjobs", "tick", {"spec": {"suspend": False}})
    return when


def job_of(w: Workloads, when: datetime) -> str:
    return f"tick-{int(when.timestamp()) // 60}"


def jobs_are(w: Workloads, *names: str) -> list[Body]:
    w.wait(lambda: w.names("jobs") == sorted(names), f"jobs {names}", lambda: w.names("jobs"))
    return w.all("jobs")


def finish(w: Workloads, name: str) -> None:
    w.wait(lambda: w.pods(f"job-name={name}"), f"the pod of {name}")
    w.end(*w.pods(f"job-name={name}"))
    w.told("jobs", name, "Complete", status="True")


def again(w: Workloads) -> datetime:
    """Another moment has passed meanwhile; let go anew, the controller looks at once."""
    schedule, later = hourly(5)
    w.patch("cronjobs", "tick", {"spec": {"schedule": schedule, "suspend": True}})
    w.patch("cronjobs", "tick", {"spec": {"suspend": False}})
    return later


def test_a_moment_that_was_missed_is_made_up_for(w: Workloads) -> None:
    when = due(w)
    (job,) = jobs_are(w, job_of(w, when))
    assert owners(job) == [("CronJob", "tick", True)]
    assert job["metadata"]["annotations"] == {SCHEDULED: stamp(when)}
    status = w.status_has("cronjobs", "tick", lastScheduleTime=stamp(when))
    (active,) = status["active"]
    assert (active["kind"], active["name"], active["uid"]) == ("Job", name_of(job), job["metadata"]["uid"])
    assert w.heard("tick", "SuccessfulCreate") == [f"Created job {name_of(job)}"]


def test_the_end_of_a_job_is_seen(w: Workloads) -> None:
    when = due(w)
    jobs_are(w, job_of(w, when))
    w.wait(lambda: w.status("cronjobs", "tick").get("active"), "an active job")
    finish(w, job_of(w, when))
    status = w.status_has("cronjobs", "tick", active=None)
    done = w.status("jobs", job_of(w, when))["completionTime"]
    assert status["lastSuccessfulTime"] == done
    assert w.heard("tick", "SawCompletedJob") == [
        f"Saw completed job: {job_of(w, when)}, condition: Complete"
    ]


def test_only_the_newest_of_many_missed_moments_is_made_up_for(w: Workloads) -> None:
    when = due(w, hours=5)
    jobs_are(w, job_of(w, when))


def test_too_late_is_too_late(w: Workloads) -> None:
    due(w, startingDeadlineSeconds=60)
    w.settle()
    assert w.names("jobs") == []


@pytest.mark.parametrize(
    "policy, there, event",
    [("Allow", 2, "SuccessfulCreate"), ("Forbid", 1, "JobAlreadyActive"), ("Replace", 1, "SuccessfulDelete")],
)
def test_one_moment_meets_the_work_of_another(w: Workloads, policy: str, there: int, event: str) -> None:
    when = due(w, concurrencyPolicy=policy, minutes_ago=30)
    jobs_are(w, job_of(w, when))
    w.status_has("cronjobs", "tick", lastScheduleTime=stamp(when))
    later = again(w)
    w.heard("tick", event)
    names = {"Allow": [when, later], "Forbid": [when], "Replace": [later]}[policy]
    assert len(jobs_are(w, *(job_of(w, n) for n in names))) == there


def test_old_jobs_are_forgotten(w: Workloads) -> None:
    when = due(w, successfulJobsHistoryLimit=1)
    finish(w, job_of(w, when))
    w.status_has("cronjobs", "tick", active=None)
    later = again(w)
    w.wait(lambda: job_of(w, later) in w.names("jobs"), "the next job")
    finish(w, job_of(w, later))
    jobs_are(w, job_of(w, later))


def test_a_time_zone_moves_the_moment(w: Workloads) -> None:
    when = due(w, timeZone="Asia/Kolkata", schedule=kolkata())
    del when
    w.wait(lambda: w.all("jobs"), "a job")
    (job,) = w.all("jobs")
    assert job["metadata"]["annotations"][SCHEDULED].endswith("+05:30")


def kolkata() -> str:
    when = datetime.now(UTC) - timedelta(minutes=10) + timedelta(hours=5, minutes=30)
    return f"{when.minute} * * * *"


def test_a_suspended_cron_job_starts_nothing(w: Workloads) -> None:
    schedule, when = hourly()
    body = {
        "schedule": schedule,
        "suspend": True,
        "jobTemplate": {"spec": {"template": template(restartPolicy="Never")}},
    }
    w.make("cronjobs", "tick", body)
    w.rest.merge(
        w.path("cronjobs", "tick", "status"),
        {"status": {"lastScheduleTime": stamp(when - timedelta(hours=1))}},
    )
    w.settle()
    assert w.names("jobs") == []


def test_labels_of_the_template_reach_the_job(w: Workloads) -> None:
    made = {
        "metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}},
        "spec": {"template": template(restartPolicy="Never")},
    }
    when = due(w, jobTemplate=made)
    (job,) = jobs_are(w, job_of(w, when))
    assert job["metadata"]["labels"]["a"] == "b" and job["metadata"]["annotations"]["c"] == "d"


def test_kubectl_makes_a_cron_job_and_a_job_of_it(w: Workloads, kubectl: Kubectl) -> None:
    kubectl("create", "cronjob", "tick", "--image=example/web:1", "--schedule=0 0 1 1 *")
    kubectl("create", "job", "now", "--from=cronjob/tick")
    assert owners(w.get("jobs", "now")) == [("CronJob", "tick", True)]
    w.wait(lambda: w.pods("job-name=now"), "a pod")
    assert "0 0 1 1 *" in kubectl("get", "cronjob", "tick")
