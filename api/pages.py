"""The pages: a shell for every view, and the files that it loads, with headers that keep hostile text harmless.

They are compressed once, when the service starts. Replies of the API are not compressed: each would cost the event
loop, which serves everybody, some milliseconds; a proxy in front may do it.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import mimetypes
import re
from collections.abc import Awaitable, Callable, Mapping
from html import escape
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import NamedTuple

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from antiphon.api.errors import refuse
from antiphon.api.responses import JSON, preferred

FOLDER = Path(__file__).parent / "web"
SAMPLES = FOLDER.resolve().parents[1] / "samples" / "courses"
"""Courses to begin with: a page without an index offers to add them. An installed package has none."""
SHELL = "index.html"
MAIN = "main.js"


class View(NamedTuple):
    """The view at a path; `main.js` gets the same table from the shell, and loads a view at its first use.

    Attributes:
        title: The title of the window, until the view sets another.
        module: The file whose `show` builds the view.
        styles: Its style sheets, in the order in which they apply; other views' sheets do not apply meanwhile.
    """

    title: str
    module: str
    styles: tuple[str, ...]


_ASK = View("Ask", "ask/page.js", ("ask.css",))
_TRACE = View("Trace", "traces/trace.js", ("ask.css", "trace.css"))
_FAULTS = View("Faults", "faults/page.js", ("faults.css",))
_QUALITY = View("Quality", "quality/page.js", ("ask.css", "quality.css"))

VIEWS = {
    "/": _ASK,
    "/conversations/{session_id}": _ASK,
    "/courses": View("Courses", "courses/page.js", ("courses.css",)),
    "/read": View("Text", "texts/reader.js", ("ask.css",)),
    "/search": View("Search", "texts/search.js", ("ask.css",)),
    "/traces": View("Traces", "traces/list.js", ("trace.css",)),
    "/traces/{query_id}": _TRACE,
    "/traces/{query_id}/{view}": _TRACE,
    "/traces/{query_id}/{view}/{item}": _TRACE,
    "/quality": _QUALITY,
    "/quality/{set_id}": _QUALITY,
    "/faults": _FAULTS,
    "/faults/{point}/{kind}": _FAULTS,
}
"""The views by their paths; all have the same shell, which names the modules and styles that the view needs at once."""

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
HTML = "text/html; charset=utf-8"
FORMS = (JSON, "text/html")
FOR_EVER = "public, max-age=31536000, immutable"
CHECKED = "no-cache"
"""The browser keeps the shell, but asks each time if it has changed (ETag)."""

_ROOT = "{root}"
_ASSETS = "{assets}"
_MODULES = "{modules}"
_STYLES = "{styles}"
_VIEWS = "{views}"
_SAMPLES = "{samples}"

# Imports as the formatter writes them, also over several lines; without `import("./x.js")`, which loads later.
_IMPORTS = re.compile(
    r'^(?:(?:(?:import|export) [^"\n]{1,160}|\}) from|import) "([^"\n]{1,200})"',
    re.MULTILINE,
)
_NOTHING = View("Not found", "", ())


class Asset(NamedTuple):
    """A file in the forms in which it is sent.

    Attributes:
        packed: The same by gzip; None if that is not smaller. It holds no secret and nothing from a request, so its
            length reveals nothing.
    """

    data: bytes
    packed: bytes | None

    @classmethod
    def of(cls, data: bytes) -> Asset:
        """Compresses a file."""
        packed = gzip.compress(data, mtime=0)
        return cls(data, packed if len(packed) < len(data) else None)

    def response(
        self, request: Request, headers: dict[str, str], form: str | None
    ) -> Response:
        """Returns the response with the file, compressed if the browser accepts that."""
        headers = headers | {"Vary": "Accept-Encoding"}
        if self.packed is None or not _takes_gzip(request):
            return Response(self.data, media_type=form, headers=headers)
        headers["Content-Encoding"] = "gzip"
        return Response(self.packed, media_type=form, headers=headers)


class Shell(NamedTuple):
    """The shell for one view."""

    asset: Asset
    etag: str


class Pages:
    """The shells and their files, read and compressed once.

    The address of each file holds a hash of all files, so that a browser may keep each for ever, and never mixes two
    versions.
    """

    def __init__(self, root_path: str) -> None:
        files = _read(FOLDER)
        samples = {f"samples/{name}": data for name, data in _read(SAMPLES).items()}
        files |= samples
        self._samples = escape(json.dumps(list(samples)))
        self._root_path = root_path
        self._template = files.pop(SHELL).decode()
        self._texts = {
            name: data.decode() for name, data in files.items() if name.endswith(".js")
        }
        self.version = _hash(files)
        self._files = {name: Asset.of(data) for name, data in files.items()}
        self._shells = {view: self._shell_of(view) for view in VIEWS.values()}
        self._nothing = self._shell_of(_NOTHING)

    def shell_of(self, view: View) -> Callable[[Request], Awaitable[Response]]:
        """Returns a handler that sends a view's shell, or 304 if the browser has it."""
        shell = self._shells[view]

        async def serve(request: Request) -> Response:
            headers = HEADERS | {"Cache-Control": CHECKED, "ETag": shell.etag}
            if request.headers.get("if-none-match") == shell.etag:
                return Response(status_code=304, headers=headers)
            return shell.asset.response(request, headers, HTML)

        return serve

    async def file(self, request: Request) -> Response:
        """Serves one file of this version."""
        name = request.path_params["name"]
        asset = self._files.get(name)
        if asset is None or request.path_params["version"] != self.version:
            return refuse(
                404, "not_found", "The pages have no such file now: load them again."
            )
        form, _ = mimetypes.guess_type(name)
        return asset.response(request, HEADERS | {"Cache-Control": FOR_EVER}, form)

    def nothing(self, request: Request) -> Response | None:
        """Returns the page for an unknown path; None for a program, which gets JSON."""
        path = request.url.path.removeprefix(self._root_path)
        accept = request.headers.get("accept")
        is_of_api = path.startswith("/api/")
        if request.method != "GET" or is_of_api or preferred(accept, FORMS) == JSON:
            return None
        response = self._nothing.asset.response(
            request, HEADERS | {"Cache-Control": "no-store"}, HTML
        )
        response.status_code = 404
        return response

    def _shell_of(self, view: View) -> Shell:
        assets = f"{self._root_path}/web/{self.version}"
        modules = needed_modules(self._texts, MAIN)
        if view.module:
            modules |= needed_modules(self._texts, view.module)
        preloads = [
            f'<link rel="modulepreload" href="{_ASSETS}/{name}">' for name in modules
        ]
        styles = [
            f'<link rel="stylesheet" href="{_ASSETS}/style/{name}" data-style="{name}">'
            for name in view.styles
        ]
        table = {path: view._asdict() for path, view in VIEWS.items()}
        html = self._template
        # In this order: the first texts contain placeholders of the last.
        for name, text in (
            (_MODULES, "\n    ".join(preloads)),
            (_STYLES, "\n    ".join(styles)),
            (_VIEWS, escape(json.dumps(table))),
            (_SAMPLES, self._samples),
            (_ASSETS, assets),
            (_ROOT, self._root_path),
        ):
            html = html.replace(name, text)
        data = html.encode()
        return Shell(Asset.of(data), f'W/"{_hash({SHELL: data})}"')


