"""Documents that a tenant adds over real HTTP, with a real index: seen and found by that tenant alone."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import uvicorn

from antiphon.api import create_app
from antiphon.service import AccessFile, Keys, Settings

MINE = "Course Title: Owls\n\nLesson 1: Hunting\nThe zanzibar owl hunts at night over the marsh.\n"
SHARED = (
    "Course Title: Foxes\n\nLesson 1: Hunting\nThe fox hunts at dawn in the field.\n"
)
THEIRS = "Course Title: Owls\n\nLesson 1: Hunting\nThe timbuktu owl hunts at noon over the dunes.\n"


@asynccontextmanager
async def _service(folder: Path) -> AsyncIterator[str]:
    settings = Settings(_env_file=None, data_dir=folder, embedder="onnx")  # type: ignore[call-arg]
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        config = uvicorn.Config(create_app(settings), log_config=None, access_log=False)
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            await serving


def _client(url: str, key: str | None = None) -> httpx2.AsyncClient:
    headers = {}
    if key is not None:
        headers["authorization"] = f"Bearer {key}"
    return httpx2.AsyncClient(base_url=url, headers=headers, timeout=60.0)


async def _done(client: httpx2.AsyncClient, job: httpx2.Response) -> dict[str, Any]:
    assert job.status_code == 202, job.text
    path = f"/api/documents/jobs/{job.json()['job_id']}"
    async with client.stream(
        "GET", path, headers={"accept": "text/event-stream"}
    ) as events:
        async for _ in events.aiter_lines():
            pass
    found: dict[str, Any] = (await client.get(path)).json()
    assert found["state"] == "done", found
    return found


async def _titles(client: httpx2.AsyncClient) -> list[str]:
    found: list[str] = (await client.get("/api/courses")).json()["course_titles"]
    return found


async def _add(client: httpx2.AsyncClient, name: str, text: str) -> dict[str, Any]:
    sent = {"files": (name, text.encode())}
    return await _done(client, await client.post("/api/documents", files=sent))


async def test_only_the_tenant_that_adds_a_document_sees_finds_and_removes_it(
    tmp_path: Path,
) -> None:
    async with _service(tmp_path) as url:
        async with _client(url) as owner:
            await _add(owner, "foxes.txt", SHARED)
        file = AccessFile(tmp_path, 5_000)
        scopes = ["ask", "debug", "documents"]
        keys = [Keys(file).add("t", tenant, scopes)[0] for tenant in ("acme", "other")]
        asking = Keys(file).add("t", "third", ["ask"])[0]
        file.close()
        acme, other, third = (_client(url, key) for key in (*keys, asking))

        added = await _add(acme, "owls.txt", MINE)
        job = f"/api/documents/jobs/{added['job_id']}"
        hidden_job = await other.get(job)
        # The same file from another tenant is not reported as a copy, which would reveal the first.
        copied = await _add(other, "owls.txt", MINE)
        replaced = await _add(other, "owls.txt", THEIRS)
        titles = [await _titles(each) for each in (acme, other, third)]
        search = "/api/search?q=zanzibar owl hunts"
        found = [(await each.get(search)).text for each in (acme, other, third)]
        named = await third.get("/api/search?q=owl&course=Owls")
        nothing = await third.get("/api/search?q=owl&course=Auks")
        text = "/api/text?course=Owls&lesson=1&start=0&length=80"
        texts = [await each.get(text) for each in (acme, other, third)]
        question = {"query": "When does the zanzibar owl hunt?"}
        answers = [
            (await each.post("/api/query", json=question)).json()
            for each in (acme, third)
        ]
        trace = await third.get(f"/api/traces/{answers[1]['query_id']}/events")
        both = (await acme.get("/api/search?q=hunts&limit=4")).json()["passages"]
        ready = (await third.get("/readyz")).json()
        not_theirs = await other.delete("/api/courses/Foxes")
        await _done(other, await other.delete("/api/courses/Owls"))
        left = await _titles(acme)
        for client in (acme, other, third):
            await client.aclose()

    async with (
        _service(tmp_path) as url,
        _client(url, keys[0]) as acme,
        _client(url, keys[1]) as other,
    ):
        after = [
            (await each.get("/api/courses")).json()["course_titles"]
            for each in (acme, other)
        ]

    assert [each["files"][0]["status"] for each in (added, copied, replaced)] == [
        "added"
    ] * 3
    assert hidden_job.status_code == 404
    assert titles == [["Foxes", "Owls"], ["Foxes", "Owls"], ["Foxes"]]
    assert ["marsh" in each for each in found] == [True, False, False]
    assert ["dunes" in each for each in found] == [False, True, False]
    assert named.status_code == 404
    assert named.text.replace("Owls", "Auks") == nothing.text
    assert [each.status_code for each in texts] == [200, 200, 404]
    assert "night" in answers[0]["answer"]
    assert "night" not in answers[1]["answer"]
    assert "Owls" not in trace.text
    assert {each["course"] for each in both} == {"Foxes", "Owls"}
    assert ready["courses"] == 1
    assert not_theirs.status_code == 404
    assert left == ["Foxes", "Owls"]
    assert after == [["Foxes", "Owls"], ["Foxes"]]


def _kept_in(folder: Path) -> str:
    """Returns the names and the contents of all files."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    contents = b"".join(path.read_bytes() for path in files)
    return "".join(map(str, files)) + contents.decode(errors="replace")


async def test_a_file_that_holds_a_key_is_refused_and_nothing_of_it_is_kept(
    tmp_path: Path,
) -> None:
    async with _service(tmp_path) as url:
        file = AccessFile(tmp_path, 5_000)
        key, _ = Keys(file).add("t", "acme", ["ask", "documents"])
        async with _client(url, key) as client:
            sent = [
                ("files", (f"{key}.txt", MINE.encode())),
                ("files", ("text.txt", f"{MINE}It opens by {key}.\n".encode())),
                ("files", ("title.md", f"# The key {key}\n\nIt opens.\n".encode())),
                ("files", ("owls.txt", MINE.encode())),
            ]
            job = await _done(client, await client.post("/api/documents", files=sent))
            courses = (await client.get("/api/courses")).text
        file.close()

    states = {each["name"]: each["status"] for each in job["files"]}
    assert list(states.values()).count("refused") == 3
    assert states["owls.txt"] == "added"
    assert key[17:] not in json.dumps(job) + courses + _kept_in(tmp_path)
