"""What the `:` line may go on with: names of verbs, and behind each of them what it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from console import commands, theme
from console.addresses import NO_SOURCE, RESERVATION
from console.completion import NO_OFFER, Offer, Vocabulary, argument_offer, filter_offer, last_word, of_words
from console.money_words import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from console.completion import Completer
    from console.session import Session

_SPANS: Final = ("5m", "1h", "1d")


def completer(session: Session, titles: Sequence[str], held: Mapping[str, Iterable[str]]) -> Completer:
    """Completes a command: `titles` are the columns of the list in front, `held` values of fields that it shows."""
    takes = _takes(session, titles)
    names = of_words((*_names(session), *(f"{name} " for name in takes)))
    return lambda text: _offer(text, names, takes, session, held)


def _offer(
    text: str,
    names: Completer,
    takes: Mapping[str, Iterable[str]],
    session: Session,
    held: Mapping[str, Iterable[str]],
) -> Offer:
    from console import vocabularies

    word, blank, _ = text.partition(" ")
    if not blank:
        return names(text)
    name = commands.SHORT.get(word, word)
    screen = commands.LISTS[name][0] if name in commands.LISTS else name
    if screen in commands.SCREENS:
        return _filter(text, len(word) + 1, vocabularies.of_screen(screen).with_values(held), screen)
    if name.startswith("thr:"):
        return _last(text, _tabs())
    if name in session.registry.commands:
        return _last(text, (f"{each}=" for each in session.registry.commands[name].inputs))
    if name == RESERVATION:
        return _reservation(text)
    return argument_offer(text, len(word) + 1, takes.get(name, ()))


def _takes(session: Session, titles: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The verbs that take one word of a known few."""
    from console.export import Form

    return {
        commands.CONTEXT: tuple(session.contexts.config.contexts),
        "theme": theme.NAMES,
        "sort": tuple(titles),
        "export": tuple(form.value.removeprefix(".") for form in Form),
        commands.CAP: (commands.NO_CAP,),
        commands.CHANGED: _SPANS,
    }


def _names(session: Session) -> tuple[str, ...]:
    """What a line may begin with; screens and lists take a filter behind a blank."""
    verbs = [action.name for action in session.registry.actions]
    return (*verbs, *commands.SHORT, "thr:", "thread ", "at ", f"{RESERVATION} ")


def _filter(text: str, start: int, vocabulary: Vocabulary, screen: str) -> Offer:
    """The filter of a screen, with the order of its rows."""
    from console.lists.catalogue import titles

    begins = start + 1 if text[start:].startswith("/") else start
    columns = titles().get(screen, ())
    orders = ("store", *columns, *(f"-{each}" for each in columns))
    whole = Vocabulary((*vocabulary.words, commands.SORT), {**vocabulary.values, "sort": orders})
    offer = filter_offer(text[begins:], whole)
    return Offer(offer.start + begins, offer.words)


def _reservation(text: str) -> Offer:
    given = text.split(" ")[1:]
    if len(given) == 1:
        return _last(text, (f"{kind.value} " for kind in Kind))
    return _last(text, (f"{NO_SOURCE} ",)) if given[0] == Kind.DAY.value and len(given) == 2 else NO_OFFER


def _tabs() -> tuple[str, ...]:
    from console.screens.tabs import TABS

    return TABS


def _last(text: str, words: Iterable[str]) -> Offer:
    return argument_offer(text, last_word(text), words)
