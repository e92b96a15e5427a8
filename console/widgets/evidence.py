"""One item of evidence as it is typed: where it was seen, what it shows, when, and a file by its digest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Input, Label

from console.acting.observed import seen_at, utc
from console.acting.resolution_form import Item
from console.acting.resolving import EvidenceFile, EvidenceKind, Shows
from console.present import Safe, Tone, own
from console.styles import beside
from console.widgets.cycle import Cycle
from console.widgets.entry import Entry

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from textual.app import ComposeResult

MOST_REFERENCE: Final = 1_000
_TIME_CELLS: Final = 24
_FILE_CELLS: Final = 34
OBSERVED: Final = "such as 5m ago, or 2026-05-04T14:08:10Z"
COVERS: Final = "or nothing: since when it has records"
FILE: Final = "or nothing: SHA-256 is kept"
_WAITING: Final = "file is being read"


class EvidenceBox(Vertical):
    """Instants are read when they are typed, so that `5m ago` stays where it was meant. `FileNamed` asks for a digest.

    `now` is the store's time, None before it has answered.
    """

    DEFAULT_CSS: ClassVar[str] = beside(__file__)

    @dataclass
    class FileNamed(Message):
        """A path was typed; its digest is wanted by `file_read`."""

        box: EvidenceBox
        path: str

    def __init__(self, number: int, now: Callable[[], datetime | None]) -> None:
        super().__init__()
        self._number = number
        self._now = now
        self._kind = Cycle(EvidenceKind.PROVIDER_CONSOLE)
        self._shows = Cycle(Shows.UNCLEAR)
        self._reference = Entry("   reference   ", most=MOST_REFERENCE)
        self._observed = Entry("   observed at ", most=40, cells=_TIME_CELLS)
        self._covers = Entry("   covers from ", most=40, cells=_TIME_CELLS)
        self._file = Entry("   file        ", most=1_000, cells=_FILE_CELLS)
        self._seen: datetime | None = None
        self._since: datetime | None = None
        self._digest: EvidenceFile | None = None
        self._wrong: dict[Entry, str] = {}

    def compose(self) -> ComposeResult:
        """Five lines."""
        with Horizontal(classes="line"):
            yield Label(self._title, markup=False, id="title")
            yield self._kind
            yield Label(own("  shows "), markup=False)
            yield self._shows
        yield self._reference
        yield self._observed
        yield self._covers
        yield self._file

    @property
    def _title(self) -> Safe:
        return own(f"{self._number:>2} kind        ")

    def become(self, number: int) -> None:
        """Another place among the items: one before it was taken away."""
        self._number = number
        for title in self.query("#title").results(Label):  # none before it is composed
            title.update(self._title)

    def on_mount(self) -> None:
        """What may be typed."""
        self._observed.tell(OBSERVED)
        self._covers.tell(COVERS)
        self._file.tell(FILE)

    def on_descendant_focus(self) -> None:
        """All of it is wanted in view, not its line alone."""
        self.call_after_refresh(self.scroll_visible, animate=False)

    @property
    def item(self) -> Item:
        """As it stands."""
        typed = (self._reference, self._observed, self._covers, self._file)
        return Item(
            self._kind.value,
            self._reference.value,
            self._shows.value,
            self._seen,
            self._since,
            self._digest,
            next(iter(self._wrong.values()), ""),
            blank=not any(entry.value.strip() for entry in typed),
        )

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        """Read it; the form hears of the change by the same message."""
        if event.input is self._observed.line:
            self._seen = self._instant(self._observed, "observed at")
        elif event.input is self._covers.line:
            self._since = self._instant(self._covers, "covers from")
        elif event.input is self._file.line:
            self._name_file()

    def _instant(self, entry: Entry, what: str) -> datetime | None:
        now, text = self._now(), entry.value.strip()
        self._wrong.pop(entry, None)
        if not text or now is None:
            entry.tell(OBSERVED if entry is self._observed else COVERS)
            return None
        try:
            at = seen_at(text, now)
        except ValueError as error:
            self._wrong[entry] = f"{what}: {error}"
            entry.tell(str(error), Tone.WARN)
            return None
        entry.tell(f"= {utc(at)}", Tone.GOOD)
        return at

    def _name_file(self) -> None:
        self._digest, path = None, self._file.value
        self._wrong.pop(self._file, None)
        self._file.tell("reading .." if path.strip() else FILE)
        if path.strip():
            self._wrong[self._file] = _WAITING
            self.post_message(self.FileNamed(self, path))

    def file_read(self, path: str, found: EvidenceFile | str) -> bool:
        """Take a digest, or why there is none; False where another path stands there by now."""
        if path != self._file.value:
            return False
        if isinstance(found, str):
            self._wrong[self._file] = f"file {found}"
            self._file.tell(f"file {found}", Tone.WARN)
            return True
        self._wrong.pop(self._file, None)
        self._digest = found
        short = f"sha256 {found.sha256[:4]}..{found.sha256[-4:]}  {found.size:,} bytes"
        self._file.tell(short, Tone.GOOD)
        return True
