"""What users import stands in `antiphon`: documented, typed, and imported only when it is used."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import antiphon

ROOT = Path(__file__).parents[3]
HEAVY = (
    "anthropic",
    "chromadb",
    "fastapi",
    "msgspec",
    "pydantic",
    "antiphon.service",
    "antiphon.vocabulary",
)


@pytest.mark.parametrize("name", antiphon.__all__)
def test_every_public_name_is_there_and_documented(name: str) -> None:
    found = getattr(antiphon, name)

    # `Rules` is a type alias, which holds no docstring of its own at run time.
    assert name == "Rules" or (inspect.getdoc(found) or "").strip()
    assert name in dir(antiphon)


def test_the_types_are_of_the_same_names() -> None:
    stub = ast.parse((ROOT / "antiphon" / "__init__.pyi").read_text())
    assigned = {
        node.targets[0].id: node.value
        for node in stub.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    imported = {
        name.asname or name.name
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }

    assert sorted(ast.literal_eval(assigned["__all__"])) == sorted(antiphon.__all__)
    assert imported == set(antiphon.__all__)


def test_a_name_that_is_not_public_is_not_there() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'QueryCoordinator'"):
        antiphon.QueryCoordinator  # type: ignore[attr-defined]  # noqa: B018 - that is the test


def test_importing_the_package_imports_nothing_else() -> None:
    code = f"import sys, antiphon; print([name for name in {HEAVY} if name in sys.modules])"

    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    assert run.stdout.strip() == "[]"


def test_a_component_from_outside_needs_no_other_import() -> None:
    code = "\n".join(
        [
            "from antiphon import Decider, Event, Recorded, Rules, Subscriber, Subscription, events, on, tool",
            "async def room_of(course: str) -> str:",
            "    '''Says where a course is taught.'''",
            "    return course",
            "assert tool(room_of).name == 'room_of'",
            "assert issubclass(events.QueryReceived, Event)",
            "assert on(events.QueryClosed, print).name == 'print'",
        ]
    )

    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
