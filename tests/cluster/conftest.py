"""One NATS server, an index and doubles for the tests of this folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.cluster.processes import ClusterOf, cluster
from tests.course_files import write_course
from tests.e2e.conftest import ROOT
from tests.e2e.processes import doubling, run
from tests.nats_servers import nats_server

SLOW = {"replies": [{"text": "It is a box.", "first_byte_s": 3.0}], "then": "last"}
QUICK = {"replies": [{"text": "It is a box.", "between_s": 0.05, "delta_chars": 4}], "then": "last"}  # fmt: skip


@pytest.fixture(scope="session")
def nats_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server that all tests of a process share, each under its own names."""
    with nats_server(tmp_path_factory.mktemp("nats")) as server:
        yield server.url


@pytest.fixture(scope="session")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a course in it."""
    folder = tmp_path_factory.mktemp("cluster")
    write_course(folder / "courses", "apple", lessons=2)
    ended = run("index", str(folder / "courses"), data_dir=folder / "data", folder=ROOT)
    assert ended.returncode == 0, ended.stderr
    return folder / "data"


@pytest.fixture(scope="session")
def slow_model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A model that thinks for three seconds before each reply."""
    with doubling(tmp_path_factory.mktemp("slow"), SLOW) as url:
        yield url


@pytest.fixture(scope="session")
def quick_model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A model that replies at once, word by word."""
    with doubling(tmp_path_factory.mktemp("quick"), QUICK) as url:
        yield url


Started = Callable[..., ClusterOf]


@pytest.fixture
def started(nats_url: str, index: Path) -> Iterator[Started]:
    """Starts a test's processes with a given model, and ends them after the test."""
    with ExitStack() as stack:

        def start(model_url: str, **settings: str) -> ClusterOf:
            return stack.enter_context(cluster(nats_url, index, model_url, **settings))

        yield start
