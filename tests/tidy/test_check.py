"""The command that checks everything: one failure anywhere is a failure, and the tests run all the same."""

from __future__ import annotations

import pytest

from tests import check

GOOD = check.Gate("good", ("-c", "print('quiet')"))
BAD = check.Gate("bad", ("-c", "import sys; print('what is wrong'); sys.exit(3)"))
SLOW = check.Gate("slow", ("-c", "import time; time.sleep(60)"))


class Pytest:
    """Stands for the last step, and notes that it was taken."""

    def __init__(self, *, passes: bool) -> None:
        self.passes = passes
        self.lengths: list[str] = []

    def __call__(self, length: str) -> bool:
        self.lengths.append(length)
        return self.passes


@pytest.mark.parametrize(
    ("gates", "passes", "code"),
    [((GOOD,), True, 0), ((GOOD, BAD, GOOD), True, 1), ((GOOD,), False, 1), ((BAD,), False, 1)],
)
def test_one_failure_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, gates: tuple[check.Gate, ...], passes: bool, code: int
) -> None:
    last = Pytest(passes=passes)
    monkeypatch.setattr(check, "GATES", gates)
    monkeypatch.setattr(check, "_tests_pass", last)
    assert check.main([]) == code
    assert last.lengths == ["check"]


def test_only_a_failed_step_shows_its_output(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(check, "GATES", (GOOD, BAD))
    monkeypatch.setattr(check, "_tests_pass", Pytest(passes=True))
    check.main(["long"])
    told = capsys.readouterr().out
    assert "quiet" not in told
    assert "what is wrong" in told
    assert told.splitlines()[-1] == "FAILED so far: bad"


def test_a_step_that_hangs_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "GATES", (SLOW,))
    monkeypatch.setattr(check, "GATE_SECONDS", 0.2)
    monkeypatch.setattr(check, "_tests_pass", Pytest(passes=True))
    assert check.main([]) == 1


def test_other_arguments_run_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    last = Pytest(passes=True)
    monkeypatch.setattr(check, "_tests_pass", last)
    assert check.main(["quick"]) == 64
    assert last.lengths == []


def test_tests_learn_how_long_to_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(check.LENGTH, "long")
    assert check.is_long()
    monkeypatch.setenv(check.LENGTH, "check")
    assert not check.is_long()
