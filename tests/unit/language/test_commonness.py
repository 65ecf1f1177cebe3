"""How common words are in English at large."""

from __future__ import annotations

from math import log10

import pytest
import wordfreq

from antiphon.language.commonness import listed_words, rarity_in_english
from antiphon.language.words import stem


def test_the_list_is_read_as_its_own_package_reads_it() -> None:
    expected = wordfreq.get_frequency_dict("en", wordlist="small")

    listed = dict(listed_words())

    assert listed.keys() == expected.keys()
    assert all(
        listed[word] == pytest.approx(9 + log10(share))
        for word, share in expected.items()
    )


def test_the_more_a_word_is_used_the_less_it_tells() -> None:
    words = ["people", "memory", "colleagues", "jitter"]

    rarities = [rarity_in_english(stem(word)) for word in words]

    assert rarities == sorted(rarities)
    assert len(set(rarities)) == len(rarities)


@pytest.mark.parametrize("word", ["innodb", "hystrix", "rigth", "gehoren", "503", ""])
def test_names_misspellings_and_other_languages_are_as_rare_as_can_be(
    word: str,
) -> None:
    assert rarity_in_english(stem(word)) == 1.0


def test_no_word_is_so_common_that_it_tells_nothing() -> None:
    assert rarity_in_english("the") > 0
