"""Tunes the C library's allocator (only glibc can be tuned) and Python's garbage collector for a service."""

from __future__ import annotations

import ctypes
import gc

# From malloc.h.
_TRIM_THRESHOLD = -1
_MMAP_THRESHOLD = -3
_ARENA_MAX = -8
LARGE_BYTES = 1_000_000
"""Blocks of at least this size go back to the system when freed. Left alone, glibc raises the bound up to 32 MB, and
the memory that loading a model takes for a moment stays in the process."""
ARENAS = 2
"""Number of pools that threads allocate from; left alone, glibc opens eight a core, each with its own leftovers."""


def spare_memory() -> None:
    """Sets bounds for the rest of the process; call it before threads begin."""
    libc = ctypes.CDLL(None)
    # Other C libraries, such as musl, do not have it.
    if hasattr(libc, "mallopt"):
        libc.mallopt(_MMAP_THRESHOLD, LARGE_BYTES)
        libc.mallopt(_TRIM_THRESHOLD, LARGE_BYTES)
        libc.mallopt(_ARENA_MAX, ARENAS)


def give_back_memory() -> None:
    """Gives free memory back to the system; takes tens of milliseconds, so not while a caller waits."""
    libc = ctypes.CDLL(None)
    if hasattr(libc, "malloc_trim"):
        libc.malloc_trim(0)


def keep_loaded() -> None:
    """Exempts all loaded objects from collection: scanning them would hold up the event loop for 0.2 s."""
    gc.freeze()
    give_back_memory()
