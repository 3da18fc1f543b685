"""What the workers of a PaddleJob are told that run Paddle's own elastic launcher; pure.

The launcher numbers its peers itself and begins again by itself: so it is told neither a rank nor who the
others are, only where its etcd is and how many it may be. The names are those of the Go operator and those
that the launcher of today reads in place of its options.
"""

from __future__ import annotations

from ..api.paddlejob import MOST_PODS, PaddleJob

PORT = 2379
TIMEOUT = 60  # seconds the launcher waits for workers that could still come
RESTARTS = 10  # times a launcher lets its processes begin again: each change of size is one


def store_name(job: PaddleJob) -> str:
    """Of the Pod and of the Service of the job's etcd."""
    return f"{job.name}-etcd"


def launcher_defaults(job: PaddleJob) -> dict[str, str]:
    """What a template may say otherwise."""
    if not job.spec.elastic_launcher:
        return {}
    return {
        "PADDLE_ELASTIC_TIMEOUT": str(TIMEOUT),
        # By itself a launcher ends when a peer does.
        "PADDLE_ELASTIC_LEVEL": "1",
        "PADDLE_MAX_RESTART": str(RESTARTS),
        # By itself it draws ranks anew each time; so the first worker stays the one that tells most.
        "PADDLE_SORT_IP": "1",
    }


def launcher_variables(job: PaddleJob) -> dict[str, str]:
    """What holds whatever the template says; of an elastic job with workers."""
    worker = job.spec.worker
    if worker is None or not job.spec.elastic_launcher:
        return {}
    ident, server = f"{job.namespace}-{job.name}", f"{address(job)}:{PORT}"
    return {
        "PADDLE_ELASTIC_JOB_ID": ident,
        "PADDLE_ELASTIC_NP": str(worker.replicas),
        "PADDLE_ELASTIC_SERVER": server,
        "PADDLE_JOB_ID": ident,
        "PADDLE_MASTER": f"etcd://{server}",
        "PADDLE_NNODES": f"{least(job)}:{worker.limits or MOST_PODS}",
    }


def least(job: PaddleJob) -> int:
    """How many workers the job needs at least."""
    return max(1, job.spec.worker.requests or 1) if job.spec.worker else 1


def address(job: PaddleJob) -> str:
    """Of the Service, as a container finds it: by its variable, for not everywhere is there a DNS.

    A template that wants no such variables has to have names.
    """
    worker = job.spec.worker
    spec = worker.template.get("spec") or {} if worker else {}
    if spec.get("enableServiceLinks") is False:
        return store_name(job)
    return f"$({store_name(job).upper().replace('-', '_')}_SERVICE_HOST)"
