"""kr8s: create, read, label, list, delete; prints one line a thing that worked."""

import sys

import kr8s
from kr8s.objects import ConfigMap, new_class

namespace = sys.argv[1]
api = kr8s.api()
print("version", api.version()["major"])

made = ConfigMap({"metadata": {"name": "kr8s", "namespace": namespace}, "data": {"k": "v"}})
made.create()
print("exists", made.exists())
made.label({"colour": "red"})
print("listed", [c.name for c in kr8s.get("configmaps", namespace=namespace, label_selector="colour=red")])
made.patch({"data": {"k": "w"}})
print("data", ConfigMap.get("kr8s", namespace=namespace).data["k"])

PaddleJob = new_class(kind="PaddleJob", version="batch.paddlepaddle.org/v1", namespaced=True)
template = {"spec": {"containers": [{"name": "a", "image": "b"}]}}
job = PaddleJob(
    {
        "metadata": {"name": "train", "namespace": namespace},
        "spec": {"worker": {"replicas": 0, "template": template}},
    }
)
job.create()
print("job", job.spec.worker.replicas)
job.delete()
made.delete()
made.wait("delete", timeout=10)
print("gone", not made.exists())
