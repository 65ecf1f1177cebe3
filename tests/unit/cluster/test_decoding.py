"""Large things are decoded in a thread, small ones at once."""

from __future__ import annotations

import threading

import pytest

from antiphon.cluster.decoding import THREAD_BYTES, decoded


@pytest.mark.parametrize(("size_bytes", "at_once"), [(0, True), (THREAD_BYTES, False)])
async def test_what_is_large_is_decoded_in_a_thread(
    size_bytes: int, at_once: bool
) -> None:
    thread = await decoded(threading.get_ident, size_bytes)

    assert (thread == threading.get_ident()) is at_once
