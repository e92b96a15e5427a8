"""The page and the files that it asks for: its own, and those of the textual-serve that is installed.

All of them come from here. The policy sent with the page forbids the browser to ask anybody else, whatever a
file might try.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from string import Template
from typing import Final

_OWN: Final = Path(__file__).parent / "page"
_THEIRS: Final = {
    "textual.js": "js/textual.js",
    "xterm.css": "css/xterm.css",
    "mono.ttf": "fonts/RobotoMono-VariableFont_wght.ttf",
}
_KINDS: Final = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".ttf": "font/ttf",
    ".html": "text/html",
}
PAGE: Final = "console.html"


def names() -> tuple[str, ...]:
    """The files beside the page, as it names them."""
    return (*sorted(path.name for path in _OWN.iterdir() if path.name != PAGE), *_THEIRS)


def kind_of(name: str) -> str:
    """The media type of a file."""
    return _KINDS[Path(name).suffix]


def asset(name: str) -> bytes:
    """The content of one of `names()`; KeyError for any other."""
    if name not in names():
        raise KeyError(name)
    return (_theirs() / _THEIRS[name] if name in _THEIRS else _OWN / name).read_bytes()


def page(host: str, key: str) -> str:
    """The page that opens a console over a websocket at this host and port."""
    text = (_OWN / PAGE).read_text(encoding="utf-8")
    return Template(text).substitute(socket=f"ws://{host}/{key}/ws")


def policy(host: str) -> str:
    """What the browser may do for the page: ask its own server, and nobody else."""
    # xterm.js puts its colours into style elements.
    return (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; "
        f"img-src 'self' data:; connect-src ws://{host}; form-action 'none'; frame-ancestors 'none'; "
        "base-uri 'none'"
    )


def _theirs() -> Path:
    found = find_spec("textual_serve")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("textual_serve")
    return Path(found.origin).parent / "static"
