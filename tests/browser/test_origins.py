"""A page of another origin may call the service from a real browser only if the owner has named that origin."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from antiphon.service import AccessFile, Keys
from tests.browser.conftest import serving, without_traces

# A user's app asks live, fetches a later answer by its Location, and reads a refusal.
_CALLS = """async ([service, key]) => {
  const headers = {"Authorization": `Bearer ${key}`, "Content-Type": "application/json"};
  const body = JSON.stringify({query: "What is applemailbox2 in the Apple course?"});
  const asking = {method: "POST", headers: {...headers, Accept: "text/event-stream", "Idempotency-Key": "a1"}, body};
  const told = [];
  try {
    const live = await fetch(`${service}/api/query`, asking);
    told.push((await live.text()).includes("event: answer"));
    const later = await fetch(`${service}/api/queries`, {method: "POST", headers, body});
    const place = later.headers.get("Location");
    told.push((await fetch(service + place, {headers})).status);
    const refused = await fetch(`${service}/api/courses`, {headers: {"X-API-Key": "ant_wrong"}});
    told.push((await refused.json()).error.code, refused.headers.get("WWW-Authenticate") !== null);
  } catch (error) {
    told.push(error.name);
  }
  return told;
}"""


class _Empty(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<title>An app</title>")

    def log_message(self, *_: Any) -> None:
        """Logs nothing."""


@pytest.fixture
def app() -> Iterator[str]:
    """The origin of a user's own site."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Empty) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{site.server_port}"
        site.shutdown()


@pytest.mark.parametrize(
    ("named", "told"),
    [(True, [True, 200, "unauthorized", True]), (False, ["TypeError"])],
)
def test_a_page_of_another_origin_asks_and_reads_if_the_owner_named_it(
    data_dir: Path,
    tmp_path: Path,
    browser: Browser,
    app: str,
    named: bool,
    told: list[object],
) -> None:
    folder = without_traces(data_dir, tmp_path)
    file = AccessFile(folder)
    key, _ = Keys(file).add("app", "acme", ["ask"])
    file.close()
    origins = app if named else "https://app.example"

    with serving(folder, tmp_path, ANTIPHON_ALLOWED_ORIGINS=origins) as server:
        page = browser.new_page()
        page.goto(app)
        found = page.evaluate(_CALLS, [server.url, key])
        page.close()

    assert found == told
