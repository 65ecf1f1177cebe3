"""The password in an address goes to its server and appears nowhere else: not in errors, traces, or on a terminal."""

from __future__ import annotations

import threading
from base64 import b64encode
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from antiphon.composition import load_settings, redaction_of
from antiphon.knowledge import Library, index_paths
from antiphon.vocabulary.errors import ConfigurationError, KnowledgeError
from tests.course_files import write_course
from tests.fakes_knowledge import HashingEmbedder

LOGIN = "me:hunter2%40-hunter2"
PASSWORDS = ("hunter2%40-hunter2", "hunter2@-hunter2")


class _Refusing(BaseHTTPRequestHandler):
    """Answers the heartbeat, and refuses everything else; notes who asks."""

    logins: ClassVar[set[str | None]]
    port: int
    alive = True

    def do_GET(self) -> None:
        self.logins.add(self.headers.get("Authorization"))
        self.send_response(200 if "heartbeat" in self.path and self.alive else 401)
        self.end_headers()
        self.wfile.write(b"{}")

    do_POST = do_GET

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture
def refusing() -> Iterator[type[_Refusing]]:
    class Handler(_Refusing):
        logins: ClassVar[set[str | None]] = set()

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        Handler.port = server.server_address[1]
        yield Handler
        server.shutdown()


def address(port: int) -> str:
    return f"http://{LOGIN}@127.0.0.1:{port}"


def shown(error: pytest.ExceptionInfo[Exception]) -> str:
    return str(error.value)


@pytest.mark.parametrize("alive", [True, False], ids=["refuses", "refuses at once"])
def test_an_index_server_that_refuses_is_named_without_the_password_that_it_was_sent(
    alive: bool, refusing: type[_Refusing], tmp_path: Path
) -> None:
    refusing.alive = alive
    write_course(tmp_path / "courses", "apple", lessons=1)
    index_paths([tmp_path / "courses"], tmp_path / "data", HashingEmbedder())

    with pytest.raises(KnowledgeError) as opened:
        Library.open(
            tmp_path / "data",
            HashingEmbedder(),
            address(refusing.port),
        )

    assert "http://[masked]@127.0.0.1" in shown(opened)
    assert not any(password in shown(opened) for password in PASSWORDS)
    expected = b64encode(b"me:hunter2@-hunter2").decode()
    assert refusing.logins == {f"Basic {expected}"}


def test_an_index_server_that_is_not_there_is_named_without_the_password(
    tmp_path: Path,
) -> None:
    write_course(tmp_path / "courses", "apple", lessons=1)
    for url in (address(1), f"http://{LOGIN}@"):
        with pytest.raises((KnowledgeError, ConfigurationError)) as indexed:
            index_paths(
                [tmp_path / "courses"],
                tmp_path / "data",
                HashingEmbedder(),
                chroma_url=url,
            )

        assert not any(password in shown(indexed) for password in PASSWORDS)


@pytest.mark.parametrize("name", ["chroma_url", "anthropic_base_url"])
def test_a_password_that_a_server_or_library_repeats_is_redacted_before_it_is_stored(
    name: str,
) -> None:
    settings = load_settings(reasoner="offline", **{name: address(8000)})

    redaction = redaction_of(settings)

    for password in PASSWORDS:
        assert password not in redaction.text(f"no access with {password} here")
