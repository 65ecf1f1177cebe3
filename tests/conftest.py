"""Closes the network for every test: it can reach only loopback and Unix sockets, unless it is marked `live`.

It also keeps the whole suite fast and small: the longest files come first, and memory is given back.
"""

from __future__ import annotations

import gc
import ipaddress
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from antiphon.service.memory import spare_memory
from tests.thorough import SMOKE, THOROUGH

TESTS = Path(__file__).parent
LONGEST_FIRST = (
    "faults/test_matrix.py",
    "browser/test_trace_apart.py",
    "unit/house/test_audit.py",
    "browser/test_hostile_places.py",
    "browser/test_ask.py",
    "browser/test_views.py",
    "browser/test_trace.py",
    "e2e/test_schema.py",
    "faults/test_mutants.py",
    "e2e/test_readme.py",
    "browser/test_three_clicks.py",
    "integration/test_engine_reads_recordings.py",
    "cluster/test_nodes.py",
    "integration/test_hostile_documents.py",
    "integration/test_suspects.py",
    "browser/test_hostile.py",
    "e2e/test_interruption.py",
    "cluster/test_workers.py",
    "integration/test_knowledge_embedders.py",
    "integration/test_documents_of_callers.py",
    "cluster/test_cut.py",
    "browser/test_faults.py",
    "traces/test_recorded_forks.py",
)
"""The slowest test files. They come first, so that neither process is left with a long one when the other has finished
(`make test` runs a file at a time in each of two)."""

# Slow examples, or slow drawing of them, only show that the machine is busy: no test may fail over that.
hypothesis_settings.register_profile(
    "untimed",
    hypothesis_settings.get_profile(hypothesis_settings.get_current_profile_name()),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
hypothesis_settings.load_profile("untimed")

Connect = Callable[[socket.socket, Any], Any]


class ClosedNetwork:
    """Refuses connections and name look-ups that would leave the machine."""

    def __init__(self) -> None:
        self.open = False

    def guard(self, connect: Connect) -> Connect:
        """Returns `connect` for loopback and Unix sockets only."""

        def guarded(sock: socket.socket, address: Any) -> Any:
            if sock.family in (socket.AF_INET, socket.AF_INET6):
                self.check(address[0])
            return connect(sock, address)

        return guarded

    def guard_lookup(self, lookup: Callable[..., Any]) -> Callable[..., Any]:
        """Returns `getaddrinfo` for this machine's own names only."""

        def guarded(host: Any, *args: Any, **options: Any) -> Any:
            self.check(host)
            return lookup(host, *args, **options)

        return guarded

    def check(self, host: object) -> None:
        """Refuses a host that is not this machine."""
        if not self.open and not _is_this_machine(host):
            raise RuntimeError(
                f"the test tried to reach {host!r}: the network is closed in tests (tests/conftest.py)"
            )


def _is_this_machine(host: object) -> bool:
    name = host.decode() if isinstance(host, bytes) else host
    if name in (None, "", "localhost"):
        return True
    try:
        return ipaddress.ip_address(str(name)).is_loopback
    except ValueError:
        return False


_network = ClosedNetwork()


@pytest.fixture(scope="session", autouse=True)
def _closed_network() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", _network.guard(socket.socket.connect))
        patch.setattr(
            socket.socket, "connect_ex", _network.guard(socket.socket.connect_ex)
        )
        patch.setattr(socket, "getaddrinfo", _network.guard_lookup(socket.getaddrinfo))
        yield


@pytest.fixture(scope="session", autouse=True)
def _memory_given_back() -> Iterator[None]:
    """Keeps a process of thousands of tests small."""
    spare_memory()
    with pytest.MonkeyPatch.context() as patch:
        # A service that has loaded its parts exempts all objects from garbage collection, as they are there to stay.
        # In a test process that would include all the garbage of earlier tests.
        patch.setattr(gc, "freeze", lambda: None)
        yield


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leaves out files that `make test` runs nothing of: importing them takes several seconds in each process."""
    if config.option.markexpr != "not thorough" or TESTS not in collection_path.parents:
        return None
    name = collection_path.relative_to(TESTS).as_posix()
    if collection_path.is_dir():
        name += "/"
    is_run_in_part = any(test.startswith(name) for test in SMOKE)
    return True if name.startswith(THOROUGH) and not is_run_in_part else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts the longest files first, leaves the others in order, and marks the thorough tests."""
    places = {name: place for place, name in enumerate(LONGEST_FIRST)}

    def place(item: pytest.Item) -> int:
        file = item.path.relative_to(TESTS).as_posix()
        return places.get(file, len(LONGEST_FIRST))

    items.sort(key=place)
    for item in items:
        name = item.nodeid.removeprefix("tests/")
        if name.startswith(THOROUGH) and not name.startswith(SMOKE):
            item.add_marker("thorough")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Opens the network for `live` tests, and closes it for all others."""
    _network.open = item.get_closest_marker("live") is not None
