"""The shell lines that do what the console is about to do, each with its whole target (console.md 3.1, row 16).

They run in an empty environment: a context is named with the configuration that has it, a file by its absolute path,
a server by its address. A password is in none of them: libpq has its own ways to it. A reason that nobody has typed
yet stands as `...`, which the commands refuse.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from console import stores
from console.acting.amounts import dollars
from console.acting.effect import phrase_of
from console.acting.plans import DecideWish, DeleteWish, ReconcileWish, ReleaseWish, SweepPart, SweepWish
from console.acting.reservation_names import name_of
from console.acting.resolving import Consumed, Deferred, Released
from console.addresses import NO_SOURCE
from console.config.file import default_path
from console.money_words import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime
    from pathlib import Path

    from console.acting.plans import Wish
    from console.acting.resolving import Answer, Evidence
    from console.config import Context
    from console.money_words import Address
    from console.session import Session

UNSAID: Final = "..."
"""Stands for a reason that was not typed yet; no command takes it for one."""
MOST_KEPT: Final = 4_000
"""Characters of a line that the audit keeps."""
MOST_WORDS: Final = 100
"""Ids that stand on a command line; more of them are piped into it."""
_UNITS: Final = (("d", timedelta(days=1)), ("h", timedelta(hours=1)), ("m", timedelta(minutes=1)))


@dataclass(frozen=True, slots=True)
class Aim:
    """A whole target: the context's name or the address, the configuration it needs, and whose rows are meant."""

    store: str
    config: Path | None = None
    tenant: str | None = None


def aim(context: Context | None, address: str, config: Path | None, tenant: str | None = None) -> Aim:
    """The target of a console or a script. `config` is the file that was read, None where there is none."""
    read = None if config is None or config == default_path() else config.absolute()
    return Aim(_runnable(address) if context is None else context.name, read, tenant)


def aim_of(session: Session) -> Aim:
    """The target of a session."""
    contexts = session.contexts
    tenant = session.settings.tenant.value
    return aim(contexts.current, session.gateway.label.address, contexts.config.file, tenant)


def _runnable(address: str) -> str:
    """An address as it is shown, as it can be opened: without the hidden options, a file from anywhere."""
    file = stores.file_of(address)
    if file is not None:
        return f"{stores.SQLITE}{file.absolute()}"
    place, _, options = address.partition("?")
    kept = "&".join(option for option in options.split("&") if not option.endswith("=***"))
    return f"{place}?{kept}" if kept else place


# Plans


def planning(target: Aim, wish: Wish) -> str:
    """How a wish is planned."""
    match wish:
        case DeleteWish(threads, alone):
            return _of_threads("delete", target, threads, ("--alone",) if alone else ())
        case ReleaseWish(threads):
            return _of_threads("release", target, threads, ())
        case ReconcileWish():
            return _of_rows(target, wish)
        case SweepWish():
            return line(target, ("plan", "sweep"), wish.tables, _sweep(wish))
        case DecideWish(shown, answer, evidence, reason, corrects):
            row = shown.story.row
            phrase = phrase_of(row, answer)
            return resolving(target, row.address, answer, evidence, phrase, reason, corrects)


def executing(target: Aim, plan: str, phrase: str, reason: str = UNSAID, rate: int | None = None) -> str:
    """How a stored plan is executed, and its job run; `rate` where one is said, 0 for no limit."""
    paced = () if rate is None else ("--rate", str(rate))
    options = (*_reason(reason), "--confirm", phrase, *paced)
    return line(target, ("execute",), (plan,), options)


def approving(target: Aim, plan: str, reason: str = UNSAID) -> str:
    """How another person approves a plan."""
    return line(target, ("plan", "approve"), (plan,), _reason(reason))


def giving_up(target: Aim, plan: str, reason: str = UNSAID) -> str:
    """How a plan is given up."""
    return line(target, ("plan", "cancel"), (plan,), _reason(reason))


# Jobs


def running(target: Aim, job: str) -> str:
    """How a job is gone on with."""
    return line(target, ("jobs", "run"), (job,), ())


def pausing(target: Aim, job: str, reason: str = UNSAID) -> str:
    """How a job is paused."""
    return line(target, ("jobs", "pause"), (job,), _reason(reason))


def resuming(target: Aim, job: str, reason: str = UNSAID) -> str:
    """How a paused job is let go on."""
    return line(target, ("jobs", "resume"), (job,), _reason(reason))


def ending(target: Aim, job: str, reason: str = UNSAID) -> str:
    """How a job is cancelled."""
    return line(target, ("jobs", "cancel"), (job,), _reason(reason))


# By hand


def resolving(
    target: Aim,
    address: Address,
    answer: Answer,
    evidence: Sequence[Evidence],
    phrase: str,
    reason: str = UNSAID,
    corrects: str | None = None,
) -> str:
    """How a reservation is decided; to defer it needs no reason but its note.

    Of a file that was looked at only the name is known: it is found where it lies.
    """
    told = tuple(word for item in evidence for word in ("--evidence", _evidence(item)))
    why = () if isinstance(answer, Deferred) and reason in {"", UNSAID} else _reason(reason)
    which = () if corrects is None else ("--corrects", corrects)
    options = (*_answer(answer), *told, *which, *why, "--confirm", phrase)
    return line(target, ("resolve",), (address.kind.value, address.source or NO_SOURCE, address.id), options)


