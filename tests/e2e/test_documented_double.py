"""`antiphon double --documented` as a server on a port: it answers, refuses, and shows its bill."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from antiphon.engine import connect
from antiphon.engine.server_profile import ask, source_request
from antiphon.vocabulary.errors import ModelError
from tests.e2e.conftest import STARTING_S, Antiphon, environment


@contextmanager
def documented_double(folder: Path) -> Iterator[str]:
    """The address of a double of the API as it is documented."""
    command = [sys.executable, "-m", "antiphon.cli"]
    process = subprocess.Popen(
        [*command, "double", "--documented", "--port", "0"],
        env=environment(folder),
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        said = process.stderr.readline()
        found = re.search(r"http://\S+", said)
        assert found, said + process.stderr.read()
        yield found[0]
    finally:
        process.terminate()
        process.wait(STARTING_S)


async def test_the_documented_double_answers_refuses_and_bills(tmp_path: Path) -> None:
    with documented_double(tmp_path) as url:
        model = connect("key", url)
        try:
            known = await model.check_key(20.0)
            reply = await ask(model, source_request("claude-sonnet-5-5"), 20.0)
            with pytest.raises(ModelError, match="claude-sonnet-9") as refused:
                await ask(model, source_request("claude-sonnet-9"), 20.0)
        finally:
            await model.aclose()
        bill = httpx2.get(f"{url}/bill").json()

    assert known
    assert "heliotrope" in reply.text.text
    assert refused.value.kind == "not_found"
    assert [billed["model"] for billed in bill["billed"]] == ["claude-sonnet-5-5"]
    assert bill["billed"][0]["usage"]["output_tokens"] == reply.usage.output_tokens
    assert len(bill["refused"]) == 1


def test_a_double_with_nothing_to_reply_says_what_to_name(antiphon: Antiphon) -> None:
    run = antiphon("double")

    assert run.returncode == 1
    assert "--script" in run.stderr
    assert "--documented" in run.stderr
