"""Which store a word means: an address, the path of a file, or the name of a context (ruling 62)."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from console import passwords, stores
from console.config import Config, Context, load
from console.config.context import NAME

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Target:
    """A store to open. `url` is for opening, not for showing; `context` is the one that named it."""

    url: str = field(repr=False)
    context: Context | None = None

    @property
    def secret(self) -> Callable[[], str] | None:
        """Gives the URL with its password, blocking; None where nothing has to be asked."""
        context = self.context
        if context is None or context.password_command is None:
            return None
        return lambda: passwords.url_with_password(context)


def target_of(word: str, config: Config) -> Target:
    """The store that a word means; NoStoreError where it means none, or two."""
    context = config.contexts.get(word)
    if context is None:
        return Target(_url_of(word, config))
    if Path(word).exists():
        raise stores.NoStoreError(
            f"{word!r} is a context and also a file here; write ./{word} for the file, or leave this folder"
        )
    return of_context(context)


def of_context(context: Context) -> Target:
    """The store of a context; NoStoreError where its file is missing."""
    try:
        return Target(stores.url_of(context.url.value), context)
    except stores.NoStoreError as error:
        raise stores.NoStoreError(f"context {context.name}: {error}") from error


def url_of(word: str) -> str:
    """The URL that a command opens, with the password that a context's command prints. Not for showing.

    A configuration that cannot be read is said whatever the word is, as the console does. Raises NoStoreError,
    ConfigError and GatewayError.
    """
    target = target_of(word, load())
    return target.url if target.secret is None else target.secret()


def _url_of(word: str, config: Config) -> str:
    try:
        return stores.url_of(word)
    except stores.NoStoreError as error:
        if not NAME.fullmatch(word) or not config.contexts:
            raise
        known = ", ".join(config.contexts)
        raise stores.NoStoreError(f"{error}; contexts are {known}") from error
