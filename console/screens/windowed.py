"""A filtered list whose columns are chosen, and whose window is written to a file."""

from __future__ import annotations

from abc import abstractmethod
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from console import export
from console.config.titles import shown_of
from console.export import Form
from console.present import Tone, own, safe, several
from console.screens.columns import ColumnsScreen
from console.screens.filtered import FilteredPage
from console.widgets.prompt import Purpose

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from console.widgets.listing import Listing

_FORMS = {form.value.removeprefix("."): form for form in Form}


class WindowPage(FilteredPage):
    """What is chosen of a list is kept by its name for the whole session."""

    @property
    @abstractmethod
    def list_name(self) -> str:
        """What the list is called in a configuration."""

    @abstractmethod
    def all_columns(self) -> tuple[Any, ...]:
        """All columns that the list has."""

    @abstractmethod
    def main_widget(self) -> Listing[Any]:
        """The list."""

    def titles(self) -> tuple[str, ...]:
        """The columns of the list."""
        return tuple(column.title for column in self.all_columns())

    # Columns

    def shown_columns(self) -> tuple[Any, ...]:
        """The columns that the operator has chosen, or else those that his configuration shows."""
        return shown_of(self.all_columns(), self._shown_places())

    def _shown_places(self) -> tuple[int, ...]:
        chosen = self.session.arrangements.of(self.list_name).columns
        return self._usual() if chosen is None else chosen

    def _usual(self) -> tuple[int, ...]:
        every = tuple(range(len(self.all_columns())))
        return self.session.columns.get(self.list_name, every)

    def do_columns(self) -> None:
        titles = [column.title for column in self.all_columns()]
        self.app.push_screen(ColumnsScreen(titles, self._shown_places(), self._usual()), self._choose)

    def _choose(self, places: tuple[int, ...] | None) -> None:
        if places is None:
            return
        self.session.arrangements.choose(self.list_name, None if places == self._usual() else places)
        self.main_widget().wear(self.shown_columns())
        self.update_lines()

    # Export

    def do_export(self) -> None:
        self._ask_for_file(Form.CSV)

    def take_export(self, text: str) -> None:
        """Export in the form that was named; ValueError for any other."""
        if text not in _FORMS:
            raise export.ExportError(f"export {text}: there are {' and '.join(_FORMS)}")
        self._ask_for_file(_FORMS[text])

    def _ask_for_file(self, form: Form) -> None:
        as_of = (self.as_of or datetime.now(UTC)).astimezone(UTC)
        self.open_prompt(Purpose.EXPORT, export.suggestion(self.list_name, form, as_of), ())

    def take(self, purpose: Purpose, text: str) -> None:
        """A file's name, or what every screen takes."""
        if purpose is not Purpose.EXPORT:
            super().take(purpose, text)
            return
        path, form = export.file_of(text)
        window = self.main_widget().window
        rows = [row for index, row in enumerate(window.rows) if not window.is_ghost(index)]
        self.close_prompt()
        self.run_worker(self._write(path, form, rows), group="export", exit_on_error=False)

    async def _write(self, path: Path, form: Form, rows: Sequence[Any]) -> None:
        try:
            written = await self.session.errands.run(partial(export.write, path, form, rows))
        except export.ExportError as error:
            self.say(safe(str(error), 600), Tone.WARN)
            return
        self.say(
            own(f"{several(len(rows), 'row')} of this window, no others, are in {safe(str(written), 600)}")
        )
