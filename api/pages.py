"""The pages: one shell for every view, and the files that it loads, with headers that keep hostile text harmless."""

from __future__ import annotations

import hashlib
import mimetypes
from collections.abc import Awaitable, Callable
from pathlib import Path

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from antiphon.api.errors import refuse

FOLDER = Path(__file__).parent / "web"
SHELL = "index.html"
VIEWS = (
    "/",
    "/conversations/{session_id}",
    "/courses",
    "/read",
    "/search",
    "/traces",
    "/traces/{query_id}",
    "/traces/{query_id}/{view}",
    "/traces/{query_id}/{view}/{item}",
    "/faults",
    "/faults/{point}/{kind}",
)
"""The paths of the views (web/views.js says what each shows); all are served the same shell."""

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'self'",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        # The one policy: HTML that the service made from Markdown (web/safe_html.js).
        "trusted-types antiphon-html",
    )
)
HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
FOR_EVER = "public, max-age=31536000, immutable"
CHECKED = "no-cache"
"""Kept, but asked for each time whether it is still so (ETag)."""

_ROOT = "{root}"
_ASSETS = "{assets}"
_MODULES = "{modules}"


class Pages:
    """The shell and its files, read once.

    The files' address holds the hash of them all, so that a browser may keep each for ever, and never
    mixes two versions.
    """

    def __init__(self, root_path: str) -> None:
        self._files = _read(FOLDER)
        shell = self._files.pop(SHELL).decode()
        self.version = _hash(self._files)
        assets = f"{root_path}/web/{self.version}"
        shell = shell.replace(_MODULES, _preloads(self._files))
        self._shell = shell.replace(_ASSETS, assets).replace(_ROOT, root_path).encode()
        self._etag = f'"{_hash({SHELL: self._shell})}"'

    async def shell(self, request: Request) -> Response:
        """Serves the shell, or nothing where the browser has it."""
        headers = HEADERS | {"Cache-Control": CHECKED, "ETag": self._etag}
        if request.headers.get("if-none-match") == self._etag:
            return Response(status_code=304, headers=headers)
        return Response(
            self._shell, media_type="text/html; charset=utf-8", headers=headers
        )

    async def file(self, request: Request) -> Response:
        """Serves one file of this version."""
        name = request.path_params["name"]
        data = self._files.get(name)
        if data is None or request.path_params["version"] != self.version:
            return refuse(
                404, "not_found", "The pages have no such file now: load them again."
            )
        form, _ = mimetypes.guess_type(name)
        headers = HEADERS | {"Cache-Control": FOR_EVER}
        return Response(data, media_type=form, headers=headers)


def add_pages(app: FastAPI, root_path: str) -> None:
    """Adds the pages to the app, beside the API that they use."""
    pages = Pages(root_path)
    # Plain routes: the pages are no part of the API's schema, and take any query parameters.
    for path in VIEWS:
        _add(app, path, pages.shell)
    _add(app, "/web/{version}/{name:path}", pages.file)


def _add(
    app: FastAPI, path: str, answer: Callable[[Request], Awaitable[Response]]
) -> None:
    app.router.add_route(path, answer, methods=["GET"], include_in_schema=False)


def _read(folder: Path) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            files[path.relative_to(folder).as_posix()] = path.read_bytes()
    return files


def _preloads(files: dict[str, bytes]) -> str:
    """Names every module, so that a browser fetches them at once and not each when another has asked for it."""
    return "\n    ".join(
        f'<link rel="modulepreload" href="{_ASSETS}/{name}">'
        for name in files
        if name.endswith(".js")
    )


def _hash(files: dict[str, bytes]) -> str:
    digest = hashlib.sha256()
    for name, data in files.items():
        digest.update(b"%d %s %d " % (len(name), name.encode(), len(data)))
        digest.update(data)
    return digest.hexdigest()[:16]
