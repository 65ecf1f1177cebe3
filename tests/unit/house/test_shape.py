"""The counting of the house's table of shapes."""

from __future__ import annotations

from tests.house.shape import Shape, words_of

UNROLLED = """
class Unrolled:
    def defaults(self, rows):
        size = self.size
        if rows:
            size = len(rows)
        place: str = ""
        if size > 1:
            place = "here"
        return size, place

    def appends(self, rows):
        found: list[int] = []
        for row in rows:
            found.append(row.number)
        if rows:
            more = []
            for row in rows:
                more += row.numbers
        return found
"""
PLAIN = """
def plain(rows, wanted):
    counted = len(rows)
    if not rows:
        counted = 1
    size = 0
    if rows:
        size = 1
    else:
        size = 2
    known = []
    known.append(size)
    for row in rows:
        known.append(row)
    found = []
    for row in rows:
        if row in wanted:
            found.append(row)
    place = "here" if found else "there"
    return {row: [each for each in row] for row in rows}, counted, place
"""


def test_what_is_unrolled_is_counted_as_a_default_or_as_an_append_loop() -> None:
    shape = Shape()

    shape.add("unrolled.py", UNROLLED)

    assert (shape.defaults, shape.appends) == (2, 2)
    assert (shape.comprehensions, shape.conditionals) == (0, 0)


def test_what_only_resembles_it_is_not() -> None:
    shape = Shape()

    shape.add("plain.py", PLAIN)

    assert (shape.defaults, shape.appends) == (0, 0)
    assert (shape.comprehensions, shape.conditionals) == (2, 1)


def test_words_are_those_of_names_and_strings_and_not_of_comments() -> None:
    source = '"""Of a remote house."""\nTENANTS = SharedTenant("remotely")  # sharing\n'

    assert words_of(source) == {"tenants", "shared", "tenant", "remotely"}
