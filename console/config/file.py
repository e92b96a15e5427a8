"""Where the configuration lies, and reading it. A missing file is an empty configuration."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from console.config.problem import ConfigError
from console.config.statements import TooLongError, lines_of
from console.config.table import Document, Table
from console.config.whole import Config, config_of

if TYPE_CHECKING:
    from collections.abc import Mapping

CONFIG_VARIABLE: Final = "HOLDWATCH_CONFIG"
LARGEST: Final = 65_536
"""Bytes of a configuration; a larger file is something else."""
_NAME: Final = "config.toml"


def load(chosen: Path | None = None, environ: Mapping[str, str] = os.environ) -> Config:
    """The configuration in the file that was chosen, else in the user's own; raises ConfigError.

    A file that was named, by option or variable, must be there.
    """
    named = chosen or _named(environ)
    path = named or default_path()
    try:
        content = _content(path)
    except FileNotFoundError as error:
        if named is not None:
            raise ConfigError(str(path), "", "there is no such file; name one that exists") from error
        return Config(looked_at=path)
    except OSError as error:
        raise ConfigError(str(path), "", f"{error.strerror}; let this user read it") from error
    return parsed(content, path)


def parsed(content: bytes, path: Path) -> Config:
    """The configuration that a file's bytes say; raises ConfigError."""
    import tomllib

    name = str(path)
    if len(content) > LARGEST:
        raise ConfigError(name, "", f"is larger than {LARGEST:,} bytes; that is no configuration")
    try:
        text = content.decode("utf-8").replace("\r\n", "\n")
        document = Document(name, tomllib.loads(text), lines_of(text))
    except UnicodeDecodeError as error:
        raise ConfigError(name, "", "is not UTF-8; save it as UTF-8") from error
    except TooLongError as error:
        raise ConfigError(f"{name}:{error.args[0]}", "", "this value takes too many lines") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(name, "", f"is not TOML: {error}") from error
    return config_of(Table(document, (), document.tables), path)


def default_path() -> Path:
    """Where the file lies unless another is named, by the platform's custom."""
    from platformdirs import user_config_path

    return user_config_path("holdwatch") / _NAME


def _named(environ: Mapping[str, str]) -> Path | None:
    value = environ.get(CONFIG_VARIABLE, "")
    return Path(value) if value else None


def _content(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(LARGEST + 1)
