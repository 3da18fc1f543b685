"""A real Knative Serving on the node of a real Kubernetes: its manifests and its programs, both unmodified.

There is no ingress for it here: `played_ingress` does what a controller of one does with Knative's objects,
and `asked` what its proxy does with a request. All else, the activator and the autoscaler too, is Knative's.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import urllib3
import yaml
from tests.contracts.definitions import DEFINITIONS, condition
from tests.images import making
from tests.kubernetes import node_images
from tests.kubernetes.build_extras import KNATIVE, KNATIVE_NEEDS, KNATIVE_PROGRAMS
from tests.kubernetes.our_controllers import PATHS
from tests.kubernetes.rest import Rest
from tests.kubernetes.waiting import until

Body = dict[str, Any]
SYSTEM = "knative-serving"
PARTS = ("activator", "autoscaler", "controller", "webhook")
NOBODY = "65532"
DOMAIN_SETTINGS, DOMAIN = "config-domain", "example.com"
WITHOUT = ("activator-hpa.yaml", "webhook-hpa.yaml")
"""Nobody measures processors here."""
MORE_PATHS = {
    "ConfigMap": "/api/v1/namespaces/{namespace}/configmaps",
    "Secret": "/api/v1/namespaces/{namespace}/secrets",
    "Service": "/api/v1/namespaces/{namespace}/services",
    "CustomResourceDefinition": DEFINITIONS,
    "MutatingWebhookConfiguration": "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
    "ValidatingWebhookConfiguration": "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
    "Certificate": "/apis/networking.internal.knative.dev/v1alpha1/namespaces/{namespace}/certificates",
    "Image": "/apis/caching.internal.knative.dev/v1alpha1/namespaces/{namespace}/images",
}
INGRESSES = "/apis/networking.internal.knative.dev/v1alpha1/ingresses"
WORDS = ("LoadBalancerReady", "NetworkConfigured", "Ready")
LIMIT = 180.0
"""Seconds; on an idle machine its parts are ready in ten."""
PATIENCE = 120.0
"""Seconds for an answer: the first one waits for a pod."""


def image_of(program: str) -> str:
    """Knative looks up no digests of images of `dev.local`: there is no registry to ask."""
    return f"dev.local/{program}:{KNATIVE.version}"


def archives(folder: Path, programs: Path) -> list[Path]:
    """One image a program of Knative, as the node imports them."""
    return [archive(folder, programs.parent / name) for name in KNATIVE_PROGRAMS]


def archive(folder: Path, program: Path) -> Path:
    content = [making.folder("bin"), making.file("bin/main", program.read_bytes(), mode=0o755)]
    made = making.image(content, run={"Entrypoint": ["/bin/main"], "User": NOBODY}, packed=False)
    return making.archive(folder / f"{program.name}.tar", making.docker_files(made, image_of(program.name)))


def hello(folder: Path, busybox: Path, word: str) -> Path:
    """An image that answers every `GET /` with *word*, which is also its tag."""
    serve = f"mkdir /tmp/w && echo {word} > /tmp/w/index.html && exec httpd -f -p 9292 -h /tmp/w"
    run = {"Env": ["PATH=/bin"], "Entrypoint": ["/bin/sh", "-c", serve]}
    made = making.image(list(node_images.small_system(busybox)), run=run)
    return making.archive(folder / f"hello-{word}.tar", making.docker_files(made, f"dev.local/hello:{word}"))


def install(rest: Rest, folder: Path) -> None:
    """As its release is installed, until its parts are ready and its webhooks refuse what is wrong."""
    bodies = manifests(folder)
    kinds = [body for body in bodies if body["kind"] == "CustomResourceDefinition"]
    hooks = [body for body in bodies if body["kind"].endswith("WebhookConfiguration")]
    for body in kinds:
        post(rest, body)
    for body in kinds:
        condition(rest, body, "Established")
    for body in bodies:
        if body not in kinds and body not in hooks:
            post(rest, body)
    for name in PARTS:
        until(partial(ready, rest, name), what=f"the {name} of Knative", limit=LIMIT)
    for body in hooks:
        post(rest, body)
    until(partial(refuses, rest), what="the webhook of Knative", limit=LIMIT)


def manifests(folder: Path) -> list[Body]:
    core = folder / "core"
    needed = [folder / Path(name).name for name in KNATIVE_NEEDS]
    files = [path for path in sorted(core.rglob("*.yaml")) if path.name not in WITHOUT]
    # A namespace and accounts come before what is in it, kinds before their objects.
    texts = [path.read_text(encoding="utf-8") for path in (*needed, *files)]
    bodies = [body for text in texts for body in yaml.safe_load_all(named(text)) if body]
    for body in bodies:
        if body["metadata"]["name"] == DOMAIN_SETTINGS:
            # Without a domain of its own a service is for the cluster alone.
            body["data"] |= {DOMAIN: ""}
    first = ("Namespace", "ServiceAccount", "ClusterRole")
    last = ("Certificate", "Image")
    return sorted(bodies, key=lambda body: (body["kind"] not in first, body["kind"] in last))


def named(text: str) -> str:
    """With the images that the node has, in place of those a release would name."""
    for program in KNATIVE_PROGRAMS:
        text = text.replace(f"ko://knative.dev/serving/cmd/{program}", image_of(program))
    return text


def post(rest: Rest, body: Body) -> None:
    paths = {**PATHS, **MORE_PATHS}
    path = paths[body["kind"]].format(namespace=body["metadata"].get("namespace", ""))
    rest.post(path, body).expect(201)


def ready(rest: Rest, deployment: str) -> bool:
    found = rest.get(f"{PATHS['Deployment'].format(namespace=SYSTEM)}/{deployment}").expect(200)
    return (found.get("status") or {}).get("readyReplicas") == 1


def services(namespace: str, name: str = "") -> str:
    path = f"/apis/serving.knative.dev/v1/namespaces/{namespace}/services"
    return f"{path}/{name}" if name else path


def refuses(rest: Rest) -> bool:
    spec = {
        "template": {"spec": {"containers": [{"image": image_of("controller")}]}},
        "traffic": [{"latestRevision": True, "percent": 50}],
    }
    kind = {"apiVersion": "serving.knative.dev/v1", "kind": "Service"}
    answer = rest.post(services("default"), {**kind, "metadata": {"name": "x"}, "spec": spec}, dryRun="All")
    return answer.status == 400 and "validation.webhook.serving.knative.dev" in answer.text


@contextmanager
def played_ingress(rest: Rest) -> Iterator[None]:
    """Every ingress is told to be in place, as the controller of one would tell it."""
    over = threading.Event()

    def play() -> None:
        while not over.wait(0.2):
            for found in rest.get(INGRESSES).expect(200)["items"]:
                about = found["metadata"]
                if (found.get("status") or {}).get("observedGeneration") != about["generation"]:
                    path = INGRESSES.replace("ingresses", f"namespaces/{about['namespace']}/ingresses")
                    rest.merge(f"{path}/{about['name']}/status", {"status": in_place(about["generation"])})

    thread = threading.Thread(target=play)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def in_place(generation: int) -> Body:
    balancer = {"ingress": [{"domainInternal": f"ingress.{SYSTEM}.svc.cluster.local"}]}
    return {
        "observedGeneration": generation,
        "conditions": [{"type": word, "status": "True"} for word in WORDS],
        "publicLoadBalancer": balancer,
        "privateLoadBalancer": balancer,
    }


def splits(rest: Rest, namespace: str, name: str) -> list[Body]:
    """What the proxy of an ingress would do with requests to a service from outside."""
    path = INGRESSES.replace("ingresses", f"namespaces/{namespace}/ingresses")
    rules = rest.get(f"{path}/{name}").expect(200)["spec"]["rules"]
    # Each tag has a rule of its own.
    [outside] = [rule for rule in rules if f"{name}.{namespace}.{DOMAIN}" in rule["hosts"]]
    found: list[Body] = outside["http"]["paths"][0]["splits"]
    return found


def asked(rest: Rest, split: Body) -> str:
    """The answer to a request that goes the way of *split*: to a pod its Service leads to, with its headers.

    That is the activator or a pod of the revision, as Knative decides; of Services that lead into another
    namespace the API is no proxy, of the pod it is.
    """
    place = f"/api/v1/namespaces/{split['serviceNamespace']}/endpoints/{split['serviceName']}"
    [behind] = rest.get(place).expect(200)["subsets"]
    pod = behind["addresses"][0]["targetRef"]
    port = next(port["port"] for port in behind["ports"] if port["name"] == "http")
    place = f"/api/v1/namespaces/{pod['namespace']}/pods/http:{pod['name']}:{port}/proxy/"
    headers = {"Authorization": f"Bearer {rest.token}", **split["appendHeaders"]}
    with urllib3.PoolManager(ca_cert_data=rest.ca, retries=False, timeout=PATIENCE) as pool:
        answer = pool.request("GET", f"{rest.server}{place}", headers=headers)
    assert answer.status == 200, answer.data
    return answer.data.decode().strip()
