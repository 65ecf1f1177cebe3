"""What Chroma raises while an index is in use, as users of the index meet it."""

from __future__ import annotations

from typing import Any, cast

import httpx
import pytest
from chromadb.errors import InternalError

from antiphon.knowledge.chroma import ChromaIndex
from antiphon.vocabulary.errors import KnowledgeError


class Broken:
    """A collection that raises at whatever is done with it."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def query(self, **_: object) -> None:
        raise self._error

    def count(self) -> None:
        raise self._error


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            httpx.ReadTimeout("timed out"),
            r"no Chroma server answers at http://vectors \(timed out\); start it",
        ),
        (
            InternalError("it is damaged"),
            r"the vector index http://vectors cannot be used \(it is damaged\); .*--rebuild",
        ),
        (ValueError("odd"), r"the vector index http://vectors cannot be used \(odd\)"),
        (OSError("away"), r"the vector index http://vectors cannot be used \(away\)"),
    ],
    ids=["silent server", "damaged", "value", "system"],
)
def test_every_error_of_chroma_becomes_a_sentence_that_names_the_index(
    error: Exception, words: str
) -> None:
    nothing = cast(Any, None)
    index = ChromaIndex(nothing, cast(Any, Broken(error)), "http://vectors")

    with pytest.raises(KnowledgeError, match=words):
        index.nearest([1.0], 3)
    with pytest.raises(KnowledgeError, match=words):
        index.count()
