"""Chroma as the index of meaning: it finds the nearest vectors; the catalogue holds everything else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import chromadb
import httpx
from chromadb.config import Settings
from chromadb.errors import ChromaError, NotFoundError

from antiphon.knowledge.chroma_server import (
    ANSWER_S,
    no_answer,
    reached_server,
    shown_address,
)
from antiphon.knowledge.generations import REBUILD_ADVICE, advice
from antiphon.knowledge.vectors import ChunkVector, rows_of
from antiphon.vocabulary.errors import KnowledgeError
from antiphon.vocabulary.outside import without_userinfo

# Rows an upsert; Chroma takes 5,461 at most.
BATCH = 1_000
# Chroma's metadata has no null.
_NO_LESSON = -1
# The only collection in a folder of ours.
_EMBEDDED_NAME = "passages"


class ChromaIndex:
    """One generation's collection, in a folder of ours or on a Chroma server.

    Attributes:
        where: The folder or address, in the form for errors.
    """

    def __init__(
        self, client: chromadb.ClientAPI, collection: chromadb.Collection, where: str
    ) -> None:
        self._client = client
        self._collection = collection
        self.where = where

    def nearest(self, vector: Sequence[float], limit: int) -> list[int]:
        """Returns the numbers of the chunks nearest to `vector`, the nearest first."""
        with _chroma_errors(self.where):
            found = self._collection.query(
                query_embeddings=[vector], n_results=limit, include=[]
            )
        return [int(number) for number in found["ids"][0]]

    def upsert(self, rows: Sequence[ChunkVector]) -> None:
        """Writes chunks; the same chunk written twice is stored once."""
        # Four bytes a number, so the length of a row gives the dimensions.
        vectors = rows_of((row.vector for row in rows), len(rows[0].vector) // 4)
        ids = []
        metadatas = []
        for row in rows:
            lesson = _NO_LESSON if row.lesson is None else row.lesson
            ids.append(str(row.number))
            metadatas.append({"course": row.course, "lesson": lesson})
        with _chroma_errors(self.where):
            self._collection.upsert(ids=ids, embeddings=vectors, metadatas=metadatas)

    def count(self) -> int:
        with _chroma_errors(self.where):
            return int(self._collection.count())

    def close(self) -> None:
        self._client.close()


def open_index(folder: Path, url: str | None, name: str) -> ChromaIndex:
    """Opens a collection that an indexer has built.

    Args:
        folder: The embedded Chroma's folder.
        url: A Chroma server that holds the collection instead, or None.
        name: The collection's name on a server.

    Raises:
        KnowledgeError: It is missing or damaged, or the server does not answer.
    """
    where = _shown_place(folder, url)
    if url is None and not folder.is_dir():
        raise KnowledgeError(f"the vector index {folder} is missing; {REBUILD_ADVICE}")
    with _chroma_errors(where):
        client = _client(folder, url)
        try:
            collection = client.get_collection(
                _name(url, name), embedding_function=None
            )
        except NotFoundError as error:
            client.close()
            raise KnowledgeError(
                f"the vector index {name!r} is missing at {where}; {REBUILD_ADVICE}"
            ) from error
    return ChromaIndex(client, collection, where)


def create_index(folder: Path, url: str | None, name: str) -> ChromaIndex:
    """Creates an empty collection; deletes one of the same name that a killed run left."""
    where = _shown_place(folder, url)
    with _chroma_errors(where):
        client = _client(folder, url)
        collection_name = _name(url, name)
        _delete_collection(client, collection_name)
        collection = client.create_collection(
            collection_name,
            embedding_function=None,
            configuration={"hnsw": {"space": "cosine"}},
        )
    return ChromaIndex(client, collection, where)


def drop_index(url: str, name: str) -> None:
    """Deletes an old generation's collection from a server."""
    with _chroma_errors(_shown_place(Path(), url)):
        client = _client(Path(), url)
        _delete_collection(client, name)
        client.close()


def _delete_collection(client: chromadb.ClientAPI, name: str) -> None:
    if name in [collection.name for collection in client.list_collections()]:
        client.delete_collection(name)


def _name(url: str | None, name: str) -> str:
    return _EMBEDDED_NAME if url is None else name


def _shown_place(folder: Path, url: str | None) -> str:
    """Names the index for errors, which go into traces and logs: an address without its password."""
    return str(folder) if url is None else shown_address(url)


def _client(folder: Path, url: str | None) -> chromadb.ClientAPI:
    settings = Settings(anonymized_telemetry=False)
    if url is None:
        return chromadb.PersistentClient(path=str(folder), settings=settings)
    # Chroma's client waits for ever, so this first checks that the server answers.
    server = reached_server(url)
    client = chromadb.HttpClient(
        host=server.host,
        port=server.port,
        ssl=server.secure,
        headers=dict(server.headers),
        settings=settings,
    )
    # No setting of Chroma 1.5 changes this timeout (chromadb/api/fastapi.py passes None).
    client._server._session.timeout = httpx.Timeout(ANSWER_S)
    return client


@contextmanager
def _chroma_errors(where: str) -> Iterator[None]:
    """Wraps Chroma's errors, once, in our words.

    It raises ValueError for a server that it cannot reach, and AttributeError for a second attempt at a folder that
    failed to open: its half-made client stays in the cache of chromadb/api/shared_system_client.py.
    """
    try:
        yield
    except httpx.HTTPError as error:
        raise no_answer(where, error) from error
    except (ChromaError, ValueError, AttributeError, RuntimeError, OSError) as error:
        why = without_userinfo(str(error))
        raise KnowledgeError(
            f"the vector index {where} cannot be used ({why}); {advice(error)}"
        ) from error
