"""What a service tells the C library's allocator (glibc, which can be told) and Python's garbage collector."""

from __future__ import annotations

import ctypes
import gc

# From malloc.h.
_TRIM_THRESHOLD = -1
_MMAP_THRESHOLD = -3
_ARENA_MAX = -8
LARGE_BYTES = 1_000_000
"""From here on a piece is given back when it is freed. By itself glibc raises the bound up to 32 MB, and what loading a
model takes for a moment stays in the process."""
ARENAS = 2
"""Pools that threads allocate from; by itself glibc opens eight a core, each with leftovers of its own."""


def spare_memory() -> None:
    """Sets bounds for the rest of the process; call it before threads begin."""
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        libc.mallopt(_MMAP_THRESHOLD, LARGE_BYTES)
        libc.mallopt(_TRIM_THRESHOLD, LARGE_BYTES)
        libc.mallopt(_ARENA_MAX, ARENAS)


def give_back_memory() -> None:
    """Gives free memory back to the system; tens of milliseconds, so not while anybody waits."""
    libc = ctypes.CDLL(None)
    if hasattr(libc, "malloc_trim"):
        libc.malloc_trim(0)


def keep_loaded() -> None:
    """Tells the collector that what is loaded stays: to look through all of it holds the event loop up for 0.2 s."""
    gc.freeze()
    give_back_memory()
