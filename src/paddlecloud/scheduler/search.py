"""The search for a node, pod after pod, on one board.

What a node itself says to pods of one shape is remembered and asked again only of nodes that changed
since: a thousand equal pods cost little more than one question each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from . import claims, words
from .board import Board, Room
from .claims import Choice, Storage, Wanted
from .fitting import SINGLE_USER, Company, Misfit, closed, company_of, crowded, node_misfit
from .needs import Needs
from .scoring import lasting_score, liking_of, room_score, with_liking
from .selectors import names_asked


@dataclass(frozen=True)
class Found:
    node: str = ""
    claims: tuple[Choice, ...] = ()
    message: str = ""
    misfits: Mapping[str, Misfit] = field(default_factory=dict)


@dataclass
class Verdicts:
    """What each node says to one shape, as of the first *seen* changes of the board."""

    misfits: dict[str, Misfit] = field(default_factory=dict)
    scores: dict[str, float] = field(default_factory=dict)
    seen: int = 0
    _open: dict[str, float] = field(default_factory=dict)
    """The nodes that let the pod in if they have room, and what they are worth whoever is there."""

    def begin(self, needs: Needs, rooms: Mapping[str, Room]) -> None:
        for name, room in rooms.items():
            if misfit := closed(needs, room):
                self.misfits[name] = misfit
            else:
                self._open[name] = lasting_score(needs, room)
                self.ask(needs, name, room)

    def ask(self, needs: Needs, name: str, room: Room) -> None:
        """Ask again; what stands on the node may have changed."""
        if (worth := self._open.get(name)) is None:
            return
        if misfit := crowded(needs, room):
            self.misfits[name] = misfit
            self.scores.pop(name, None)
        else:
            self.misfits.pop(name, None)
            self.scores[name] = worth + room_score(needs, room)


class Search:
    def __init__(self, board: Board, storage: Storage) -> None:
        self.board = board
        self._storage = storage
        self._taken: set[str] = set()  # volumes given away in this round
        self._shapes: dict[str, Verdicts] = {}

    def settle(self, needs: Needs) -> Found:
        """Find the best node and put the pod there."""
        found = self._find(needs)
        if found.node:
            self.board.put(needs, found.node)
            self._taken |= {c.volume for c in found.claims if c.volume}
        return found

    def unsettle(self, needs: Needs, found: Found) -> None:
        self.board.remove(needs.key)
        self._taken -= {c.volume for c in found.claims if c.volume}

    def _find(self, needs: Needs) -> Found:
        rooms = self.board.rooms
        if not rooms:
            return Found(message=words.NO_NODES)
        asked = names_asked(needs.nodes) if needs.nodes else None
        if asked is not None and not asked:
            return self._nowhere(needs, words.CONFLICT)
        wanted = claims.wanted(needs.pod, needs.claims, self._storage) if needs.claims else Wanted()
        if wanted.obstacle:
            return self._nowhere(needs, wanted.obstacle)
        verdicts = self._verdicts(needs)
        misfits, scores, choices = verdicts.misfits, verdicts.scores, {}
        company = company_of(needs, self.board)
        if company or needs.claims or asked is not None:
            misfits, scores = dict(misfits), dict(scores)
            if asked is not None:
                for name in rooms.keys() - asked:
                    misfits[name] = Misfit((words.OTHER_NODES,), True)
                    scores.pop(name, None)
            for name in list(scores):
                misfit, choices[name] = self._beyond(wanted, company, rooms[name])
                if misfit:
                    misfits[name] = misfit
                    del scores[name]
        if not scores:
            return self._unfit(needs, wanted, misfits)
        if len(scores) > 1 and (liking := liking_of(needs, self.board)):
            scores = with_liking(scores, liking, rooms.values())
        # Of equals the first by name, whatever was asked last.
        best = max(scores.values())
        node = min(name for name, score in scores.items() if score == best)
        return Found(node, choices.get(node, ()))

    def _verdicts(self, needs: Needs) -> Verdicts:
        board = self.board
        verdicts = self._shapes.get(needs.shape)
        if verdicts is None:
            verdicts = self._shapes[needs.shape] = Verdicts()
            verdicts.begin(needs, board.rooms)
        else:
            for name in set(board.changes[verdicts.seen :]):
                verdicts.ask(needs, name, board.rooms[name])
        verdicts.seen = len(board.changes)
        return verdicts

    def _beyond(
        self, wanted: Wanted, company: Company | None, room: Room
    ) -> tuple[Misfit | None, tuple[Choice, ...]]:
        """What volumes and the pods around have against a node that fits by itself."""
        if any(self.board.users.get(claim, 0) for claim in wanted.single_user):
            return Misfit((SINGLE_USER,), False), ()
        reasons, choices = claims.on_node(wanted, room.node, self._storage, self._taken)
        if reasons:
            return Misfit(reasons, True), ()
        return company.misfit(room.node.metadata.labels) if company else None, choices

    def _nowhere(self, needs: Needs, problem: str) -> Found:
        rooms = self.board.rooms
        misfits = dict.fromkeys(rooms, Misfit((problem,), True))
        message = words.of_every_node(problem, len(rooms))
        return Found(
            message=words.with_preemption(message, self._preemption(needs, Wanted(), misfits)),
            misfits=misfits,
        )

    def _unfit(self, needs: Needs, wanted: Wanted, misfits: Mapping[str, Misfit]) -> Found:
        message = words.counted(misfits.values(), len(misfits))
        sentence = self._preemption(needs, wanted, misfits)
        return Found(message=words.with_preemption(message, sentence), misfits=dict(misfits))

    def _preemption(self, needs: Needs, wanted: Wanted, misfits: Mapping[str, Misfit]) -> str:
        """What kube-scheduler says when no pod of lower rank could make room; empty where one could.

        Nobody is evicted here: whoever builds that begins where this returns nothing.
        """
        if needs.patient:
            return words.NEVER
        left: dict[str, Misfit] = {}
        for name, misfit in misfits.items():
            if misfit.final:
                continue
            still = self._without_lower(needs, wanted, self.board.rooms[name])
            if still is None:
                return ""
            left[name] = still
        return words.futile(left, len(misfits))

    def _without_lower(self, needs: Needs, wanted: Wanted, room: Room) -> Misfit | None:
        """What is in the way once all pods of lower rank are gone from the node."""
        lower = [other for other in room.pods.values() if other.priority < needs.priority]
        if not lower:
            return Misfit((words.NO_VICTIMS,), True)
        for other in lower:
            self.board.remove(other.key)
        try:
            misfit = node_misfit(needs, room)
            return misfit or self._beyond(wanted, company_of(needs, self.board), room)[0]
        finally:
            for other in lower:
                self.board.put(other, room.node.name)
