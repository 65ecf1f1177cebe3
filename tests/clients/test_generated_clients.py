"""Three generators make clients from the unchanged published schema; the clients ask, follow, cancel and read."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import pytest

from tests.e2e.conftest import (
    ROOT,
    Server,
    data_dir,
    server,
    serving,
    shell,
    silent_model,
    stuck_server,
)

__all__ = ["data_dir", "server", "serving", "shell", "silent_model", "stuck_server"]

HERE = Path(__file__).parent
TOOLS = Path(sys.prefix) / "clients" / "bin"
"""The environment of the generators, as `make setup-dev` makes it."""
NODE_MODULES = ROOT / "tests" / "browser" / "node_modules"
TSC = (
    *("--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2023"),
    *("--lib", "es2023,dom,dom.iterable", "--outDir", "built"),
)
IN_CI = bool(os.environ.get("CI"))
QUESTION = "What is applemailbox7 in the Apple course?"
MOST_S = 300


def _needed(tool: Path) -> str:
    """Returns the tool's path; without the tool the test skips, except in CI."""
    if not tool.exists() and not IN_CI:
        pytest.skip(f"NO {tool.name}: `make setup-dev` installs it")
    return str(tool)


class Made(NamedTuple):
    """A folder with the published schema, to make and use a client in."""

    folder: Path

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Runs one command, which must succeed."""
        path = f"{TOOLS}{os.pathsep}{os.environ['PATH']}"
        ended = subprocess.run(
            command,
            cwd=self.folder,
            env=os.environ | {"PATH": path, "PYTHONPATH": str(self.folder)},
            capture_output=True,
            text=True,
            timeout=MOST_S,
            check=False,
        )
        assert ended.returncode == 0, ended.stdout[-4_000:] + ended.stderr[-4_000:]
        return ended

    def schema_names(self) -> list[str]:
        """The names of the published schemas that need a class."""
        published = json.loads((self.folder / "openapi.json").read_text())
        schemas = published["components"]["schemas"]
        # A JSON value may be anything and needs no class; generators inline the union of two.
        return [name for name in schemas if name not in ("JsonValue", "LiveEvent")]


@pytest.fixture
def made(server: Server, tmp_path: Path) -> Made:
    """A folder with the schema that the service publishes."""
    published = httpx2.get(f"{server.url}/openapi.json").content
    (tmp_path / "openapi.json").write_bytes(published)
    return Made(tmp_path)


def _classes(models: Path) -> set[str]:
    """The classes of a client, one for each file."""
    return {_plain(file.stem) for file in models.glob("*.py")}


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _missing(made: Made, models: Path) -> list[str]:
    there = _classes(models)
    return [name for name in made.schema_names() if _plain(name) not in there]


def _assert_used(run: subprocess.CompletedProcess[str]) -> None:
    """Compares the client's output with the expected behaviour of the service."""
    found: dict[str, Any] = json.loads(run.stdout)
    assert "applemailbox7" in found["answer"]
    assert found["calls"] > 0
    assert "event: query_closed" in found["stream"]
    assert found["cancelled"] == "cancelled"
    assert found["trace"][0] == "query_received"
    assert found["trace"][-1] == "query_closed"


def test_openapi_python_client_makes_a_client(
    made: Made, server: Server, stuck_server: Server
) -> None:
    tool = _needed(TOOLS / "openapi-python-client")

    said = made.run(
        tool, "generate", "--path", "openapi.json", "--output-path", ".", "--overwrite"
    )
    used = made.run(
        _needed(TOOLS / "python"),
        str(HERE / "of_openapi_python_client.py"),
        *(server.url, stuck_server.url, QUESTION),
    )

    _assert_used(used)
    assert _missing(made, made.folder / "antiphon_client" / "models") == []
    # The only kind of body that the generator does not support is a trace file.
    left_out = re.findall("WARNING parsing (.*) within", said.stderr)
    assert left_out == [
        "POST /api/traces/import",
        "GET /api/traces/{query_id}/export",
    ]


def test_openapi_generator_makes_a_client(
    made: Made, server: Server, stuck_server: Server
) -> None:
    tool = _needed(TOOLS / "openapi-generator-cli")

    made.run(tool, "validate", "-i", "openapi.json")
    made.run(tool, "generate", "-i", "openapi.json", "-g", "python", "-o", ".")
    used = made.run(
        _needed(TOOLS / "python"),
        str(HERE / "of_openapi_generator.py"),
        *(server.url, stuck_server.url, QUESTION),
    )

    _assert_used(used)
    assert _missing(made, made.folder / "openapi_client" / "models") == []


def test_openapi_typescript_makes_a_client(
    made: Made, server: Server, stuck_server: Server
) -> None:
    tool = _needed(NODE_MODULES / ".bin" / "openapi-typescript")
    (made.folder / "node_modules").symlink_to(NODE_MODULES)
    (made.folder / "package.json").write_text('{"type": "module"}')
    shutil.copy(HERE / "of_openapi_typescript.ts", made.folder / "use.ts")

    # Without this flag, the types require fields that have a default.
    plainly = ("--default-non-nullable", "false")
    made.run(tool, "openapi.json", "-o", "schema.ts", *plainly)
    made.run(str(NODE_MODULES / ".bin" / "tsc"), *TSC, "use.ts")
    used = made.run("node", "built/use.js", server.url, stuck_server.url, QUESTION)

    _assert_used(used)


def test_schemas_have_plain_names_and_nothing_newer_than_openapi_3_1(
    made: Made,
) -> None:
    published = json.loads((made.folder / "openapi.json").read_text())

    names = list(published["components"]["schemas"])
    found = set(_keys(published["paths"])) | set(_keys(published["components"]))

    assert published["openapi"] == "3.1.0"
    assert [name for name in names if not re.fullmatch("[A-Z][A-Za-z]*", name)] == []
    assert "itemSchema" not in found


def _keys(part: object) -> Iterator[str]:
    if isinstance(part, list):
        for each in part:
            yield from _keys(each)
    if isinstance(part, dict):
        yield from part
        for each in part.values():
            yield from _keys(each)
