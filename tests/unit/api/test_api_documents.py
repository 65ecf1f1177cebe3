"""Documents added and courses removed over REST."""

from __future__ import annotations

import pytest

from antiphon.service import MOST_BYTES, MOST_FILES
from tests.unit.api.calling import Browser, Reply, app_of, events_in
from tests.unit.api.fakes import FakeService

BOUNDARY = "xyz"
MULTIPART = f"multipart/form-data; boundary={BOUNDARY}"


def form(*files: tuple[str, bytes], field: str = "files") -> bytes:
    """A form as a browser sends it."""
    parts = []
    for name, content in files:
        head = f'Content-Disposition: form-data; name="{field}"; filename="{name}"'
        parts.append(
            f"--{BOUNDARY}\r\n{head}\r\nContent-Type: text/plain\r\n\r\n".encode()
            + content
            + b"\r\n"
        )
    return b"".join([*parts, f"--{BOUNDARY}--\r\n".encode()])


async def send(
    service: FakeService, body: bytes, content_type: str = MULTIPART, **headers: str
) -> Reply:
    return await Browser(app_of(service)).post(
        "/api/documents", body, content_type=content_type, **headers
    )


async def test_files_are_handed_on_with_their_names_and_the_job_is_named() -> None:
    service = FakeService()

    reply = await send(service, form(("a/b.txt", b"one"), ("c.bin", b"two")))

    assert reply.status == 202
    assert reply.headers["location"] == "/api/documents/jobs/j-1"
    assert service.documents.sent == {"a/b.txt": b"one", "c.bin": b"two"}
    assert [(each["name"], each["status"]) for each in reply.json()["files"]] == [
        ("a/b.txt", "added"),
        ("c.bin", "refused"),
    ]


@pytest.mark.parametrize(
    ("body", "content_type", "status", "code"),
    [
        (b"{}", "application/json", 415, "not_multipart"),
        (b"", "", 415, "not_multipart"),
        (b"nonsense", MULTIPART, 400, "malformed_form"),
        (b"nonsense", "multipart/form-data", 400, "malformed_form"),
        (form(), MULTIPART, 422, "invalid_request"),
        (form(("a.txt", b""), field="file"), MULTIPART, 422, "invalid_request"),
        (
            form(*[(f"{number}.txt", b"") for number in range(MOST_FILES + 1)]),
            MULTIPART,
            400,
            "malformed_form",
        ),
    ],
)
async def test_what_is_no_form_of_files_is_refused(
    body: bytes, content_type: str, status: int, code: str
) -> None:
    service = FakeService()

    reply = await send(service, body, content_type)

    assert (reply.status, reply.error["code"]) == (status, code)
    assert service.documents.sent == {}


async def test_a_body_that_is_too_large_is_refused_before_it_is_read() -> None:
    reply = await send(FakeService(), b"", content_length=str(MOST_BYTES + 1))

    assert (reply.status, reply.error["code"]) == (413, "body_too_large")


async def test_a_page_of_another_site_adds_and_removes_nothing() -> None:
    service = FakeService()

    added = await send(service, form(("a.txt", b"x")), origin="https://evil.example")
    removed = await Browser(app_of(service)).call(
        "DELETE",
        "/api/courses/Practical Search",
        (),
        {"origin": "https://evil.example"},
    )

    assert (added.status, removed.status) == (403, 403)
    assert (service.documents.sent, service.documents.removed) == ({}, [])


async def test_a_job_is_read_as_it_is_and_followed_to_its_end() -> None:
    service = FakeService()
    app = app_of(service)
    await Browser(app).post(
        "/api/documents", form(("a.txt", b"x")), content_type=MULTIPART
    )

    now = await Browser(app).get("/api/documents/jobs/j-1")
    live = await Browser(app).get("/api/documents/jobs/j-1", accept="text/event-stream")
    missing = await Browser(app).get("/api/documents/jobs/j-2")

    assert now.json()["state"] == "done"
    assert [(kind, data["state"]) for kind, _, data in events_in(live.body)] == [
        ("progress", "running"),
        ("done", "done"),
    ]
    assert missing.status == 404


async def test_a_course_is_removed_by_its_title() -> None:
    service = FakeService()
    app = app_of(service)

    removed = await Browser(app).call("DELETE", "/api/courses/Practical Search", (), {})
    missing = await Browser(app).call("DELETE", "/api/courses/Nothing/at all", (), {})

    assert (removed.status, missing.status) == (202, 404)
    assert service.documents.removed == ["Practical Search"]


@pytest.mark.parametrize("root_path", ["", "/antiphon"])
async def test_files_may_be_larger_than_other_bodies_behind_a_proxy_too(
    root_path: str,
) -> None:
    app = app_of(FakeService(), root_path=root_path)

    reply = await Browser(app).post(
        f"{root_path}/api/documents",
        form(("a.txt", b"x" * 2_000_000)),
        content_type=MULTIPART,
    )

    assert reply.status == 202
