"""A file that was looked at, by its SHA-256: read where it lies, in pieces, and never stored (console.md F5)."""

from __future__ import annotations

import hashlib
import stat
from pathlib import Path
from typing import Final

from console.acting.resolving import EvidenceFile

MOST_BYTES: Final = 50_000_000
_PIECE: Final = 1_000_000


def digest(typed: str) -> EvidenceFile:
    """Name, digest and size; ValueError with the reason where it cannot be one. Blocks: not for the event loop."""
    try:
        path = Path(typed).expanduser()
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise ValueError("is no ordinary file")
        if found.st_size > MOST_BYTES:
            raise ValueError(_too_large(found.st_size))
        return _read(path)
    except OSError as error:
        raise ValueError((error.strerror or "cannot be read").lower()) from None
    except RuntimeError:
        raise ValueError("no such home directory") from None


def _read(path: Path) -> EvidenceFile:
    """What was read is what counts: a file may grow meanwhile."""
    hashed, size = hashlib.sha256(), 0
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            size += len(piece)
            if size > MOST_BYTES:
                raise ValueError(_too_large(size))
            hashed.update(piece)
    return EvidenceFile(path.name, hashed.hexdigest(), size)


def _too_large(size: int) -> str:
    return f"has {size:,} bytes; at most {MOST_BYTES:,} are read: attach the part that matters"
