"""Requests that are made from the published schema, sound ones and broken ones, by schemathesis.

A minute in the suite; SCHEMA_EXAMPLES=350 sends many more (https://schemathesis.readthedocs.io).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest

from antiphon.service import AccessFile, Keys
from antiphon.vocabulary.access import SCOPES
from tests.e2e.conftest import STARTING_S, serving

EXAMPLES = os.environ.get("SCHEMA_EXAMPLES", "4")
"""Random requests of each operation, beside those that the schema itself names and the borders of its values."""
SEED = os.environ.get("SCHEMA_SEED", "1")
MOST_S = 60 * 60
RUN = "from schemathesis.cli import schemathesis; schemathesis()"

# No schema can say what fits an event of a trace: such a request is refused with 422. Two keys that differ are refused
# with 401. With `strict` 502 and 504 are what was asked for: an answer, but not by the model.
CONFIG = """
[parameters]
"path.query_id" = "{query_id}"
"path.other_id" = "{query_id}"

[[operations]]
include-path-regex = "fork|fault"
checks.positive_data_acceptance.expected-statuses = ["2xx", 401, 403, 404, 409, 422, 503]

# A file that the course does not have is refused as 422, and 4,000 long names are more than a body may be.
[[operations]]
include-path-regex = "layout"
checks.positive_data_acceptance.expected-statuses = ["2xx", 401, 403, 404, 409, 413, 422, 503]
checks.negative_data_rejection.expected-statuses = [400, 401, 403, 404, 409, 413, 415, 422, 429]

[[operations]]
include-path = "/api/query"
checks.not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", 502, 504]
"""


@pytest.mark.parametrize("with_key", [False, True], ids=["without keys", "with a key"])
def test_the_service_does_what_its_schema_says(
    data_dir: Path, tmp_path: Path, with_key: bool
) -> None:
    # A folder of its own, since these requests also delete what they create.
    folder = Path(shutil.copytree(data_dir, tmp_path / "data"))
    headers: dict[str, str] = {}
    if with_key:
        file = AccessFile(folder)
        key, _ = Keys(file).add("schema", "acme", list(SCOPES))
        file.close()
        headers = {"Authorization": f"Bearer {key}"}
    with serving(folder, tmp_path) as server:
        question = {"query": "What is applemailbox7 in the Apple course?"}
        asked = httpx2.post(
            f"{server.url}/api/query",
            json=question,
            headers=headers,
            timeout=STARTING_S,
        )
        config = CONFIG.format(query_id=asked.json()["query_id"])
        (tmp_path / "schemathesis.toml").write_text(config)
        command = [
            *(
                sys.executable,
                "-c",
                RUN,
                "run",
                _with_item_schemas(server.url, tmp_path),
            ),
            *("--url", server.url),
            *("--phases", "examples,coverage,fuzzing", "--max-examples", EXAMPLES),
            # One worker: two that parse Python at once may crash Python 3.11 (github.com/python/cpython/issues/106905).
            *("--seed", SEED, "--workers", "1", "--no-color"),
            # A kept connection may be closed just when it is used again, and a loaded machine may be slow: neither is a
            # breach of the schema.
            *("--request-retries", "2", "--request-timeout", "60"),
            # A deleted trace would be missing for the rest, no generator makes a trace file, and each form of files
            # begins an indexing run: all have own tests.
            *("--exclude-method", "DELETE", "--exclude-path", "/api/traces/import"),
            *("--exclude-path", "/api/documents"),
        ]
        # With a key each operation is also sent without one, and with a wrong one (the check `ignored_auth`).
        for name, value in headers.items():
            command += ["--header", f"{name}: {value}"]

        run = subprocess.run(
            command,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=MOST_S,
            check=False,
        )
    # `pytest -s` shows it: how many cases there were.
    sys.stdout.write(run.stdout[-1_500:])

    assert run.returncode == 0, run.stdout[-8_000:] + run.stderr[-2_000:]
    assert "Server error" not in run.stdout


def _with_item_schemas(url: str, folder: Path) -> str:
    """Writes the served schema with each stream's events under `itemSchema`, and returns the file's path.

    Schemathesis holds each event against the schema it finds; OpenAPI 3.1 can only describe the text as a whole.
    """
    schema = httpx2.get(f"{url}/openapi.json", timeout=STARTING_S).json()
    for operations in schema["paths"].values():
        for operation in operations.values():
            for response in operation["responses"].values():
                stream = response.get("content", {}).get("text/event-stream")
                if stream and "contentSchema" in stream["schema"]:
                    text = stream.pop("schema")
                    stream["itemSchema"] = text["contentSchema"]["items"]
    file = folder / "openapi.json"
    file.write_text(json.dumps(schema))
    return str(file)
