"""The counting of the gate on complexity."""

from __future__ import annotations

from tests.house.complexity import MAX_COMPLEXITY, ROOT, Figures, product_files

FOLDED = """
class Outer:
    class Inner:
        def folded(self, rows):
            # one line, and as complex as seven
            return [a or b for row in rows if row for a, b in row if a] if rows else [c for c in (d for d in rows)]
"""


def test_a_folded_function_counts_as_what_it_is_even_in_an_inner_class() -> None:
    figures = Figures()

    figures.add("folded.py", FOLDED)

    (function,) = figures.functions
    assert (function.name, function.complexity, function.place) == (
        "Inner.folded",
        9,
        "folded.py:4",
    )
    assert (figures.comprehensions, figures.nested, figures.comments) == (3, 2, 1)


def test_the_worst_is_named_first() -> None:
    figures = Figures()
    figures.add("a.py", "def bad(x):\n    return " + " or ".join(["x"] * 12))
    figures.add(
        "b.py",
        "def worse(x):\n    return " + " or ".join(["x"] * 13) + "\ndef fine(): pass",
    )

    assert [each.name for each in figures.above(MAX_COMPLEXITY)] == ["worse", "bad"]


def test_each_file_of_the_product_is_measured_once_and_no_test() -> None:
    files = [path.relative_to(ROOT) for path in product_files()]

    assert len({path.resolve() for path in files}) == len(files)
    assert {"antiphon", "bus", "knowledge", "benchmarks"} <= {
        path.parts[0] for path in files
    }
    assert not any(path.parts[0] == "tests" for path in files)
