"""Questions that stand in one message are told apart, in whatever way they were joined."""

from __future__ import annotations

import pytest

from antiphon.language.question_borders import questions_in


@pytest.mark.parametrize(
    ("message", "first", "second"),
    [
        (
            "who teaches the git course + how large may a blob be",
            "who teaches the git course",
            "how large may a blob be",
        ),
        (
            "Delta compression, why so slow / what's the url for the packfile lesson",
            "Delta compression, why so slow",
            "what's the url for the packfile lesson",
        ),
        (
            "How big is the archive, and what did they pay for having each picture tagged?",
            "How big is the archive",
            "what did they pay for having each picture tagged?",
        ),
        (
            "Send me the link of the git course, and remind me which port the daemon opens",
            "Send me the link of the git course",
            "remind me which port the daemon opens",
        ),
        (
            "Define rebase and, while you're at it, which lesson comes after the one on merging?",
            "Define rebase",
            "which lesson comes after the one on merging?",
        ),
        (
            "I'd like to hear how fast a clone is, oh and how many lessons has the git course?",
            "I'd like to hear how fast a clone is",
            "how many lessons has the git course?",
        ),
        (
            "I need the link of Packing Objects. Oh and when two packs hold the same, which wins?",
            "I need the link of Packing Objects.",
            "when two packs hold the same, which wins?",
        ),
        (
            "number of commits? number of branches in the finished repository?",
            "number of commits?",
            "number of branches in the finished repository?",
        ),
        (
            "names of the teachers of the git course, plus how many ms a status takes",
            "names of the teachers of the git course",
            "how many ms a status takes",
        ),
        (
            "Tell me two things, first the lesson after Merging, second who's teaching Git",
            "the lesson after Merging",
            "who's teaching Git",
        ),
        (
            "I need two things: the number of lessons in Git, and the port that the daemon opens.",
            "the number of lessons in Git",
            "the port that the daemon opens.",
        ),
        (
            "number of lessons in Git; what HEAD normally points at",
            "number of lessons in Git",
            "what HEAD normally points at",
        ),
        (
            "link for the packing lesson / least size of a pack",
            "link for the packing lesson",
            "least size of a pack",
        ),
        (
            "2 things: (1) how long does git keep records (2) is the reflog pushed",
            "how long does git keep records",
            "is the reflog pushed",
        ),
        (
            "I'm on the bus: number of lessons in the git course, plus what percent was right",
            "I'm on the bus: number of lessons in the git course",
            "what percent was right",
        ),
        (
            "Tell me of (a) the lesson preceding Merging and (b) the size of a pack",
            "the lesson preceding Merging",
            "the size of a pack",
        ),
        (
            "In the git course: how big is a pack. In the queue course: how long is a message?",
            "In the git course: how big is a pack.",
            "In the queue course: how long is a message?",
        ),
        (
            "What value does k have? I'd also like to know the name of the lecturer.",
            "What value does k have?",
            "I'd also like to know the name of the lecturer.",
        ),
        (
            "quick one. what number is k & what's the next lesson after Merging",
            "quick one. what number is k",
            "what's the next lesson after Merging",
        ),
        (
            "After how many repairs do they stop, and by the way, where is the git course?",
            "After how many repairs do they stop",
            "where is the git course?",
        ),
        (
            "What is the size of a pack; who teaches the course about queues?",
            "What is the size of a pack",
            "who teaches the course about queues?",
        ),
        (
            "Which person built the simulator, and to what median did it get in the end?",
            "Which person built the simulator",
            "to what median did it get in the end?",
        ),
    ],
)  # fmt: skip
def test_two_questions_are_told_apart(message: str, first: str, second: str) -> None:
    assert questions_in(message) == (first, second)


@pytest.mark.parametrize(
    "message",
    [
        "Who wrote it, and when?",
        "Where in the courses does idempotency matter, and for what reason?",
        "url and name of the lesson that closes the git course",
        "Does some course cover rebasing? If so, under which title?",
        "I want to know more about packing. Which course and which lesson do I open?",
        "What is the first lesson of Git, second edition?",
        "When a queue is full, it blocks. What then?",
        "Where is rebasing taught? I need the lesson and its teacher.",
        "Is there another course on what lesson 3 is about; how large is a pack?",
    ],
)
def test_what_leans_on_a_question_stays_with_it(message: str) -> None:
    assert questions_in(message) == (message,)


def test_a_long_hostile_message_is_read_in_a_moment() -> None:
    message = "two things: first, " + "and what, second " * 2_000

    assert len(questions_in(message)) <= 3
