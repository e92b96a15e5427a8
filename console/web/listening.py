"""Where the page may be served: on addresses that no other machine can reach."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import Final

from console.web import USUAL

MOST_PORT: Final = 65_535
_LOCAL_NAME: Final = "localhost"
_LOCAL_ADDRESS: Final = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A loopback address and a port; port 0 takes any free one."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def names(self) -> frozenset[str]:
        """What a browser on this machine may call it in its Host header."""
        return frozenset({str(self), f"{_LOCAL_NAME}:{self.port}"})


def endpoint_of(text: str) -> Endpoint:
    """From `host:port` or `[v6]:port`; ValueError for what is no loopback address, with the reason."""
    host, _, port = text.rpartition(":")
    if not host or not (port.isascii() and port.isdigit()) or int(port) > MOST_PORT:
        raise ValueError(f"{text!r}: write host:port, like {USUAL}")
    return Endpoint(_loopback(host.removeprefix("[").removesuffix("]"), text), int(port))


def _loopback(host: str, text: str) -> str:
    if host == _LOCAL_NAME:
        return _LOCAL_ADDRESS
    try:
        address = ipaddress.ip_address(host)
    except ValueError as error:
        raise ValueError(f"{text!r}: write an address in figures, like {USUAL}, or {_LOCAL_NAME}") from error
    if not address.is_loopback:
        raise ValueError(
            f"{text!r}: only this machine may look, as nobody is asked who he is; serve at {USUAL} and reach "
            "it from elsewhere through ssh -L with the same port"
        )
    return str(address)
