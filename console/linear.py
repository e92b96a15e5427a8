"""Regular expressions whose search takes time proportional to the text, whatever the pattern (console.md F6, 5.2).

Python's own engine goes back and tries again: a pattern such as `(a+)+$` holds the interpreter for ages, and with it
every key of the console. Here a pattern becomes a graph, and a text is followed through all its ways at once; what
needs a memory of the text - references back, looking around - is refused by name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Build = Callable[["Graph", int], int]
    """Adds a part of a pattern to a graph, before the node that follows it; gives the part's first node."""

LONGEST: Final = 200
"""Characters of a pattern."""
MOST_NODES: Final = 400
"""Nodes of its graph: a repeat is written out as often as it counts."""
MOST_STEPS: Final = 20_000
"""Steps that are remembered from one text to the next."""
_COUNT: Final = re.compile(r"\{(\d*)(,?)(\d*)\}")
_CLASSES: Final = "dDwWsS"
_MATCHED: Final = 0
"""The node that is reached where the pattern has been found."""


class PatternError(ValueError):
    """A pattern that means nothing, or that cannot be searched for in bounded time; the message says which."""


@dataclass(slots=True)
class Node:
    """A place in a pattern: passed by a character that `takes` lets through, freely, or `at` one end of the text."""

    to: tuple[int, ...]
    takes: Callable[[str], object] | None = None
    at: str = ""


class Graph:
    """The nodes of one pattern."""

    def __init__(self) -> None:
        self.nodes: list[Node] = [Node(())]

    def add(self, node: Node) -> int:
        """The new node's number; PatternError where there are too many."""
        if len(self.nodes) >= MOST_NODES:
            raise PatternError(f"more than {MOST_NODES} steps when its repeats are written out; count less")
        self.nodes.append(node)
        return len(self.nodes) - 1

    def reached(self, numbers: Iterable[int], ends: str) -> frozenset[int]:
        """All nodes that are come to without a character, at these ends of the text."""
        waiting, found = list(numbers), set[int]()
        while waiting:
            number = waiting.pop()
            node = self.nodes[number]
            if number in found:
                continue
            found.add(number)
            if node.takes is None and (not node.at or node.at in ends):
                waiting += node.to
        return frozenset(found)


class Pattern:
    """A compiled pattern. Upper and lower case are the same; PatternError for one that is refused."""

    def __init__(self, text: str) -> None:
        _check(text)
        self._graph = Graph()
        self._first = _Parser(text).whole()(self._graph, _MATCHED)
        self._again = self._graph.reached([self._first], "")
        self._steps: dict[tuple[frozenset[int], str], frozenset[int]] = {}

    def found_in(self, text: str) -> bool:
        """Whether any stretch of the text matches."""
        state = self._graph.reached([self._first], "^")
        for character in text:
            if _MATCHED in state:
                return True
            state = self._step(state, character)
        return _MATCHED in self._graph.reached(state, "$" if text else "^$")

    def _step(self, state: frozenset[int], character: str) -> frozenset[int]:
        known = self._steps.get((state, character))
        if known is not None:
            return known
        nodes = [self._graph.nodes[number] for number in state]
        passed = [to for node in nodes if node.takes is not None and node.takes(character) for to in node.to]
        found = self._graph.reached(passed, "") | self._again
        if len(self._steps) >= MOST_STEPS:
            self._steps.clear()
        self._steps[state, character] = found
        return found


def _check(text: str) -> None:
    """PatternError for what no engine takes, or what is too long."""
    if not text:
        raise PatternError("needs a pattern, as in ~worker-0[13]")
    if len(text) > LONGEST:
        raise PatternError(f"is {len(text):,} characters long; {LONGEST} is the most")
    try:
        re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise PatternError(f"is no pattern: {error}") from error


class _Parser:
    """Reads a pattern that Python's own compiler has found sound, from the left."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def whole(self) -> Build:
        """The pattern up to its end, or to a closing bracket."""
        ways = [self._sequence()]
        while self._take("|"):
            ways.append(self._sequence())
        return ways[0] if len(ways) == 1 else _either(ways)

    def _sequence(self) -> Build:
        parts: list[Build] = []
        while self._at < len(self._text) and self._text[self._at] not in "|)":
            parts.append(self._repeats(self._atom()))
        return _after_another(parts)

    def _atom(self) -> Build:
        start = self._at
        sign = self._text[start]
        self._at += 1
        if sign == "(":
            return self._group()
        if sign in "^$":
            return _at_end(sign)
        if sign == "\\":
            self._escape()
        elif sign == "[":
            self._set()
        return _character(self._text[start : self._at] if sign in ".[\\" else re.escape(sign))

    def _group(self) -> Build:
        if self._take("?") and not self._take(":"):
            raise PatternError("(?... looks around, names or changes things: that is not searched for here")
        inner = self.whole()
        self._at += 1
        return inner

    def _escape(self) -> None:
        sign = self._text[self._at]
        if sign.isalnum() and sign not in _CLASSES:
            raise PatternError(f"\\{sign} is not searched for here; there are \\d \\w \\s and their capitals")
        self._at += 1

    def _set(self) -> None:
        self._take("^")
        self._take("]")
        while not self._take("]"):
            self._at += 2 if self._text[self._at] == "\\" else 1

    def _repeats(self, part: Build) -> Build:
        """The part as often as its sign says; how eagerly makes no difference to whether it is found."""
        found = _COUNT.match(self._text, self._at)
        if found is not None and (found[1] or found[2]):
            self._at = found.end()
            least, most = int(found[1] or 0), int(found[3]) if found[3] else None
            bounds = (least, most if found[2] else least)
        elif self._at < len(self._text) and self._text[self._at] in _SIGNS:
            bounds = _SIGNS[self._text[self._at]]
            self._at += 1
        else:
            return part
        if self._text[self._at : self._at + 1] == "+":
            raise PatternError("a repeat that gives nothing back (*+ ++ ?+) is not searched for here")
        self._take("?")
        return _repeated(part, *bounds)

    def _take(self, sign: str) -> bool:
        there = self._text.startswith(sign, self._at)
        self._at += len(sign) if there else 0
        return there


_SIGNS: Final[dict[str, tuple[int, int | None]]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}


def _character(fragment: str) -> Build:
    takes = re.compile(fragment, re.IGNORECASE | re.DOTALL).fullmatch
    return lambda graph, following: graph.add(Node((following,), takes))


def _at_end(sign: str) -> Build:
    return lambda graph, following: graph.add(Node((following,), at=sign))


def _after_another(parts: list[Build]) -> Build:
    def build(graph: Graph, following: int) -> int:
        for part in reversed(parts):
            following = part(graph, following)
        return following

    return build


def _either(ways: list[Build]) -> Build:
    return lambda graph, following: graph.add(Node(tuple(way(graph, following) for way in ways)))


def _repeated(part: Build, least: int, most: int | None) -> Build:
    def build(graph: Graph, following: int) -> int:
        if most is None:
            loop = graph.add(Node((following,)))
            graph.nodes[loop].to = (part(graph, loop), following)
            following = loop
        for _ in range((most or least) - least):
            following = graph.add(Node((part(graph, following), following)))
        for _ in range(least):
            following = part(graph, following)
        return following

    return build
