"""Metadata that the server sets is put back, whatever a client sends; but it must be of its type."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contracts.objects import config_map, core, jobs, paddle_job
from tests.kubernetes.rest import Rest

WRONG: list[tuple[str, Any, str]] = [
    ("generation", "x", "json: cannot unmarshal string into Go struct field {}generation of type int64"),
    ("generation", 1.5, "json: cannot unmarshal number 1.5 into Go struct field {}generation of type int64"),
    ("generation", True, "json: cannot unmarshal bool into Go struct field {}generation of type int64"),
    ("creationTimestamp", 5,
     "json: cannot unmarshal number into Go struct field {}creationTimestamp of type string"),
    ("creationTimestamp", "x",
     'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"'),
    ("deletionTimestamp", {},
     "json: cannot unmarshal object into Go struct field {}deletionTimestamp of type string"),
    ("deletionGracePeriodSeconds", "x",
     "json: cannot unmarshal string into Go struct field {}deletionGracePeriodSeconds of type int64"),
    ("uid", 5, "json: cannot unmarshal number into Go struct field {}uid of type types.UID"),
    ("resourceVersion", 5,
     "json: cannot unmarshal number into Go struct field {}resourceVersion of type string"),
    ("selfLink", [], "json: cannot unmarshal array into Go struct field {}selfLink of type string"),
    ("managedFields", 5,
     "json: cannot unmarshal number into Go struct field {}managedFields of type []v1.ManagedFieldsEntry"),
    ("managedFields", [5],
     "json: cannot unmarshal number into Go struct field {}managedFields of type v1.ManagedFieldsEntry"),
]  # fmt: skip
KINDS = [
    ("ConfigMap", core, config_map, "ObjectMeta.metadata."),
    ("PaddleJob", lambda namespace, _, name="": jobs(namespace, name), paddle_job, "ObjectMeta."),
]


@pytest.fixture(scope="module")
def place(rest: Rest) -> str:
    """One namespace for all cases: none of them leaves anything behind."""
    for kind, path, make, _ in KINDS:
        answer = rest.post(path("default", "configmaps"), make("typed"))
        assert answer.status in (201, 409), f"{kind}: {answer.text}"
    return "default"


@pytest.mark.parametrize(("kind", "path", "make", "struct"), KINDS, ids=[kind for kind, *_ in KINDS])
@pytest.mark.parametrize(("field", "value", "problem"), WRONG)
def test_metadata_of_a_wrong_type_is_refused(
    rest: Rest, place: str, kind: str, path: Any, make: Any, struct: str, field: str, value: Any, problem: str
) -> None:
    sentence = problem.format(struct)
    refusal = f'{kind} in version "v1" cannot be handled as a {kind}: {sentence}'
    body = make("other")
    body["metadata"][field] = value
    made = rest.post(path(place, "configmaps"), body, dryRun="All").expect(400)
    assert made["message"] == refusal

    object_path = path(place, "configmaps", "typed")
    known = rest.get(object_path).expect(200)
    known["metadata"][field] = value
    assert rest.put(object_path, known, dryRun="All").expect(400)["message"] == refusal

    merged = rest.merge(object_path, {"metadata": {field: value}}, dryRun="All").expect(422)
    assert merged["message"].startswith(' "" is invalid: patch: Invalid value: ')
    assert merged["message"].endswith(f": {sentence}")


@pytest.mark.parametrize(("kind", "path", "make", "_"), KINDS, ids=[kind for kind, *_ in KINDS])
def test_metadata_of_the_right_type_is_put_back(
    rest: Rest, place: str, kind: str, path: Any, make: Any, _: str
) -> None:
    body = make("other")
    body["metadata"] |= {
        "uid": "mine", "creationTimestamp": "2001-01-01T00:00:00Z", "deletionTimestamp": None,
        "selfLink": "/x", "deletionGracePeriodSeconds": 5,
    }  # fmt: skip
    made = rest.post(path(place, "configmaps"), body, dryRun="All").expect(201)["metadata"]
    assert made["uid"] != "mine" and made["creationTimestamp"] > "2020"
    assert not {"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"} & made.keys()


def test_a_strict_server_names_what_it_does_not_know_of_metadata(rest: Rest, place: str) -> None:
    body = paddle_job("other")
    body["metadata"]["zzz"] = 1
    refused = rest.post(jobs(place), body, dryRun="All", fieldValidation="Strict").expect(400)
    assert refused["message"] == (
        'PaddleJob in version "v1" cannot be handled as a PaddleJob: strict decoding error: unknown field '
        '"metadata.zzz"'
    )
