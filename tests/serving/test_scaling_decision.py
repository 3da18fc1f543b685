"""The autoscaler as arithmetic: stories told in simulated time, with the real meter."""

import pytest

from paddlecloud.serving.meter import Meter
from paddlecloud.serving.scaling import Knobs, Measured, State, begun, decide, knobs_of

PREFIX = "autoscaling.knative.dev/"


class Story:
    """A revision whose pods are always as many as were asked for, looked at every second."""

    def __init__(self, knobs: Knobs, pods: int = 1) -> None:
        self.knobs, self.pods, self.now = knobs, pods, 1000.0
        self.meter, self.state, self.since = Meter(self.now), begun(knobs, pods, self.now), self.now

    def passes(self, seconds: int, *, busy: int = 0, rate: int = 0) -> int:
        """*busy* requests are under way all the time, or *rate* come and go each second."""
        for _ in range(seconds):
            while self.meter.under_way < busy:
                self.meter.came(self.now)
            while self.meter.under_way > busy:
                self.meter.went(self.now)
            for _ in range(rate):
                self.meter.came(self.now)
                self.meter.went(self.now)
            self.now += 1.0
            average = self.meter.rate if self.knobs.rps else self.meter.concurrency
            seen = Measured(
                average(self.now, self.knobs.window),
                average(self.now, self.knobs.panic_window),
                self.pods,
                self.now - self.since,
            )
            verdict = decide(self.knobs, seen, self.state, self.now)
            self.pods, self.state = verdict.pods, verdict.state
        return self.pods


def test_an_idle_service_rests_after_a_window_and_not_before() -> None:
    story = Story(Knobs(window=10))

    assert story.passes(9) == 1
    assert story.passes(1) == 0


def test_one_request_in_the_window_keeps_it_awake() -> None:
    story = Story(Knobs(window=10))
    story.passes(8, busy=1)

    assert story.passes(9) == 1
    assert story.passes(3) == 0


def test_a_smallest_number_is_kept() -> None:
    assert Story(Knobs(window=10, least=2), pods=2).passes(60) == 2


def test_pods_follow_the_requests_under_way() -> None:
    # 70 of 100 are aimed at: 350 make 5 pods.
    assert Story(Knobs(window=10)).passes(30, busy=350) == 5


def test_a_burst_is_noticed_in_the_panic_window_and_nothing_shrinks_while_it_lasts() -> None:
    story = Story(Knobs(target=10, utilization=1.0, window=60))
    assert story.passes(6, busy=100) == 10
    assert story.passes(50, busy=10) == 10
    assert story.passes(200, busy=10) == 1


def test_it_never_exceeds_the_largest_number() -> None:
    assert Story(Knobs(target=1, most=3, window=10)).passes(20, busy=50) == 3


def test_requests_a_second_can_be_what_counts() -> None:
    story = Story(Knobs(rps=True, target=10, utilization=0.5, window=10))

    assert story.passes(20, rate=20) == 4


def test_who_was_there_before_the_first_look_does_not_shrink_within_a_window() -> None:
    story = Story(Knobs(window=10), pods=8)

    assert story.passes(10) == 8
    assert story.passes(30) == 0


@pytest.mark.parametrize(
    "seen, state, pods",
    [
        (Measured(0, 0, 4, 100), State(), 2),
        (Measured(0, 0, 4, 100, reachable=False), State(), 0),
        (Measured(0, 0, 0, 0), State(), 0),
        (Measured(0.001, 0, 1, 100), State(), 1),
        (Measured(0, 0, 1, 5), State(), 1),
        (Measured(0, 0, 1, 60), State(), 0),
        (Measured(70, 70, 1, 60), State(), 1),
        (Measured(71, 71, 1, 60), State(), 2),
    ],
    ids=["halves", "unreachable", "nothing there", "a trace", "too early", "idle", "full", "over"],
)
def test_one_look(seen: Measured, state: State, pods: int) -> None:
    assert decide(Knobs(), seen, state, 1000.0).pods == pods


@pytest.mark.parametrize(
    "notes, limit, expected",
    [
        ({}, 0, Knobs()),
        ({"target": "10"}, 0, Knobs(target=10)),
        ({}, 5, Knobs(target=5)),
        ({"target": "10"}, 5, Knobs(target=5)),
        ({"target": "3"}, 5, Knobs(target=3)),
        ({"metric": "rps"}, 0, Knobs(rps=True, target=200)),
        ({"metric": "rps", "target": "10"}, 5, Knobs(rps=True, target=10)),
        ({"class": "hpa.autoscaling.knative.dev", "metric": "cpu"}, 0, Knobs(by_requests=False)),
        ({"window": "1m30s", "min-scale": "1", "max-scale": "4"}, 0, Knobs(window=90, least=1, most=4)),
        ({"target-utilization-percentage": "50", "panic-window-percentage": "20",
          "panic-threshold-percentage": "300"}, 0, Knobs(utilization=0.5, panic_part=0.2, panic_threshold=3)),
        ({"window": "soon", "target": "-1", "min-scale": "many", "max-scale": "nan"}, 0, Knobs()),
        ({"window": "1s"}, 0, Knobs(window=6)),
    ],
)  # fmt: skip
def test_the_settings_of_a_revision(notes: dict[str, str], limit: int, expected: Knobs) -> None:
    assert knobs_of({PREFIX + name: text for name, text in notes.items()}, limit) == expected


def test_a_request_counts_for_as_long_as_it_takes() -> None:
    meter = Meter(100.25)
    meter.came(100.25)
    meter.came(100.75)
    meter.went(101.5)
    meter.went(103.0)

    assert meter.concurrency(105.0, 10) * 10 == pytest.approx(0.5 + 2 * 0.75 + 1.5)
    assert meter.rate(105.0, 10) == pytest.approx(0.2)
    assert meter.concurrency(200.0, 10) == 0


def test_silence_begins_when_the_last_answer_has_gone_out() -> None:
    meter = Meter(0.0)
    assert meter.silent(10.0, 6) and not meter.silent(6.0, 6)
    meter.came(20.0)
    assert not meter.silent(100.0, 6), "somebody still waits for the answer"
    meter.went(100.0)
    assert not meter.silent(105.0, 6) and meter.silent(107.0, 6)
