"""A format of the user's own: the example of docs/documents.md, indexed, uploaded, asked about and cited."""

from __future__ import annotations

import re
from pathlib import Path

import httpx2
import pytest

from tests.e2e.conftest import ROOT, STARTING_S, Shell, serving

EXAMPLE = re.compile(r"```python\n# log_reader\.py\n(.+?)```", re.DOTALL)
OWN = {"ANTIPHON_READERS": "log_reader:LOGBOOK"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = EXAMPLE.search((ROOT / "docs" / "documents.md").read_text())
    assert found is not None
    (tmp_path / "log_reader.py").write_text(found[1])
    (tmp_path / "voyage.log").write_text(
        "Day 1: We left the harbour of Brest with nine tonnes of salt.\n"
        "Day 2: The cook found a stowaway behind the flour barrels.\n"
    )
    return tmp_path


def test_a_format_of_the_users_own_is_indexed_and_cited_with_its_own_place(
    shell: Shell, folder: Path
) -> None:
    data = folder / "data"
    refused = shell.run("index", "voyage.log", folder=folder, data_dir=data)

    indexed = shell.run("index", "voyage.log", folder=folder, data_dir=data, **OWN)
    asked = shell.run(
        *("ask", "Who found a stowaway behind the flour barrels?"),
        folder=folder,
        data_dir=data,
    )

    assert "it ends in none of .txt" in refused.stderr
    assert (indexed.returncode, asked.returncode) == (0, 0)
    assert "The cook found a stowaway" in asked.stdout
    assert "[1] The logbook, Day 1, Day 2" in asked.stdout


def test_a_setting_that_names_no_reader_is_refused_in_a_sentence(
    shell: Shell, folder: Path
) -> None:
    run = shell.run(
        *("index", "voyage.log"),
        folder=folder,
        data_dir=folder / "data",
        ANTIPHON_READERS="log_reader:read",
    )

    assert run.returncode == 1
    assert "Reader log_reader:read is function; wanted a Format" in run.stderr


def test_the_service_takes_such_a_file_as_an_upload(folder: Path) -> None:
    with (
        serving(folder / "data", folder, **OWN) as server,
        httpx2.Client(base_url=server.url, timeout=STARTING_S) as client,
    ):
        formats = client.get("/api/formats").json()["formats"]
        sent = client.post(
            "/api/documents",
            files={"files": ("voyage.log", (folder / "voyage.log").read_bytes())},
        )
        assert sent.status_code == 202, sent.text
        job = sent.json()
        path = f"/api/documents/jobs/{job['job_id']}"
        # Its events end when it does.
        client.get(path, headers={"accept": "text/event-stream"})
        job = client.get(path).json()
        courses = client.get("/api/courses").json()["course_titles"]

    assert formats[0] == {"name": "logbook", "suffixes": [".log"], "places": "day"}
    assert [file["status"] for file in job["files"]] == ["added"]
    assert courses == ["The logbook"]
