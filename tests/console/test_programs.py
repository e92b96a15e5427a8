"""Programs of the operator's own: bounded in time and output, stopped when told, never in a shell."""

from __future__ import annotations

import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from console.model import GatewayError
from console.output import SHOWN_LINES, lines_of
from console.passwords import url_with_password
from console.programs import Ending, Program
from tests.console.test_config_layers import config_of
from tests.console.test_present import HOSTILE

if TYPE_CHECKING:
    from console.config import Context

SOON = 5.0
CANARY = "canary-9f3a/@ %"


def python(code: str) -> tuple[str, ...]:
    """A program in this Python."""
    return (sys.executable, "-S", "-c", code)


def alive(pid: int) -> bool:
    """Whether a process still runs; a zombie does not."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:  # noqa: PTH123
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_program_ends_with_its_code_and_its_output() -> None:
    program = Program(
        python("import sys; print('out', flush=True); print('err', file=sys.stderr); sys.exit(3)"),
        seconds=SOON,
    )
    outcome = program.run()
    assert (outcome.ending, outcome.code) == (Ending.DONE, 3)
    assert program.output == b"out\nerr\n"


def test_no_shell_reads_a_word() -> None:
    program = Program(["echo", "$HOME `id`; id | cat *"], seconds=SOON)
    program.run()
    assert program.output == b"$HOME `id`; id | cat *\n"


def test_a_program_has_no_terminal_and_nothing_to_read() -> None:
    program = Program(
        python(
            "import sys; print(sys.stdin.read() == '')\ntry: open('/dev/tty')\nexcept OSError: print('none')"
        ),
        seconds=SOON,
    )
    program.run()
    assert program.output == b"True\nnone\n"


@pytest.mark.parametrize("argv", [["no-such-program-at-all"], ["/"], ["echo", "a\0b"]])
def test_a_program_that_cannot_be_started_says_why(argv: list[str]) -> None:
    outcome = Program(argv, seconds=SOON).run()
    assert outcome.ending is Ending.NOT_STARTED
    assert outcome.reason


def test_a_program_past_its_time_is_ended_with_what_it_started() -> None:
    code = (
        "import os, signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = os.fork()\nif child: print(child, os.getpid(), flush=True)\ntime.sleep(60)"
    )
    program = Program(python(code), seconds=0.4)
    outcome = program.run()
    assert (outcome.ending, outcome.code) == (Ending.TIMED_OUT, None)
    assert outcome.seconds < SOON
    pids = {int(word) for word in program.output.split()}
    assert len(pids) == 2
    deadline = time.monotonic() + SOON
    while any(alive(pid) for pid in pids):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_program_is_stopped_from_another_thread() -> None:
    program = Program(["sleep", "60"], seconds=60)
    timer = threading.Timer(0.1, program.stop)
    timer.start()
    begun = time.monotonic()
    assert program.run().ending is Ending.STOPPED
    assert time.monotonic() - begun < SOON


def test_a_program_that_is_stopped_before_it_starts_does_not_go_on() -> None:
    program = Program(["sleep", "60"], seconds=60)
    program.stop()
    assert program.run().ending is Ending.STOPPED


def test_report_90_a_child_that_keeps_the_pipe_open_holds_nobody_up() -> None:
    program = Program(["sh", "-c", "sleep 3 & echo started"], seconds=60)
    outcome = program.run()
    assert (outcome.ending, outcome.code, program.output) == (Ending.DONE, 0, b"started\n")
    assert outcome.seconds < 2


def test_a_program_that_never_stops_writing_is_ended_at_the_bound() -> None:
    program = Program(["yes"], seconds=60, most=10_000)
    assert program.run().ending is Ending.TOO_MUCH
    assert len(program.output) == 10_000


def test_output_is_only_text() -> None:
    shown = lines_of(
        "\n".join([*HOSTILE, "tab\there", "line\r"]).encode("utf-8", errors="surrogatepass") + b"\xff\x1b[2J"
    )
    text = "".join(cell.text for line in shown for cell in line)
    assert "\x1b" not in text
    assert all(character.isprintable() for character in text)
    assert "<U+001B>" in text


def test_of_a_long_output_the_newest_lines_are_shown() -> None:
    shown = lines_of(b"x\n" * SHOWN_LINES + b"last\n" * 3)
    assert len(shown) == SHOWN_LINES + 1
    assert shown[0][0].text == "... 3 earlier lines are not shown"
    assert shown[-1][0].text == "last"


def context_with(*command: str) -> Context:
    """A context whose password such a command prints."""
    text = f'[contexts.a]\nurl = "postgresql://h/d"\npassword_command = {list(command)!r}\n'
    return config_of(text).contexts["a"]


def test_a_password_is_the_one_line_that_the_command_prints() -> None:
    url = url_with_password(context_with("echo", CANARY))
    assert url == "postgresql://h/d?password=canary-9f3a%2F%40%20%25"


def test_without_a_command_the_url_is_as_it_stands() -> None:
    url = '[contexts.a]\nurl = "postgresql://h/d?sslmode=require"\n'
    assert url_with_password(config_of(url).contexts["a"]) == "postgresql://h/d?sslmode=require"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("sh", "-c", f"echo '{CANARY}'; echo '{CANARY}' >&2; exit 3"), "ended with exit code 3"),
        (("sh", "-c", f"echo '{CANARY}'; echo more"), "printed 2 lines"),
        (("true", CANARY), "printed 0 lines"),
        (("sh", "-c", f"printf '{CANARY}\\377'".replace("%", "")), "not UTF-8"),
        (("/no/such/program", CANARY), "could not be started: No such file"),
        (("yes", CANARY), "gave no password"),
    ],
)
def test_a_command_that_gives_no_password_is_told_without_its_words(
    command: tuple[str, ...], said: str
) -> None:
    with pytest.raises(GatewayError, match=said) as caught:
        url_with_password(context_with(*command))
    assert "canary" not in str(caught.value)
    assert "canary" not in repr(caught.value.__cause__)
    assert caught.value.retryable


def test_a_command_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("console.passwords.PASSWORD_SECONDS", 0.2)
    begun = time.monotonic()
    with pytest.raises(GatewayError, match=r"no password within 0.2 s"):
        url_with_password(context_with("sleep", "60"))
    assert time.monotonic() - begun < SOON


def test_a_password_command_is_in_no_repr() -> None:
    assert "canary" not in repr(context_with("echo", CANARY))
