"""The style sheets: each class is defined in one of them, and nothing is styled that no page uses."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from antiphon.api.pages import MAIN, VIEWS, View, needed_modules
from tests.e2e.conftest import ROOT

WEB = ROOT / "api" / "web"
SHEETS = sorted((WEB / "style").glob("*.css"))
SHARED = {"base.css", "frame.css"}
"""The sheets that every view has; the others hold what belongs to one view."""
MOST_LINES = 1_590
_COMMENTS = re.compile(r"/\*.*?\*/", re.DOTALL)
_CLASSES = re.compile(r"\bclass: ([^,}\n]*)")
_LEADING = re.compile(r"^\.([a-zA-Z][\w-]*)")


def selectors(sheet: Path) -> Iterator[tuple[str, ...]]:
    """Yields the selectors of a sheet, each behind those that it is nested in; at-rules are no selectors."""
    nested: list[str] = []
    css = _COMMENTS.sub("", sheet.read_text())
    for before, brace in re.findall(r"([^{};]*)([{};])", css):
        if brace == "{":
            nested.append(" ".join(before.split()))
            if not nested[-1].startswith("@"):
                yield tuple(each for each in nested if not each.startswith("@"))
        elif brace == "}":
            nested.pop()


def leading(selector: str) -> list[str]:
    """The classes that a selector is about; a class behind another one only says in which state that is."""
    parts = re.split(r"[\s,>+~()]+|:(?:is|not|has|where)\b", selector)
    return [found.group(1) for part in parts if (found := _LEADING.match(part))]


def classes_of(script: str) -> set[str]:
    """The classes that a module gives to what it builds."""
    given = " ".join(_CLASSES.findall(script))
    return set(re.findall(r"[a-zA-Z][\w-]*", given))


def test_every_class_is_defined_in_one_sheet_and_others_change_it_only_within_their_own() -> (
    None
):
    roots: dict[str, set[str]] = defaultdict(set)
    named: dict[str, set[str]] = defaultdict(set)
    for sheet in SHEETS:
        for path in selectors(sheet):
            for part in path[0].split(","):
                for name in leading(part.strip())[:1]:
                    roots[name].add(sheet.name)
            for name in leading(path[-1]):
                named[name].add(sheet.name)

    assert {name: files for name, files in roots.items() if len(files) > 1} == {}
    twice = {
        name: files
        for name, files in named.items()
        if len(files) > 1 and not roots[name] & SHARED
    }
    assert twice == {}


def test_nothing_is_styled_that_no_page_uses() -> None:
    scripts = "".join(path.read_text() for path in WEB.rglob("*.js"))
    pages = scripts + (WEB / "index.html").read_text()
    used = set(re.findall(r"[a-zA-Z][\w-]*", pages))
    unused = {
        name
        for sheet in SHEETS
        for path in selectors(sheet)
        for name in re.findall(r"\.([a-zA-Z][\w-]*)", path[-1])
        if name not in used
    }

    assert unused == set()


def test_the_sheets_do_not_grow() -> None:
    assert sum(len(sheet.read_text().splitlines()) for sheet in SHEETS) <= MOST_LINES


def test_what_a_view_is_made_of_is_styled_in_the_sheets_that_it_has() -> None:
    scripts = {
        path.relative_to(WEB).as_posix(): path.read_text() for path in WEB.rglob("*.js")
    }
    sheets_of: dict[str, set[str]] = defaultdict(set)
    for sheet in SHEETS:
        for path in selectors(sheet):
            for name in leading(path[-1]):
                sheets_of[name].add(sheet.name)
    shell = View("", MAIN, ())
    lacking: set[tuple[str, str, str]] = set()
    for view in {shell, *VIEWS.values()}:
        for module in needed_modules(scripts, view.module):
            for name in classes_of(scripts[module]):
                sheets = sheets_of.get(name, SHARED)
                if sheets.isdisjoint(SHARED | set(view.styles)):
                    lacking.add((view.module, module, name))

    assert lacking == set()
