"""The official Python client: typed, dynamic and async; prints one line a thing that worked."""

import asyncio
import sys

from kubernetes.client.rest import ApiException

from kubernetes import client, config, dynamic, watch

namespace = sys.argv[1]
config.load_kube_config()
core = client.CoreV1Api()
custom = client.CustomObjectsApi()

body = client.V1ConfigMap(metadata=client.V1ObjectMeta(name="typed", labels={"a": "b"}), data={"k": "v"})
core.create_namespaced_config_map(namespace, body)
print("created", core.read_namespaced_config_map("typed", namespace).data)
core.patch_namespaced_config_map("typed", namespace, {"data": {"k": "w"}})
print("patched", core.list_namespaced_config_map(namespace, label_selector="a=b").items[0].data)

try:
    core.read_namespaced_config_map("nothing", namespace)
except ApiException as error:
    print("missing", error.status, error.reason)

seen = []
stream = watch.Watch()
for event in stream.stream(core.list_namespaced_config_map, namespace, label_selector="a", timeout_seconds=5):
    seen.append((event["type"], event["object"].metadata.name))
    if len(seen) == 1:
        core.delete_namespaced_config_map("typed", namespace)
    else:
        stream.stop()
print("watched", seen)

job = {
    "apiVersion": "batch.paddlepaddle.org/v1",
    "kind": "PaddleJob",
    "metadata": {"name": "train"},
    "spec": {"worker": {"replicas": 0, "template": {"spec": {"containers": [{"name": "a", "image": "b"}]}}}},
}
api = dynamic.DynamicClient(client.ApiClient())
jobs = api.resources.get(api_version="batch.paddlepaddle.org/v1", kind="PaddleJob")
jobs.create(body=job, namespace=namespace)
print("dynamic", jobs.get(name="train", namespace=namespace).spec.worker.replicas)
print(
    "custom",
    len(
        custom.list_namespaced_custom_object("batch.paddlepaddle.org", "v1", namespace, "paddlejobs")["items"]
    ),
)
jobs.delete(name="train", namespace=namespace)

print("pods", len(core.list_namespaced_pod(namespace).items))
print("nodes", isinstance(core.list_node().items, list))


async def asynchronous() -> None:
    from kubernetes import aio

    await aio.config.load_kube_config()
    async with aio.client.ApiClient() as api:
        v1 = aio.client.CoreV1Api(api)
        names = [n.metadata.name for n in (await v1.list_namespace()).items]
        print("async", namespace in names)


asyncio.run(asynchronous())
