"""Which sentence says what the thing is that a question asks about."""

import pytest

from antiphon.language.definitions import Definition


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("What is stemming?", "This process of cutting words down is called stemming."),
        ("what is goodput", "So goodput is the rate of requests that finish in time."),
        ("Define a dendrogram", "The tree that we get is known as a dendrogram."),
        ("What are residuals?", "This error term is also often called a residual."),
        ("What does BM25 mean?", "And by BM25 we mean a way of weighing words."),
        (
            "What does ROC stand for?",
            "A Receiver Operating Characteristic curve, or ROC curve, helps here.",
        ),
        ("What is the LAT?", "The Lexical Answer Type (LAT) says what to look for."),
        ("What is a voxel?", "It is cut into voxels, or volume elements."),
        ("What is minbucket in R?", "Here minbucket means the fewest observations."),
    ],
)
def test_a_sentence_that_says_what_the_thing_is_is_told(
    question: str, sentence: str
) -> None:
    assert Definition(question).stands_in(sentence)


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("What is stemming?", "Stemming is used by most search engines."),
        ("What is stemming?", "Let's go on to stemming in the next video."),
        ("What is a queue?", "A stack is the list that grows at one end."),
        ("How does stemming work?", "This process is called stemming."),
        (
            "What is the first thing that people get wrong about stemming?",
            "This process is called stemming.",
        ),
    ],
)
def test_other_sentences_and_other_questions_are_left_alone(
    question: str, sentence: str
) -> None:
    assert not Definition(question).stands_in(sentence)
