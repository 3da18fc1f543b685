"""Print every training job of a namespace, how far it is and what it measured last."""

from paddlecloud import PaddleJob, connect

with connect() as cluster:
    for job in cluster.list(PaddleJob, "default").items:
        progress = job.status.progress
        metrics = progress.metrics if progress else {}
        print(job.name, job.status.phase, {name: metrics[name] for name in sorted(metrics)})
