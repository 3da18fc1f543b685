"""Lists: selection, pages that fit together, and what a resourceVersion asks for."""

from __future__ import annotations

import pytest
from tests.contracts.objects import config_map, core, jobs, paddle_job, pod
from tests.kubernetes.rest import Answer, Rest


def names(answer: Answer) -> list[str]:
    return [item["metadata"]["name"] for item in answer.expect(200)["items"]]


@pytest.fixture
def shelf(rest: Rest, namespace: str) -> str:
    """Five ConfigMaps: a to e; the vowels are labelled so, and `e` has a colour."""
    for name in "abcde":
        labels = {"class": "vowel" if name in "ae" else "consonant"} | (
            {"colour": "red"} if name == "e" else {}
        )
        rest.post(core(namespace, "configmaps"), config_map(name, labels)).expect(201)
    return namespace


@pytest.mark.parametrize(
    "selector, found",
    [
        ("class=vowel", "ae"),
        ("class==vowel", "ae"),
        ("class!=vowel", "bcd"),
        ("class in (vowel, consonant),colour", "e"),
        ("class in (vowel),!colour", "a"),
        ("colour notin (red),class", "abcd"),
        ("!class", ""),
    ],
)
def test_labels_select(rest: Rest, shelf: str, selector: str, found: str) -> None:
    listed = names(rest.get(core(shelf, "configmaps"), labelSelector=selector))
    assert [n for n in listed if n in "abcde"] == list(found)


@pytest.mark.parametrize(
    "selector, found",
    [
        ("metadata.name=c", "c"),
        ("metadata.name==c", "c"),
        ("metadata.name!=c", "abde"),
        ("metadata.name!=c,metadata.name!=d", "abe"),
        ("metadata.name=x", ""),
    ],
)
def test_fields_select(rest: Rest, shelf: str, selector: str, found: str) -> None:
    listed = names(rest.get(core(shelf, "configmaps"), fieldSelector=selector))
    assert [n for n in listed if n in "abcde"] == list(found)


def test_pods_can_be_selected_by_phase_and_by_node(rest: Rest, namespace: str) -> None:
    rest.post(core(namespace, "pods"), pod()).expect(201)
    assert names(rest.get(core(namespace, "pods"), fieldSelector="status.phase=Pending,spec.nodeName=")) == [
        "sleeper"
    ]
    assert names(rest.get(core(namespace, "pods"), fieldSelector="status.phase=Running")) == []
    assert names(rest.get(core(namespace, "pods"), fieldSelector="spec.nodeName=somewhere")) == []


def test_our_kinds_can_be_selected_by_name(rest: Rest, namespace: str) -> None:
    for name in ("one", "two"):
        rest.post(jobs(namespace), paddle_job(name)).expect(201)
    assert names(rest.get(jobs(namespace), fieldSelector="metadata.name=two")) == ["two"]


def test_a_list_knows_its_kind_and_its_version(rest: Rest, shelf: str) -> None:
    body = rest.get(core(shelf, "configmaps"), limit=500).expect(200)
    assert (body["kind"], body["apiVersion"]) == ("ConfigMapList", "v1")
    newest = max(int(item["metadata"]["resourceVersion"]) for item in body["items"])
    assert int(body["metadata"]["resourceVersion"]) >= newest
    # Clients take kind and version from the list.
    assert not any("kind" in item for item in body["items"])


def test_a_list_of_our_kind_names_it(rest: Rest, namespace: str) -> None:
    rest.post(jobs(namespace), paddle_job()).expect(201)
    body = rest.get(jobs(namespace)).expect(200)
    assert (body["kind"], body["apiVersion"]) == ("PaddleJobList", "batch.paddlepaddle.org/v1")
    assert [item["kind"] for item in body["items"]] == ["PaddleJob"]


def test_a_list_over_all_namespaces_holds_ours(rest: Rest, shelf: str) -> None:
    answer = rest.get("/api/v1/configmaps", labelSelector="colour=red")
    assert (shelf, "e") in {
        (i["metadata"]["namespace"], i["metadata"]["name"]) for i in answer.expect(200)["items"]
    }


def test_pages_are_one_snapshot_whatever_happens_between_them(rest: Rest, shelf: str) -> None:
    path = core(shelf, "configmaps")
    first = rest.get(path, labelSelector="class", limit=2)
    page = first.expect(200)
    assert names(first) == ["a", "b"]
    assert page["metadata"]["continue"]

    rest.delete(f"{path}/c").expect(200)
    rest.post(path, config_map("cc", {"class": "consonant"})).expect(201)

    second = rest.get(path, labelSelector="class", limit=2, **{"continue": page["metadata"]["continue"]})
    assert names(second) == ["c", "d"]
    assert second.version == first.version
    last = rest.get(path, labelSelector="class", limit=2, **{"continue": second.body["metadata"]["continue"]})
    assert names(last) == ["e"]
    assert not last.body["metadata"].get("continue")


def test_a_page_of_everything_says_how_much_remains(rest: Rest, namespace: str) -> None:
    for name in "abc":
        rest.post(jobs(namespace), paddle_job(name)).expect(201)
    page = rest.get(jobs(namespace), limit=1).expect(200)
    assert page["metadata"]["remainingItemCount"] == 2


def test_a_continuation_that_nobody_gave_is_refused(rest: Rest, shelf: str) -> None:
    answer = rest.get(core(shelf, "configmaps"), limit=2, **{"continue": "not-a-token"})
    assert answer.status == 400


@pytest.mark.parametrize("version", ["", "0", "then"])
def test_a_list_at_least_as_new_as_asked(rest: Rest, shelf: str, version: str) -> None:
    then = rest.get(core(shelf, "configmaps", "a")).version
    query = {"resourceVersion": then if version == "then" else version}
    assert {*"abcde"} <= {*names(rest.get(core(shelf, "configmaps"), **query))}


def test_an_exact_list_shows_the_past(rest: Rest, shelf: str) -> None:
    then = rest.get(core(shelf, "configmaps", "c")).version
    past = rest.get(
        core(shelf, "configmaps"), labelSelector="class", resourceVersion=then, resourceVersionMatch="Exact"
    )
    assert names(past) == ["a", "b", "c"]
    assert past.version == then


def test_a_match_without_a_version_is_refused(rest: Rest, shelf: str) -> None:
    answer = rest.get(core(shelf, "configmaps"), resourceVersionMatch="Exact").expect(422)
    assert "resourceVersionMatch is forbidden unless resourceVersion is provided" in answer["message"]


def test_a_version_that_is_no_number_is_refused(rest: Rest, shelf: str) -> None:
    answer = rest.get(core(shelf, "configmaps"), resourceVersion="tomorrow")
    assert answer.status in (400, 422)
