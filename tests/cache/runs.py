"""Runs of operations for tests: one that says nothing, one that keeps what it is told."""

from paddlecloud.cache.engine import Amount


class Quiet:
    def report(self, amount: Amount) -> None:
        pass

    def check(self) -> None:
        pass


class Recorded(Quiet):
    def __init__(self) -> None:
        self.amounts: list[Amount] = []

    def report(self, amount: Amount) -> None:
        self.amounts.append(amount)
