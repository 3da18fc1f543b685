"""The Secrets around a SampleSet: those it names, and the one with the token of its runtimes; pure.

Decisions learn which keys a Secret has, never what they are.
"""

from __future__ import annotations

from ..api.samplejob import JobType, SampleJob
from ..api.sampleset import SampleSet
from .contract import SecretQuestion, Snapshot, Token
from .dataengines import ENGINE_KEYS, JUICEFS, named, source_keys
from .dataruntimes import token_of


def lacking(data: SampleSet, engine: str, seen: Snapshot) -> str:
    """The Secret that the set names and that is not there, or not complete."""
    found = (unusable(question, keys, seen) for question, keys in secrets_of(data, engine))
    return next(filter(None, found), "")


def unusable(question: SecretQuestion, keys: tuple[str, ...], seen: Snapshot) -> str:
    """Why a Secret cannot be used, where it was looked at."""
    if question not in seen.answers:
        return ""
    sight = seen.answers[question]
    if sight is None:
        return f"Secret {question.name} does not exist in namespace {question.namespace}: create it"
    if missing := [key for key in keys if key not in sight.keys]:
        return f"Secret {question.name} lacks {', '.join(missing)} (a text on one line): add what is missing"
    return ""


def taken(data: SampleSet, seen: Snapshot) -> str:
    """Whether somebody else's Secret is where the token of the runtimes belongs."""
    sight = seen.answers.get(token_question(data))
    if sight is None or sight.owner == data.uid:
        return ""
    return f"Secret {token_of(data).name} exists and is not ours; it is left alone, delete or rename it"


def missing_token(data: SampleSet, seen: Snapshot) -> tuple[Token, ...]:
    question = token_question(data)
    if question not in seen.answers or seen.answers[question] is not None:
        return ()
    return (token_of(data),)


def secrets_of(data: SampleSet, engine: str) -> list[tuple[SecretQuestion, tuple[str, ...]]]:
    """The Secrets that must be there, and what must be in them."""
    found: list[tuple[SecretQuestion, tuple[str, ...]]] = []
    if engine == JUICEFS and (name := named(data.spec.secret_ref)):
        found.append((SecretQuestion(data.namespace, name), ENGINE_KEYS))
    if data.spec.source and (name := named(data.spec.source.secret_ref)):
        found.append((SecretQuestion(data.namespace, name), source_keys(data.spec.source.uri)))
    return found


def token_question(data: SampleSet) -> SecretQuestion:
    token = token_of(data)
    return SecretQuestion(token.namespace, token.name)


def wanted_keys(data: SampleSet, seen: Snapshot) -> set[str]:
    """The Secrets with keys of sources: of the set, and of the jobs that copy into it."""
    jobs = (j for j in seen.all(SampleJob) if j.spec.type is JobType.SYNC and of_set(j, data))
    refs = [data.spec.source and data.spec.source.secret_ref, *(j.spec.secret_ref for j in jobs)]
    return {name for ref in refs if ref and (name := named(ref))}


def of_set(job: SampleJob, data: SampleSet) -> bool:
    return job.spec.sample_set_ref is not None and job.spec.sample_set_ref.name == data.name
