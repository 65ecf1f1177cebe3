"""Course names as people write them, true and false, against the real embedder: the thresholds' measurement.

Of the names that letters do not decide, the true ones have a cosine of 0.62 to 0.75 with their title, the false
ones 0.53 at most; the threshold of knowledge/resolving.py stands between. A name from the field next door
("service design", 0.59) may still be taken for the one course near it.
"""

from __future__ import annotations

import numpy as np
import pytest

from antiphon.knowledge import load_embedder
from antiphon.knowledge.resolving import CourseTitles
from antiphon.vocabulary.ports import Embedder

pytest.importorskip("onnxruntime", reason="the onnx embedder is not installed")

EVENTS = "Event-Driven Systems from First Principles"
MODELS = "Language Models and Tools"
SEARCH = "Practical Information Retrieval"
SERVICES = "Reliability Engineering for Services"
MCP = "MCP: Build Rich-Context AI Apps with Anthropic"
CHROMA = "Advanced Retrieval for AI with Chroma"
PROMPTS = "Prompt Compression and Query Optimization"
COMPUTER = "Building Towards Computer Use with Anthropic"
TITLES = (EVENTS, MODELS, SEARCH, SERVICES, MCP, CHROMA, PROMPTS, COMPUTER)

TRUE = {
    "event driven": EVENTS,
    "Event Driven Systms": EVENTS,
    "Introduction to Event-Driven Architecture": EVENTS,
    "language models": MODELS,
    "large language model course": MODELS,
    "Practcal retreival": SEARCH,
    "information search": SEARCH,
    "the reliability course": SERVICES,
    "fault tolerance in services": SERVICES,
    "MCP": MCP,
    "Chroma": CHROMA,
    "vector database retrieval with chroma": CHROMA,
    "optimising prompts": PROMPTS,
    "computer use": COMPUTER,
}
FALSE = (
    "Quantum Computing", "Cooking for Beginners", "Machine Learning for Finance", "Introduction to Python",
    "Database Administration", "Network Engineering", "Practical Photography", "Economics from First Principles",
    "Foreign Language Teaching", "Language Learning", "Programming Languages", "Search Engine Optimization",
    "Prompt Engineering", "Distributed Systems", "Practical Information for Travellers", "Computer Vision",
)  # fmt: skip


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return load_embedder("onnx")


@pytest.fixture(scope="module")
def titles(embedder: Embedder) -> CourseTitles:
    vectors = zip(TITLES, embedder.embed(TITLES), strict=True)
    return CourseTitles(
        {title: np.array(vector, dtype=np.float32) for title, vector in vectors}
    )


@pytest.mark.parametrize(("name", "title"), TRUE.items())
def test_a_name_that_means_a_course_finds_it(
    name: str, title: str, titles: CourseTitles, embedder: Embedder
) -> None:
    assert titles.resolve(name, lambda text: embedder.embed([text])[0]).title == title


@pytest.mark.parametrize("name", FALSE)
def test_a_course_that_does_not_exist_is_not_found(
    name: str, titles: CourseTitles, embedder: Embedder
) -> None:
    match = titles.resolve(name, lambda text: embedder.embed([text])[0])

    assert match.title is None
    assert len(match.nearest) == 3