def add_pages(app: FastAPI, root_path: str) -> Pages:
    """Adds the pages to the app, beside the API that they use."""
    pages = Pages(root_path)
    # Plain routes: the pages are not part of the API's schema, and accept any query parameters.
    for path, view in VIEWS.items():
        _add(app, path, pages.shell_of(view))
    _add(app, "/web/{version}/{name:path}", pages.file)
    return pages


def _add(
    app: FastAPI, path: str, answer: Callable[[Request], Awaitable[Response]]
) -> None:
    app.router.add_route(path, answer, methods=["GET"], include_in_schema=False)


def _read(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def needed_modules(texts: Mapping[str, str], module: str) -> dict[str, None]:
    """Returns a module and all its imports, so that a browser fetches them together and not one after another."""
    found: dict[str, None] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found[name] = None
        for imported in _IMPORTS.findall(texts[name]):
            waiting.append(normpath(join(dirname(name), imported)))
    return found


def _takes_gzip(request: Request) -> bool:
    for part in request.headers.get("accept-encoding", "").split(","):
        coding, _, weight = part.partition(";")
        if coding.strip() == "gzip":
            return weight.strip() not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


def _hash(files: dict[str, bytes]) -> str:
    digest = hashlib.sha256()
    for name, data in files.items():
        # The lengths, so that no two sets of files run together into the same bytes.
        digest.update(b"%d %s %d " % (len(name), name.encode(), len(data)))
        digest.update(data)
    return digest.hexdigest()[:16]
