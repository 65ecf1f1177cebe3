"""Words, as retrieval compares them."""

from __future__ import annotations

from antiphon.language.words import FEWEST_WORDS, is_english, words


def test_versions_and_languages_stay_whole() -> None:
    assert words("C++ and C# in Lucene 8.0.") == [
        "c++",
        "and",
        "c#",
        "in",
        "lucene",
        "8.0",
    ]


def test_scripts_without_spaces_are_pairs_of_letters_beside_words() -> None:
    assert words("GPT模型很大。ok 大") == ["gpt", "模型", "型很", "很大", "ok", "大"]
    assert words("検索エンジン") == ["検索", "索エ", "エン", "ンシ", "シン"]


def test_a_text_in_another_language_is_told_from_its_fewest_words_on() -> None:
    assert is_english("haus " * (FEWEST_WORDS - 1))
    assert not is_english("haus " * FEWEST_WORDS)
    assert is_english("haus the " * FEWEST_WORDS)
