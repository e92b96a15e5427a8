"""What the word being typed may become. Everything offered is known already: nothing asks the store for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from console.filter_words import field_of, quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    Completer = Callable[[str], "Offer"]
    """What may stand in the place of the last word of a line."""

MOST: Final = 200
"""Words that are offered at once."""
_CLOSED: Final = (":", "=", ",", "/")
"""Signs after which the word goes on."""


@dataclass(frozen=True, slots=True)
class Offer:
    """The words that may stand from `start` on; each begins as what is typed there."""

    start: int = 0
    words: tuple[str, ...] = ()

    def taken(self, text: str) -> str:
        """The text with as much as all words have in common; a single word is left behind."""
        if not self.words:
            return text
        made = text[: self.start] + _shared(self.words)
        if len(made) < len(text):
            return text
        whole = len(self.words) == 1 and not made.endswith(_CLOSED)
        return f"{made} " if whole else made

    def with_word(self, text: str, place: int) -> str:
        """The text with one of the words in its place."""
        return text[: self.start] + self.words[place]


def _shared(words: tuple[str, ...]) -> str:
    """What all words begin with: the first and the last of them in order differ soonest."""
    first, last = min(words), max(words)
    return next((first[:at] for at, letter in enumerate(first) if last[at : at + 1] != letter), first)


NO_OFFER: Final = Offer()


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words that a filter may begin with - a field ends in a colon - and what is known of a field's values:
    all of them, where they are a closed set.
    """

    words: tuple[str, ...] = ()
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def with_values(self, held: Mapping[str, Iterable[str]]) -> Vocabulary:
        """The same, with values that were read already for fields that have no closed set."""
        return Vocabulary(self.words, {**{name: tuple(each) for name, each in held.items()}, **self.values})


def last_word(text: str) -> int:
    """Where the last word begins: behind the last blank that stands in no quotation marks."""
    start, inside = 0, False
    for place, character in enumerate(text):
        if character == '"':
            inside = not inside
        elif character.isspace() and not inside:
            start = place + 1
    return start


def of_words(words: Iterable[str]) -> Completer:
    """Completes a whole line from a list."""
    known = tuple(words)
    return lambda text: Offer(0, _beginning(text, known))


def of_filter(vocabulary: Vocabulary) -> Completer:
    """Completes the last word of a filter: its field, or the value of a field."""
    return lambda text: filter_offer(text, vocabulary)


def filter_offer(text: str, vocabulary: Vocabulary) -> Offer:
    """Fields, or values of the field that the last word names; `!` stands before either."""
    start = last_word(text)
    word = text[start:]
    parts = field_of(word)
    if parts is None:
        return Offer(start, _fields(word, vocabulary))
    name, value = parts
    bare = name.removeprefix("!")
    asked = any(each.removeprefix("!").startswith(f"{bare}:") for each in vocabulary.words)
    known = vocabulary.values.get(bare, ()) if asked else ()
    lead, comma, typed = value.rpartition(",")
    before = word[: len(name) + 1] + lead + comma
    meant = [each for each in sorted(known) if each.startswith(typed.lstrip('"')) and each != typed]
    return Offer(start, tuple(f"{before}{quoted(each)}" for each in meant[:MOST]))


def argument_offer(text: str, start: int, words: Iterable[str]) -> Offer:
    """Completes all that is typed from `start` on, blanks and all."""
    return Offer(start, _beginning(text[start:], tuple(words)))


def _fields(word: str, vocabulary: Vocabulary) -> tuple[str, ...]:
    negative = word.startswith("!")
    plain = [each for each in vocabulary.words if not each.startswith("!")]
    names = [f"!{each}" for each in plain if each.endswith(":")] if negative else plain
    return _beginning(word, names)


def _beginning(typed: str, words: Iterable[str]) -> tuple[str, ...]:
    found = dict.fromkeys(word for word in words if word.startswith(typed) and word != typed)
    return tuple(found)[:MOST]
