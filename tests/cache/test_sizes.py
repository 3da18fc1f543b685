import pytest

from paddlecloud.sizes import count, size


@pytest.mark.parametrize(
    "number, text",
    [
        (0, "0 B"),
        (9, "9 B"),
        (10, "10 B"),
        (200, "200 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (4096, "4.0 KiB"),
        (10_188, "9.9 KiB"),
        (10_199, "10 KiB"),
        (1024**2 - 1, "1024 KiB"),
        (58 * 1024**2, "58 MiB"),
        (int(1.5 * 1024**3), "1.5 GiB"),
        (12 * 1024**3 + 5, "12 GiB"),
        (1024**6, "1.0 EiB"),
        (1024**7, "1024 EiB"),
    ],
)
def test_sizes_are_written_as_people_read_them(number: int, text: str) -> None:
    assert size(number) == text


@pytest.mark.parametrize("number, text", [(0, "0"), (999, "999"), (1000, "1,000"), (1234567, "1,234,567")])
def test_counts_have_separators(number: int, text: str) -> None:
    assert count(number) == text
