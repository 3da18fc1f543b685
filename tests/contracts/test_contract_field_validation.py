"""Bodies that do not fit their kind: unknown and repeated fields, values of the wrong type."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contracts.built_ins import SELECTOR, containers, template
from tests.contracts.objects import config_map, core
from tests.kubernetes.rest import Answer, Rest

NUMBER, STRING = "json: cannot unmarshal number into", "json: cannot unmarshal string into"


def deployment(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "x"}, "spec": {"selector": SELECTOR, "template": template(), **spec}}


def pod(**container: Any) -> dict[str, Any]:
    return {"metadata": {"name": "x"}, "spec": {"containers": containers(**container)}}


def create(rest: Rest, namespace: str, body: Any, plural: str = "pods", **query: str) -> Answer:
    path = f"/apis/apps/v1/namespaces/{namespace}/deployments"
    return rest.post(path if plural == "deployments" else core(namespace, plural), body, **query)


def warnings(answer: Answer) -> list[str]:
    return [text for key, text in answer.headers.items() if key == "Warning"]


@pytest.mark.parametrize(
    "plural, body, unknown",
    [
        ("deployments", deployment(replica=3), ["spec.replica"]),
        (
            "deployments",
            deployment(template=template(containers=containers(imagee="x"))),
            ["spec.template.spec.containers[0].imagee"],
        ),
        (
            "pods",
            {**pod(Image="x", foo={"a": 1}), "spc": 1},
            ["spec.containers[0].Image", "spec.containers[0].foo", "spc"],
        ),
        ("pods", {"metadata": {"name": "x", "labls": {}}, "spec": {}}, ["metadata.labls"]),
        ("configmaps", {**config_map("x"), "dta": None}, ["dta"]),
    ],
)
def test_strict_validation_names_every_unknown_field(
    rest: Rest, namespace: str, plural: str, body: dict[str, Any], unknown: list[str]
) -> None:
    answer = create(rest, namespace, body, plural, fieldValidation="Strict").expect(400)
    kind = {"deployments": "Deployment", "pods": "Pod", "configmaps": "ConfigMap"}[plural]
    told = ", ".join(f'unknown field "{path}"' for path in unknown)
    assert (answer["reason"], answer["message"]) == (
        "BadRequest",
        f'{kind} in version "v1" cannot be handled as a {kind}: strict decoding error: {told}',
    )


@pytest.mark.parametrize("query", [{}, {"fieldValidation": "Warn"}])
def test_otherwise_unknown_fields_are_left_out_with_a_warning(
    rest: Rest, namespace: str, query: dict[str, str]
) -> None:
    answer = create(rest, namespace, pod(imagee="x"), **query)
    assert "imagee" not in answer.expect(201)["spec"]["containers"][0]
    assert warnings(answer) == ['299 - "unknown field \\"spec.containers[0].imagee\\""']


def test_or_without_one(rest: Rest, namespace: str) -> None:
    answer = create(rest, namespace, pod(imagee="x"), fieldValidation="Ignore")
    assert "imagee" not in answer.expect(201)["spec"]["containers"][0]
    assert warnings(answer) == []


TWICE = (
    '{"metadata":{"name":"x"},"spec":{"containers":[{"name":"main","image":"a","image":"b"}],'
    '"hostNetwork":true,"hostNetwork":false}}'
)


def test_strict_validation_names_every_repeated_field(rest: Rest, namespace: str) -> None:
    answer = create(rest, namespace, TWICE, fieldValidation="Strict").expect(400)
    told = ", ".join(f'duplicate field "spec.{name}"' for name in ("containers[0].image", "hostNetwork"))
    assert answer["message"].endswith(f"strict decoding error: {told}")


def test_otherwise_the_last_word_counts(rest: Rest, namespace: str) -> None:
    answer = create(rest, namespace, TWICE)
    assert answer.expect(201)["spec"]["containers"][0]["image"] == "b"
    assert len(warnings(answer)) == 2


def test_a_text_that_looks_like_a_field_is_none(rest: Rest, namespace: str) -> None:
    body = config_map("x", a='{"b": 1, "b": 2}')
    create(rest, namespace, body, "configmaps", fieldValidation="Strict").expect(201)


def test_an_unknown_kind_of_validation_is_refused(rest: Rest, common_namespace: str) -> None:
    answer = create(rest, common_namespace, pod(), fieldValidation="Bogus").expect(422)
    assert answer["message"] == (
        'CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "Bogus": '
        'supported values: "", "Ignore", "Strict", "Warn"'
    )


@pytest.mark.parametrize(
    "plural, body, told",
    [
        ("deployments", deployment(replicas="3"),
         f"{STRING} Go struct field DeploymentSpec.spec.replicas of type int32"),
        ("deployments", deployment(replicas=3.5),
         "json: cannot unmarshal number 3.5 into Go struct field DeploymentSpec.spec.replicas of type int32"),
        ("deployments", deployment(replicas=1 << 40),
         "json: cannot unmarshal number 1099511627776 into Go struct field DeploymentSpec.spec.replicas "
         "of type int32"),
        ("deployments", deployment(replicas=True),
         "json: cannot unmarshal bool into Go struct field DeploymentSpec.spec.replicas of type int32"),
        ("deployments", deployment(paused="yes"),
         f"{STRING} Go struct field DeploymentSpec.spec.paused of type bool"),
        ("deployments", deployment(template=[]),
         "json: cannot unmarshal array into Go struct field DeploymentSpec.spec.template "
         "of type v1.PodTemplateSpec"),
        ("pods", pod(image=3), f"{NUMBER} Go struct field Container.spec.containers.image of type string"),
        ("pods", pod(args="x"), f"{STRING} Go struct field Container.spec.containers.args of type []string"),
        ("pods", pod(args=[1]), f"{NUMBER} Go struct field Container.spec.containers.args of type string"),
        ("pods", pod(env=[1]), f"{NUMBER} Go struct field Container.spec.containers.env of type v1.EnvVar"),
        ("pods", pod(imagePullPolicy=1),
         f"{NUMBER} Go struct field Container.spec.containers.imagePullPolicy of type v1.PullPolicy"),
        ("pods", pod(ports=[{"containerPort": "80"}]),
         f"{STRING} Go struct field ContainerPort.spec.containers.ports.containerPort of type int32"),
        ("pods", pod(livenessProbe={"httpGet": {"port": True}}),
         "json: cannot unmarshal bool into Go struct field HTTPGetAction.spec.containers.livenessProbe."
         "httpGet.port of type int32"),
        ("pods", pod(resources={"limits": [1]}),
         "json: cannot unmarshal array into Go struct field ResourceRequirements.spec.containers.resources."
         "limits of type v1.ResourceList"),
        ("pods", pod(resources={"limits": {"cpu": "abc"}}),
         "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"),
        ("pods", {"metadata": {"name": "x", "labels": {"a": 1}}, "spec": {}},
         f"{NUMBER} Go struct field ObjectMeta.metadata.labels of type string"),
        ("pods", {"metadata": "x"}, f"{STRING} Go struct field Pod.metadata of type v1.ObjectMeta"),
        ("pods", {"metadata": {"name": "x"}, "spec": "x"},
         f"{STRING} Go struct field Pod.spec of type v1.PodSpec"),
        ("configmaps", {"metadata": {"name": "x"}, "data": {"a": 1}},
         f"{NUMBER} Go struct field ConfigMap.data of type string"),
        ("secrets", {"metadata": {"name": "x"}, "data": {"a": 1}},
         f"{NUMBER} Go struct field Secret.data of type []uint8"),
        ("secrets", {"metadata": {"name": "x"}, "data": {"a": "***"}},
         "illegal base64 data at input byte 0"),
    ],
)  # fmt: skip
def test_a_value_of_the_wrong_type_is_refused_in_words(
    rest: Rest, common_namespace: str, plural: str, body: dict[str, Any], told: str
) -> None:
    answer = create(rest, common_namespace, body, plural).expect(400)
    kind = {"deployments": "Deployment", "pods": "Pod", "configmaps": "ConfigMap", "secrets": "Secret"}[
        plural
    ]
    assert (answer["reason"], answer["message"]) == (
        "BadRequest",
        f'{kind} in version "v1" cannot be handled as a {kind}: {told}',
    )


@pytest.mark.parametrize(
    "patch, told",
    [
        ({"data": {"a": 1}}, f"{NUMBER} Go struct field ConfigMap.data of type string"),
        ({"dta": {}}, 'strict decoding error: unknown field "dta"'),
    ],
)
def test_a_patch_that_makes_no_such_object_is_invalid(
    rest: Rest, namespace: str, patch: dict[str, Any], told: str
) -> None:
    rest.post(core(namespace, "configmaps"), config_map(a="1")).expect(201)
    path = core(namespace, "configmaps", "settings")
    answer = rest.merge(path, patch, fieldValidation="Strict").expect(422)
    assert answer["message"].startswith(' "" is invalid: patch: Invalid value: "{')
    assert answer["message"].endswith(told)
    assert rest.get(path).expect(200)["data"] == {"a": "1"}


def test_a_null_is_as_good_as_nothing(rest: Rest, namespace: str) -> None:
    body = pod(args=None, env=None, livenessProbe=None)
    made = create(rest, namespace, body, fieldValidation="Strict").expect(201)
    assert not {"args", "env", "livenessProbe"} & set(made["spec"]["containers"][0])


def test_an_empty_list_is_as_good_as_none(rest: Rest, namespace: str) -> None:
    made = create(rest, namespace, {**config_map("x"), "data": {}}, "configmaps").expect(201)
    assert "data" not in made
    assert "args" not in create(rest, namespace, pod(args=[])).expect(201)["spec"]["containers"][0]


@pytest.mark.parametrize(
    "metadata, told",
    [
        ({"labels": {"a": 1}}, f"{NUMBER} Go struct field ObjectMeta.labels of type string"),
        ({"labels": "x"}, f"{STRING} Go struct field ObjectMeta.labels of type map[string]string"),
        ({"finalizers": "x"}, f"{STRING} Go struct field ObjectMeta.finalizers of type []string"),
        ({"ownerReferences": [1]},
         f"{NUMBER} Go struct field ObjectMeta.ownerReferences of type v1.OwnerReference"),
    ],
)  # fmt: skip
def test_the_metadata_of_a_custom_object_has_types_too(
    rest: Rest, namespace: str, metadata: dict[str, Any], told: str
) -> None:
    body = sample_set(metadata)
    answer = rest.post(f"{SAMPLE_SETS}/namespaces/{namespace}/samplesets", body).expect(400)

    assert answer["message"] == f'SampleSet in version "v1alpha1" cannot be handled as a SampleSet: {told}'


def test_an_unknown_field_of_the_metadata_of_a_custom_object_is_left_out(rest: Rest, namespace: str) -> None:
    path = f"{SAMPLE_SETS}/namespaces/{namespace}/samplesets"
    refused = rest.post(path, sample_set({"strange": 1}), fieldValidation="Strict").expect(400)
    made = rest.post(path, sample_set({"strange": 1, "labels": None})).expect(201)

    assert 'strict decoding error: unknown field "metadata.strange"' in refused["message"]
    assert not {"strange", "labels"} & made["metadata"].keys()


SAMPLE_SETS = "/apis/batch.paddlepaddle.org/v1alpha1"


def sample_set(metadata: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "batch.paddlepaddle.org/v1alpha1",
        "kind": "SampleSet",
        "metadata": {"name": "x", **metadata},
        "spec": {"source": {"uri": "file:///tmp"}},
    }


MANY = {f"k{i:03}": 1 for i in range(120)}


def test_of_many_unknown_fields_of_a_built_in_object_a_hundred_are_named(rest: Rest, namespace: str) -> None:
    refused = create(rest, namespace, {**config_map("x"), **MANY}, "configmaps", fieldValidation="Strict")
    message = refused.expect(400)["message"]
    assert message.count("unknown field") == 100 and message.endswith('unknown field "k099"')


def test_of_many_long_warnings_the_first_are_cut_and_the_last_left_out(rest: Rest, namespace: str) -> None:
    body = {**config_map("x"), **{f"k{i:02}{'x' * 300}": 1 for i in range(40)}}
    made = create(rest, namespace, body, "configmaps", dryRun="All")
    assert made.status == 201
    shown = [text for key, text in made.headers.items() if key == "Warning"]
    assert len(shown) == 16 and {len(text) for text in shown} == {265}
