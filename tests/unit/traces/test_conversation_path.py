"""Which question of a conversation follows which, and what is a version of what."""

from __future__ import annotations

import pytest

from antiphon.traces.conversation_path import Asked, path_through

PLAIN = "a b c"
EDITED_FIRST = "a b x:-"
EDITED_LAST = "a b y:a"
GONE_ON_BOTH_WAYS = "a b y:a z c:b"


def asked(words: str) -> list[Asked]:
    """Questions as `name` or `name:what it follows`, where "-" is nothing."""
    found: list[Asked] = []
    for word in words.split():
        name, colon, follows = word.partition(":")
        found.append(Asked(name, follows.replace("-", "") if colon else None))
    return found


@pytest.mark.parametrize(
    ("words", "through", "path", "versions"),
    [
        ("", None, "", ""),
        (PLAIN, None, "abc", "a b c"),
        (PLAIN, "a", "abc", "a b c"),
        (EDITED_FIRST, None, "x", "ax"),
        (EDITED_FIRST, "a", "ab", "ax b"),
        (EDITED_FIRST, "b", "ab", "ax b"),
        (EDITED_LAST, None, "ay", "a by"),
        (EDITED_LAST, "b", "ab", "a by"),
        (EDITED_LAST + " z:a", None, "az", "a byz"),
        # What says nothing follows the last one, whichever version that was.
        (EDITED_LAST + " c", None, "ayc", "a by c"),
        (GONE_ON_BOTH_WAYS, None, "abc", "a by c"),
        (GONE_ON_BOTH_WAYS, "y", "ayz", "a by z"),
        (GONE_ON_BOTH_WAYS, "a", "abc", "a by c"),
        # What was deleted leaves its place to the one before, and nothing is lost.
        ("a y:b", None, "ay", "a y"),
        ("x:b", None, "x", "x"),
        ("a x:b y:b z", None, "ayz", "a xy z"),
        ("x:b y:b z:b", "x", "x", "xyz"),
        # A question never follows itself or a later one.
        ("a:b b:a", None, "ab", "a b"),
        ("a b:b", None, "ab", "a b"),
    ],
)
def test_questions_that_follow_the_same_one_are_versions_of_one_another(
    words: str, through: str | None, path: str, versions: str
) -> None:
    found = path_through(asked(words), through)

    assert "".join([each.query_id for each in found]) == path
    assert ["".join(each.versions) for each in found] == versions.split()
    before = [None, *[each.query_id for each in found]]
    assert [each.follows for each in found] == before[: len(found)]
