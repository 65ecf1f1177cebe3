"""One process needs no client of NATS: it is an extra, for several machines."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from antiphon.composition import settings
from antiphon.vocabulary.errors import ConfigurationError
from tests.course_files import write_course
from tests.e2e.conftest import ROOT, environment

WITHOUT = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "nats":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
from antiphon.cli import main
main()
"""


def test_a_service_of_one_process_answers_without_it(tmp_path: Path) -> None:
    courses = tmp_path / "courses"
    write_course(courses, "apple")
    said: list[str] = []

    for arguments in (["index", str(courses)], ["ask", "What is applemailbox7?"]):
        run = subprocess.run(
            [sys.executable, "-c", WITHOUT, *arguments],
            env=environment(tmp_path / "data"),
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert run.returncode == 0, run.stderr
        said.append(run.stdout)

    assert "applemailbox7" in said[1]


def test_servers_that_nothing_can_speak_to_are_refused_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(settings, "find_spec", lambda _: None)

    with pytest.raises(ConfigurationError, match=r"pip install 'antiphon\[cluster\]'"):
        settings.load_settings(nats_url="nats://127.0.0.1:4222")
