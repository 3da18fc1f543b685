"""The programs of two stages, as Paddle 2.6 splits them, with what it loses on the way put back.

Its splitting works, but four things around it do not: what a worker sent is looked up in a list of lists; the
programs that it makes are dropped as it ends; gradients of a table are not pushed where there is a second
stage; a copy of an operator lacks its slots. Invariant: after `minimize`, `own` is this process's program.
"""

from __future__ import annotations

from typing import Any

from paddle.distributed.passes import ps_trainer_pass as passes
from paddle.distributed.ps.utils import ps_program_builder as builders

PAIRS = ("merged_variables_pairs", "merged_dense_pairs", "merged_sparse_pairs")
PUSH = "distributed_push_sparse"
BACKWARD = 1


class Kept:
    """What the splitting made."""

    def __init__(self, slots: int) -> None:
        self._slots = slots
        self.program: Any = None
        self.description: dict[str, Any] = {}

    def own(self) -> Any:
        """The program of this process's stage; None for a server."""
        if self.program is None:
            return None
        self.program._heter_pipeline_opt = {**self.description, "section_program": self.program}
        for block in self.program.blocks:
            for operator in block.ops:
                if operator.type == PUSH:
                    operator._set_attr("slots", [0] * self._slots)
        return self.program


def kept(table: str, slots: int) -> Kept:
    """From now on the programs of a split are kept, and gradients of *table* pushed."""
    found = Kept(slots)
    split, worker = passes.SplitHeterWorkerOpsPass, passes.SplitTrainerOpsPass
    rows, builder = passes.DistributedOpsPass, builders.HeterAsyncPsProgramBuilder
    make_second, make_first = split._create_heter_program, worker._create_trainer_program
    find, push, build = rows._get_pull_sparse_ops, rows._push_sparse_fuse, builder._build_programs

    def second(self: Any, program: Any, attrs: Any, made: Any, *rest: Any) -> None:
        found.program = made
        make_second(self, program, attrs, made, *rest)

    def first(self: Any, made: Any, *rest: Any) -> None:
        found.program = made
        make_first(self, made, *rest)

    def built(self: Any) -> None:
        build(self)
        found.description = getattr(self.cloned_main, "_heter_pipeline_opt", None) or {}

    def without(self: Any, name: str, attrs: Any) -> None:
        for key in PAIRS:
            attrs[key] = [[pair for pair in pairs if pair[1].merged_var.name != name] for pairs in attrs[key]]

    def lookups(self: Any, program: Any, attrs: Any) -> Any:
        # With a second stage it would look for a table of another name, and find no gradients of it.
        return find(self, program, {**attrs, "is_heter_ps_mode": False})

    def pushed(self: Any, program: Any, *rest: Any) -> None:
        push(self, program, *rest)
        block = program.global_block()
        for operator in block.ops:
            if operator.type == PUSH:
                operator._set_attr("op_device", "cpu")
                operator._set_attr("op_role", BACKWARD)
        # The gradients are pushed one by one; nothing is left to be summed up.
        for number, operator in reversed([*enumerate(block.ops)]):
            if operator.type == "sum" and operator.output("Out") == [f"{table}@GRAD"]:
                block._remove_op(number)

    split._create_heter_program, worker._create_trainer_program = second, first
    worker._remove_var_pair_by_grad = without
    rows._get_pull_sparse_ops, rows._push_sparse_fuse, builder._build_programs = lookups, pushed, built
    return found
