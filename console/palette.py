"""The palette: every verb of the present screen by name, run the same way as its key."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider

from console.acting.model import Route
from console.screens.leavable import Leavable
from console.screens.page import Page

if TYPE_CHECKING:
    from collections.abc import Callable

    from console.actions import Action


class Palette(CommandPalette, Leavable[None]):
    """Textual's, of which a second Enter takes away no more than itself."""


class VerbProvider(Provider):
    """The registry as palette entries."""

    async def discover(self) -> Hits:
        """All verbs, before anything is typed."""
        for action in self._offered():
            yield DiscoveryHit(_title(action), self._run(action), help=action.help)

    async def search(self, query: str) -> Hits:
        """The verbs that match what is typed."""
        matcher = self.matcher(query)
        for action in self._offered():
            score = matcher.match(_title(action))
            if score > 0:
                yield Hit(score, matcher.highlight(_title(action)), self._run(action), help=action.help)

    def _offered(self) -> tuple[Action, ...]:
        screen = self.screen
        return screen.session.registry.of(screen.PLACES) if isinstance(screen, Page) else ()

    def _run(self, action: Action) -> Callable[[], None]:
        return partial(_chosen, cast("Page", self.screen), action.name)


def _chosen(page: Page, name: str) -> None:
    page.session.route = Route.PALETTE
    page.perform(name)


def _title(action: Action) -> str:
    return f"{action.label}  ({action.all_keys})" if action.keys else action.label
