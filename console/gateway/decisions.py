"""An answer and its evidence, from the console's words to the engine's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.acting.resolving import Consumed, Deferred, Released

if TYPE_CHECKING:
    from console.acting.resolving import Answer, Evidence
    from engine.desk.resolve import model
    from engine.spend import answers


def answer_of(answer: Answer) -> answers.Answer:
    """As the engine takes it."""
    from engine.spend import answers

    match answer:
        case Consumed(micro):
            return answers.Consumed(micro)
        case Released():
            return answers.Released()
        case Deferred(until, note):
            return answers.Deferred(until, {"note": note})


def evidence_of(given: Evidence) -> model.Evidence:
    """As the engine takes it."""
    from engine.desk.resolve import model

    file = given.file
    return model.Evidence(
        model.EvidenceKind(given.kind.value),
        given.reference,
        given.observed_at,
        model.Shows(given.shows.value),
        given.covers_from,
        None if file is None else model.EvidenceFile(file.name, file.sha256, file.size),
    )
