"""Names of courses and lessons as people write them, true and false, against the real embedder.

This is the thresholds' measurement.

Of the names that letters do not decide, the true ones have a cosine of 0.62 to 0.75 with their title, the false
ones 0.53 at most; the threshold of knowledge/resolving.py lies between. A name from the field next door
("service design", 0.59) may still be taken for the one course near it.
"""

from __future__ import annotations

import numpy as np
import pytest

from antiphon.knowledge import Course, Lesson, load_embedder, resolve_lesson
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
    "practical retreival": SEARCH,
    "relaibility": SERVICES,
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


LESSONS: dict[str, tuple[str, ...]] = {
    SEARCH: (
        "The Inverted Index", "Ranking with BM25", "Embeddings and Cosine Similarity", "Cutting Documents into Chunks",
        "Nearest Neighbours at Scale with HNSW", "Hybrid Search and Score Fusion", "Measuring Ranking Quality",
    ),
    SERVICES: (
        "Service Level Objectives and Error Budgets", "Timeouts and Deadlines",
        "Retries, Exponential Backoff and Jitter", "Circuit Breakers", "Load Shedding and Degraded Service",
        "Fault Injection and Chaos Experiments", "Blameless Postmortems",
    ),
    MCP: (
        "Why MCP", "MCP Architecture", "Chatbot Example", "Creating an MCP Server", "Creating an MCP Client",
        "Adding Prompt and Resource Features", "Configuring Servers for Claude Desktop",
        "Creating and Deploying Remote Servers",
    ),
    CHROMA: (
        "Overview", "Pitfalls of Retrieval", "Query Expansion", "Cross-encoder Re-ranking", "Embedding Adaptors",
        "Other Techniques",
    ),
}  # fmt: skip
TRUE_LESSONS = (
    (SEARCH, "vector similarity", 3), (SEARCH, "chunking", 4), (SEARCH, "approximate nearest neighbor search", 5),
    (SEARCH, "reciprocal rank fusion", 6), (SEARCH, "evaluation metrics", 7), (SERVICES, "retry with jitter", 3),
    (SERVICES, "chaos engineering", 6), (SERVICES, "circuit brakers", 4), (MCP, "Claude Desktop setup", 7),
    (MCP, "writing a client", 5), (CHROMA, "generating more queries", 3), (CHROMA, "adapting embeddings", 5),
    (CHROMA, "reranking with a cross encoder", 4),
)  # fmt: skip
FALSE_LESSONS = (
    (SEARCH, "event sourcing"), (SEARCH, "relational joins"), (SEARCH, "crawling the web"),
    (SEARCH, "prompt injection"), (SERVICES, "embeddings"), (SERVICES, "monitoring dashboards"),
    (SERVICES, "sagas"), (SERVICES, "capacity planning"), (MCP, "vector databases"), (MCP, "fine-tuning"),
    (MCP, "testing"), (MCP, "streaming responses"), (CHROMA, "server deployment"), (CHROMA, "agents"),
    (CHROMA, "multimodal models"), (CHROMA, "evaluation"),
)  # fmt: skip


def lesson_of(title: str, name: str, embedder: Embedder) -> int | None:
    lessons = [
        Lesson(number=number, title=each)
        for number, each in enumerate(LESSONS[title], start=1)
    ]
    course = Course(
        title=title, link=None, instructor=None, lessons=tuple(lessons), chunks=0
    )
    return resolve_lesson(name, [course], embedder.embed).number


@pytest.mark.parametrize(("title", "name", "number"), TRUE_LESSONS)
def test_a_name_that_means_a_lesson_finds_it(
    title: str, name: str, number: int, embedder: Embedder
) -> None:
    assert lesson_of(title, name, embedder) == number


@pytest.mark.parametrize(("title", "name"), FALSE_LESSONS)
def test_a_lesson_that_the_course_does_not_have_is_not_found(
    title: str, name: str, embedder: Embedder
) -> None:
    assert lesson_of(title, name, embedder) is None
