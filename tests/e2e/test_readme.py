"""What README.md and docs/tour.md show is what their commands print today."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterator

import pytest

from tests.e2e.conftest import ROOT, Shell, environment, serving
from tests.e2e.forking import CLIENT, address
from tests.e2e.readme import (
    PAGES,
    Reader,
    Shown,
    comparable,
    environment_with,
    ids_in,
    missing,
    shown,
)

SHOWN = [each for page in PAGES for each in shown(page.read_text(encoding="utf-8"))]
FORKED = "Which course explains prompt injection, and who teaches it?"
"""The question whose trace the page forks; it names it in a sentence."""
NOT_TYPED = {
    "ANTHROPIC_API_KEY=… make run": "would ask Claude",
}
"""Commands that are not run here, by how they begin, and why."""


@pytest.fixture(scope="module")
def reader(shell: Shell, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    """A reader after `make run`: the samples are indexed, and the service runs."""
    folder = tmp_path_factory.mktemp("reader")
    for name in ("samples", "docs"):
        (folder / name).symlink_to(ROOT / name)
    own = folder / "path" / "to" / "courses"
    own.mkdir(parents=True)
    (own / "title.md").write_text("Course Title: Title\n\nLesson 1: One\nText.\n")
    sample = ROOT / "samples" / "courses" / "reliability-engineering.txt"
    shutil.copy(sample, own)
    data_dir = folder / "data"
    run = shell.run("index", "samples/courses", folder=folder, data_dir=data_dir)
    assert run.returncode == 0, run.stderr
    command = folder / "bin" / "antiphon"
    command.parent.mkdir()
    command.write_text(CLIENT.format(python=sys.executable, address=address()))
    command.chmod(0o755)
    with serving(data_dir, folder) as server:
        typing = environment_with(command, environment(data_dir))
        yield Reader(folder, server.url, typing)


def _why_not_typed(command: str) -> str | None:
    for beginning, why in NOT_TYPED.items():
        if command.startswith(beginning):
            return why
    return None


@pytest.mark.skipif(
    not (shutil.which("curl") and shutil.which("jq")),
    reason="the page's commands need curl and jq: install them to have the page checked",
)
def test_every_command_of_the_pages_prints_what_they_show(reader: Reader) -> None:
    differences: list[str] = []
    _ask_the_forked_question(reader)

    for each in SHOWN:
        if _why_not_typed(each.command):
            continue
        printed = reader.type(each.command)
        _learn_ids(reader, each, printed)
        for line in missing(each.output, printed):
            differences.append(f"$ {each.name}\n    shown, not printed: {line}")
        # A command that the page shows does what it says there, or the page shows why not.
        for line in printed.splitlines():
            if line.startswith("antiphon: "):
                differences.append(f"$ {each.name}\n    refused: {line}")
        if os.environ.get("README_PRINTED"):
            sys.stdout.write(f"$ {each.command}{printed}\n")

    assert differences == [], "\n".join(differences)


def _ask_the_forked_question(reader: Reader) -> None:
    """Asks what the page forks, and notes the ids of that trace and of its first tool call."""
    answer = json.loads(reader.result(f'antiphon ask "{FORKED}" --json'))
    lines = reader.result(f"antiphon traces export {answer['query_id']} -o /dev/stdout")
    reader.newest = answer["query_id"]
    # The outline of the second round, after the search of the first.
    called = re.findall(r"toolu_[0-9a-f]+", lines)[-1]
    for each in SHOWN:
        if each.command.startswith("antiphon traces fork"):
            for of_page in ids_in(each.command):
                ours = answer["query_id"]
                if of_page.startswith("toolu_"):
                    ours = called
                reader.call(of_page, ours)


def _learn_ids(reader: Reader, each: Shown, printed: str) -> None:
    """Notes which id here is which of the page: the answer's query, or a new fork."""
    for of_page, ours in zip(ids_in(each.output), ids_in(printed), strict=False):
        reader.call(of_page, ours)


def test_what_differs_from_run_to_run_is_left_open_and_nothing_else() -> None:
    assert comparable("fork a03bc77a2c154ea0 took 12.5 ms") == ["fork <id> took <n> ms"]
    assert missing("one\n…\nthree …\n", "one\ntwo\nthree and more\n") == []
    assert missing("high\n", "low\n") == ["high"]
    assert missing("one\ntwo\n", "two\none\n") == ["two"]


def test_summed_tokens_may_differ_in_their_last_digits_and_no_more() -> None:
    page = "2.8 calls, 264,501 + 16,378 tokens, 70 ms\n"

    assert missing(page, "2.8 calls, 262,867 + 16,210 tokens, 85 ms\n") == []
    assert missing(page, "2.8 calls, 254,501 + 16,378 tokens, 70 ms\n") != []
    assert missing(page, "2.9 calls, 264,501 + 16,378 tokens, 70 ms\n") != []
    assert missing(page, "2.8 calls, no tokens, 70 ms\n") != []
