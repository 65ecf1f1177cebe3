"""The vector index on a real Chroma server, started for these tests, and on servers that are not Chroma."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import chromadb
import pytest
import yaml

from antiphon.knowledge import Library, check_server, chroma_server, index_paths
from antiphon.knowledge.chroma import create_index
from antiphon.vocabulary.errors import ConfigurationError, KnowledgeError
from tests.course_files import write_course
from tests.fakes_knowledge import HashingEmbedder


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    port = free_port()
    start = "from chromadb.cli.cli import app; app()"
    folder = str(tmp_path_factory.mktemp("chroma"))
    command = [
        sys.executable,
        "-c",
        start,
        "run",
        "--path",
        folder,
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as server:
        assert server.stdout is not None
        assert any("listening" in line for line in server.stdout)
        yield f"http://127.0.0.1:{port}"
        server.kill()


def collections(url: str) -> list[str]:
    client = chromadb.HttpClient(host="127.0.0.1", port=int(url.rsplit(":", 1)[1]))
    return sorted(one.name.rsplit("-", 1)[1] for one in client.list_collections())


def test_a_generation_is_a_collection_and_old_ones_go(tmp_path: Path, url: str) -> None:
    courses, data = tmp_path / "courses", tmp_path / "data"
    for turn in range(3):
        write_course(courses, "apple", extra=f"Turn {turn}.")
        index_paths([courses], data, HashingEmbedder(), chroma_url=url)

    library = Library.open(data, HashingEmbedder(), chroma_url=url)

    assert (
        library.search("applemailbox7", course="The Apple Course", lesson=1)[0].lesson
        == 1
    )
    assert collections(url) == ["2", "3"]
    assert not list(data.rglob("chroma*"))
    library.close()


def test_a_library_indexed_without_the_server_is_moved_onto_it_without_embedding(
    tmp_path: Path, url: str
) -> None:
    write_course(tmp_path / "courses", "apple")
    index_paths([tmp_path / "courses"], tmp_path / "data", HashingEmbedder())
    with pytest.raises(KnowledgeError, match="missing at"):
        Library.open(tmp_path / "data", HashingEmbedder(), chroma_url=url)
    embedder = HashingEmbedder()

    index_paths([tmp_path / "courses"], tmp_path / "data", embedder, chroma_url=url)

    assert embedder.embedded == []
    library = Library.open(tmp_path / "data", HashingEmbedder(), chroma_url=url)
    assert library.search("applemailbox7")
    library.close()


def test_the_error_names_a_server_that_does_not_answer(tmp_path: Path) -> None:
    write_course(tmp_path / "courses", "apple")
    silent = f"http://127.0.0.1:{free_port()}"

    with pytest.raises(KnowledgeError, match="no Chroma server answers at"):
        index_paths(
            [tmp_path / "courses"],
            tmp_path / "data",
            HashingEmbedder(),
            chroma_url=silent,
        )


def test_an_invalid_address_is_refused(tmp_path: Path) -> None:
    write_course(tmp_path / "courses", "apple")

    with pytest.raises(ConfigurationError, match="ANTIPHON_CHROMA_URL"):
        index_paths(
            [tmp_path / "courses"],
            tmp_path / "data",
            HashingEmbedder(),
            chroma_url="chroma:8000/x",
        )


def create(url: str) -> None:
    """Creates an index on a server, as an indexing run does."""
    create_index(Path(), url, "x")


# By the check before a run, and when the index is opened.
ASKERS = pytest.mark.parametrize("ask", [check_server, create])


@ASKERS
@pytest.mark.parametrize(
    "address",
    [
        *("foo", "ftp://x", "http://", "http://[::1", "//x:1"),
        *("http://x:99999", "http://x\x01:1", "http://a..b:1", ""),
    ],
)
def test_the_error_for_an_invalid_address_says_what_was_wanted(
    address: str, ask: Callable[[str], None]
) -> None:
    with pytest.raises(ConfigurationError) as refused:
        ask(address)

    assert (
        str(refused.value)
        == f"ANTIPHON_CHROMA_URL must be like http://host:8000, and is {address!r}"
    )


@ASKERS
@pytest.mark.parametrize(
    "address", ["me:hunter2@x", "http://me:pa/hunter2@x:1", "ftp://me:@hunter2@x"]
)
def test_the_error_for_an_invalid_address_hides_the_password_in_it(
    address: str, ask: Callable[[str], None]
) -> None:
    with pytest.raises(ConfigurationError, match=r"\[masked\]@x") as refused:
        ask(address)

    assert "hunter2" not in str(refused.value)


@ASKERS
def test_the_error_names_the_address_of_a_port_that_refuses(
    ask: Callable[[str], None],
) -> None:
    place = f"127.0.0.1:{free_port()}"

    with pytest.raises(KnowledgeError) as refused:
        ask(f"http://me:hunter2@{place}")

    assert str(refused.value) == (
        f"no Chroma server answers at http://[masked]@{place} ([Errno 111] Connection refused); "
        "start it, or unset ANTIPHON_CHROMA_URL"
    )


@ASKERS
def test_the_error_for_a_port_that_accepts_and_is_silent_comes_in_time(
    ask: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chroma_server, "ANSWER_S", 0.2)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"

        with pytest.raises(KnowledgeError) as refused:
            ask(address)

    assert f"no Chroma server answers at {address} (timed out); start it" in str(
        refused.value
    )


@pytest.mark.parametrize(
    "file", ["docker-compose.yml", "deploy/docker-compose.cluster.yml"]
)
def test_the_containers_health_check_finds_a_real_server_healthy(
    url: str, file: str
) -> None:
    described = yaml.safe_load((Path(__file__).parents[2] / file).read_text())
    [_, *command] = described["services"]["chroma"]["healthcheck"]["test"]
    port = url.rsplit(":", 1)[1]
    here = [part.replace("$$", "$").replace("/8000", f"/{port}") for part in command]

    assert subprocess.run(here, timeout=20, check=False).returncode == 0
