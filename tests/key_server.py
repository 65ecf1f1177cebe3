"""A Messages API in a thread of the test, which can switch it between accepting and refusing the key at any time."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from antiphon.vocabulary.ports import Json

ANSWER = "A mailbox is a queue of messages."
MODELS = "/v1/models"
MESSAGES = "/v1/messages"


class KeyServer:
    """The server, controlled by a test.

    Attributes:
        accepts: Accept the key; otherwise refuse it, and repeat it in the error as some servers do.
        lists_models: Serve a list of models.
        checked: Set once a client has requested that list.
    """

    def __init__(self, *, accepts: bool = False, lists_models: bool = True) -> None:
        self.accepts = accepts
        self.lists_models = lists_models
        self.checked = threading.Event()
        self.url = ""

    def reply(self, path: str, key: str) -> tuple[int, Json]:
        """Returns status and body."""
        if path == MODELS and not self.lists_models:
            return 404, {"detail": "Not Found"}
        if not self.accepts:
            error = {
                "type": "authentication_error",
                "message": f"invalid x-api-key: {key}",
            }
            return 401, {"type": "error", "error": error}
        if path == MODELS:
            return 200, {"data": [{"type": "model", "id": "claude-x"}]}
        return 200, {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude-x",
            "content": [{"type": "text", "text": ANSWER}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 12, "output_tokens": 7},
        }


@contextmanager
def key_server(server: KeyServer) -> Iterator[KeyServer]:
    """Serves on a free port until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            path = self.path.partition("?")[0]
            status, body = server.reply(path, self.headers.get("authorization", ""))
            content = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
            if path == MODELS:
                server.checked.set()

        do_GET = do_POST = _answer

        def log_message(self, *_: object) -> None:
            """Logs no requests."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        server.url = f"http://127.0.0.1:{listening.server_port}"
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        try:
            yield server
        finally:
            listening.shutdown()