def asking(target: Aim, operation: str) -> str:
    """How it is found out what became of a change."""
    return line(target, ("outcome",), (operation,), ())


def closing(target: Aim, operation: str, reason: str = UNSAID) -> str:
    """How the end of a change that nobody told it of is written down."""
    return line(target, ("outcome",), (operation,), ("--close", *_reason(reason)))


# Words


def line(
    target: Aim, verb: tuple[str, ...], named: Iterable[str], options: Iterable[str], *, piped: str = ""
) -> str:
    """A command: its verb, the store, what it is about behind it, then its options."""
    words, given = tuple(named), list(options)
    if target.config is not None:
        given += ["--config", str(target.config)]
    dashed = any(word.startswith("-") and word != "-" for word in words)
    ordered = [*given, "--", target.store, *words] if dashed else [target.store, *words, *given]
    return piped + " ".join(quoted(word) for word in ("holdwatch", *verb, *ordered))


def quoted(word: str) -> str:
    """One word for a shell. What a terminal would act on, or not show, is spelt out in octal."""
    if word.isprintable():
        return shlex.quote(word)
    return '"$(printf ' + shlex.quote("".join(map(_octal, word))) + ')"'


def _octal(character: str) -> str:
    if character.isprintable() and character not in "%\\":
        return character
    return "".join(f"\\{byte:03o}" for byte in character.encode())


def kept(command: str) -> str:
    """A line as the audit keeps it: one that is too long ends with a remark instead of its rest."""
    if len(command) <= MOST_KEPT:
        return command
    remark = f" # cut: {len(command)} characters"
    return command[: MOST_KEPT - len(remark)] + remark


def _reason(reason: str) -> tuple[str, ...]:
    return ("--reason", reason or UNSAID)


def _of_threads(verb: str, target: Aim, threads: Sequence[str], options: Sequence[str]) -> str:
    whose = () if target.tenant is None else ("--tenant", target.tenant)
    pipeable = all("\n" not in thread for thread in threads)
    if pipeable and (len(threads) > MOST_WORDS or "-" in threads):
        words = " ".join(map(quoted, threads))
        return line(target, ("plan", verb), ("-",), (*options, *whose), piped=f"printf '%s\\n' {words} | ")
    return line(target, ("plan", verb), threads, (*options, *whose))


def _of_rows(target: Aim, wish: ReconcileWish) -> str:
    options = ["--source", wish.source.value]
    if Kind.DAY in wish.kinds:
        options.append("--day")
    if Kind.METER in wish.kinds:
        options += [word for meter in wish.meters for word in ("--meter", meter)] or ["--meters"]
    if wish.consume is not None:
        options += ["--after-lease", "consume" if wish.consume else "release"]
    if wish.resolver is not None:
        options += ["--resolver", wish.resolver]
    rows = [name_of(each) or each.id for each in wish.addresses]
    if len(rows) > MOST_WORDS and all("\n" not in row for row in rows):
        words = " ".join(map(quoted, rows))
        return line(target, ("plan", "reconcile"), ("-",), options, piped=f"printf '%s\\n' {words} | ")
    return line(target, ("plan", "reconcile"), rows, options)


def _sweep(wish: SweepWish) -> list[str]:
    words: list[str] = []
    numbers = (("--max-checkpoints", wish.max_checkpoints), ("--max-events", wish.max_events))
    if SweepPart.THREADS in wish.parts:
        words += _spans((("--max-age", wish.max_age),))
        words += [word for name, count in numbers if count is not None for word in (name, str(count))]
    if SweepPart.TOMBSTONES in wish.parts:
        words += _spans((("--tombstones", wish.tombstone_age),))
    if SweepPart.LAPSED in wish.parts:
        words.append("--lapsed")
    if SweepPart.METERS in wish.parts and wish.before is not None:
        words += ["--meters-before", _instant(wish.before)]
        words += [word for meter in wish.meters for word in ("--meter", meter)]
    for name, text in (("--prefix", wish.prefix), ("--guard", wish.guard)):
        words += [name, text] if text else []
    return words


def _spans(given: Iterable[tuple[str, timedelta | None]]) -> list[str]:
    return [word for name, span in given if span is not None for word in (name, _span(span))]


def _span(span: timedelta) -> str:
    """As `span_of` reads it, to the second."""
    for unit, length in _UNITS:
        if span >= length and not span % length:
            return f"{span // length}{unit}"
    return f"{max(1, span // timedelta(seconds=1))}s"


def _instant(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")


def _answer(answer: Answer) -> tuple[str, ...]:
    match answer:
        case Consumed(None):
            return ("--consumed",)
        case Consumed(micro):
            return ("--consumed", "--amount", dollars(micro or 0))
        case Released():
            return ("--released",)
        case Deferred(until, note):
            return ("--defer-until", _instant(until), "--note", note)


def _evidence(item: Evidence) -> str:
    parts = {
        "kind": item.kind.value,
        "ref": item.reference,
        "observed": _instant(item.observed_at),
        "shows": item.shows.value,
    }
    if item.covers_from is not None:
        parts["covers"] = _instant(item.covers_from)
    if item.file is not None:
        parts["file"] = item.file.name
    return ",".join(f"{name}={value}" for name, value in parts.items())
