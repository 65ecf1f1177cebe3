"""The vector index on a real Chroma server, started for these tests."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import chromadb
import pytest

from antiphon.knowledge import Library, index_paths
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


def test_a_server_that_does_not_answer_is_said(tmp_path: Path) -> None:
    write_course(tmp_path / "courses", "apple")
    silent = f"http://127.0.0.1:{free_port()}"

    with pytest.raises(KnowledgeError, match="no Chroma server answers at"):
        index_paths(
            [tmp_path / "courses"],
            tmp_path / "data",
            HashingEmbedder(),
            chroma_url=silent,
        )


def test_an_address_that_is_none_is_refused(tmp_path: Path) -> None:
    write_course(tmp_path / "courses", "apple")

    with pytest.raises(ConfigurationError, match="ANTIPHON_CHROMA_URL"):
        index_paths(
            [tmp_path / "courses"],
            tmp_path / "data",
            HashingEmbedder(),
            chroma_url="chroma:8000/x",
        )
