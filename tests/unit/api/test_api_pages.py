"""The pages: one shell at every view's path, its files, and the headers that both come with."""

from __future__ import annotations

import gzip
import re

import pytest

from antiphon.api.pages import FOLDER, VIEWS
from antiphon.service import FILTER_VALUES
from tests.unit.api.calling import Browser, app_of
from tests.unit.api.fakes import FakeService

PATHS = [
    path.replace("{session_id}", "s").replace("{query_id}", "q").replace("{seq}", "3")
    for path in VIEWS
]


def directives(policy: str) -> dict[str, str]:
    """A Content-Security-Policy, directive by directive."""
    found = {}
    for directive in policy.split(";"):
        name, _, value = directive.strip().partition(" ")
        found[name] = value
    return found


@pytest.mark.parametrize("path", [*PATHS, "/courses/", "/?anything=1"])
async def test_every_view_is_served_the_shell(path: str) -> None:
    reply = await Browser(app_of(FakeService())).get(path)

    assert reply.status == 200
    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    assert b'<main id="main"' in reply.body


async def test_the_shell_runs_nothing_but_its_own_files() -> None:
    reply = await Browser(app_of(FakeService())).get("/")

    policy = directives(reply.headers["content-security-policy"])
    assert policy["default-src"] == "'self'"
    assert (
        policy["frame-ancestors"]
        == policy["object-src"]
        == policy["base-uri"]
        == "'none'"
    )
    assert policy["require-trusted-types-for"] == "'script'"
    assert policy["trusted-types"] == "antiphon-html"
    assert "unsafe" not in reply.headers["content-security-policy"]
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["referrer-policy"] == "no-referrer"
    html = reply.body.decode()
    assert not re.search(
        r"<script(?![^>]* src=)|<style| style=| on[a-z]+=|https?://", html
    )


async def test_every_file_that_the_shell_names_is_there_and_kept_for_ever() -> None:
    app = app_of(FakeService())
    shell = (await Browser(app).get("/")).body.decode()
    named = sorted(set(re.findall(r'(?:src|href)="(/web/[^"#]+)', shell)))

    replies = [await Browser(app).get(path) for path in named]

    assert len(named) >= 5
    assert {reply.status for reply in replies} == {200}
    assert {reply.headers["cache-control"] for reply in replies} == {
        "public, max-age=31536000, immutable"
    }


async def test_every_module_imports_only_files_that_are_there() -> None:
    for path in FOLDER.rglob("*.js"):
        for name in re.findall(
            r'^(?:import|export)[^;]* from "([^"]+)"', path.read_text(), re.MULTILINE
        ):
            assert name.startswith("."), f"{path} imports {name}"
            assert (path.parent / name).is_file(), f"{path} imports {name}"


async def test_no_file_of_the_pages_names_another_host() -> None:
    for path in FOLDER.rglob("*.*"):
        code = re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(), flags=re.DOTALL)

        assert "http://" not in code.replace("http://www.w3.org/2000/svg", ""), path


async def test_scripts_and_styles_have_their_types() -> None:
    app = app_of(FakeService())
    shell = (await Browser(app).get("/")).body.decode()
    script = re.findall(r'src="(/web/[^"]+main\.js)"', shell)[0]
    style = re.findall(r'href="(/web/[^"]+base\.css)"', shell)[0]

    assert "javascript" in (await Browser(app).get(script)).headers["content-type"]
    assert (
        (await Browser(app).get(style)).headers["content-type"].startswith("text/css")
    )


async def test_a_shell_that_the_browser_has_is_not_sent_again() -> None:
    app = app_of(FakeService())
    first = await Browser(app).get("/traces/q1")

    again = await Browser(app).get("/traces/q2", if_none_match=first.headers["etag"])
    other = await Browser(app).get("/traces", if_none_match=first.headers["etag"])

    assert first.headers["cache-control"] == "no-cache"
    assert (again.status, again.body) == (304, b"")
    # Another view needs other files.
    assert other.status == 200


@pytest.mark.parametrize(
    ("path", "there", "not_there"),
    [
        (
            "/",
            {"main.js", "views.js", "ask/page.js", "ask/passage.js", "style/ask.css"},
            {"traces/trace.js", "courses/page.js", "style/trace.css"},
        ),
        (
            "/traces",
            {"main.js", "traces/list.js", "wording.js", "style/trace.css"},
            {"traces/trace.js", "ask/page.js", "ask/query.js", "style/ask.css"},
        ),
        (
            "/traces/q/event/3",
            {"traces/trace.js", "traces/lineage.js", "style/trace.css"},
            {"faults/page.js", "ask/page.js", "courses/page.js", "style/faults.css"},
        ),
        ("/nowhere", {"main.js"}, {"ask/page.js", "traces/list.js", "style/ask.css"}),
    ],
)
async def test_a_view_is_sent_with_what_it_needs_and_with_nothing_else(
    path: str, there: set[str], not_there: set[str]
) -> None:
    reply = await Browser(app_of(FakeService())).get(path, accept="text/html")

    named = re.findall(r'(?:src|href)="/web/[0-9a-f]+/([^"]+)"', reply.body.decode())
    assert there <= set(named)
    assert not_there.isdisjoint(named)
    assert "{" not in "".join(named)


async def test_every_module_that_a_module_of_the_shell_imports_is_named_too() -> None:
    app = app_of(FakeService())
    for path in PATHS:
        shell = (await Browser(app).get(path)).body.decode()
        named = set(re.findall(r'modulepreload" href="/web/[0-9a-f]+/([^"]+)"', shell))
        for name in named:
            folder = (FOLDER / name).parent
            for imported in re.findall(
                r'^(?:import|export)[^;]* from "([^"]+)"',
                (FOLDER / name).read_text(),
                re.MULTILINE,
            ):
                file = (folder / imported).resolve()
                assert str(file.relative_to(FOLDER.resolve())) in named


@pytest.mark.parametrize("path", ["/", "main.js", "style/base.css", "icon.svg"])
async def test_texts_are_sent_compressed_to_whoever_can_read_that(path: str) -> None:
    app = app_of(FakeService())
    if path != "/":
        shell = (await Browser(app).get("/")).body.decode()
        path = re.findall(r"/web/[0-9a-f]+/", shell)[0] + path

    plain = await Browser(app).get(path)
    refused = await Browser(app).get(path, accept_encoding="br, gzip;q=0")
    packed = await Browser(app).get(path, accept_encoding="br, gzip;q=0.5")

    assert "content-encoding" not in plain.headers
    assert refused.body == plain.body
    assert packed.headers["content-encoding"] == "gzip"
    assert {each.headers["vary"] for each in (plain, packed)} == {"Accept-Encoding"}
    assert packed.headers["content-type"] == plain.headers["content-type"]
    assert gzip.decompress(packed.body) == plain.body
    assert int(packed.headers["content-length"]) < len(plain.body)


IN_BROWSERS = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


@pytest.mark.parametrize(
    ("path", "accept", "form"),
    [
        ("/nowhere", IN_BROWSERS, "text/html"),
        ("/courses/x/y", IN_BROWSERS, "text/html"),
        ("/nowhere", "*/*", "application/json"),
        ("/nowhere", "application/json", "application/json"),
        ("/nowhere", "application/json, text/html;q=0.5", "application/json"),
        ("/nowhere", "", "application/json"),
        ("/api/nowhere", IN_BROWSERS, "application/json"),
        ("/web/0/x.js", IN_BROWSERS, "application/json"),
    ],
)
async def test_a_path_that_there_is_not_is_a_page_for_people_and_json_for_programs(
    path: str, accept: str, form: str
) -> None:
    for root in ("", "/antiphon"):
        app = app_of(FakeService(), root_path=root)

        reply = await Browser(app).get(f"{root}{path}", accept=accept)

        assert reply.status == 404
        assert reply.headers["content-type"].startswith(form)
        if form == "text/html":
            assert b'<main id="main"' in reply.body
            assert b"nowhere" not in reply.body
            assert "default-src 'self'" in reply.headers["content-security-policy"]
        else:
            assert reply.json()["error"]["code"] == "not_found"


@pytest.mark.parametrize(
    "name", ["../pages.py", "%2e%2e/pages.py", "nothing.js", "index.html", ""]
)
async def test_no_other_file_is_served(name: str) -> None:
    app = app_of(FakeService())
    shell = (await Browser(app).get("/")).body.decode()
    version = re.findall(r"/web/([0-9a-f]+)/", shell)[0]

    assert (await Browser(app).get(f"/web/{version}/{name}")).status == 404
    assert (await Browser(app).get("/web/0000000000000000/main.js")).status == 404


@pytest.mark.parametrize(
    "path", ["/antiphon/traces", "/traces", "/antiphon/", "/antiphon", "/"]
)
async def test_behind_a_proxy_the_shell_names_its_files_under_the_proxys_path(
    path: str,
) -> None:
    app = app_of(FakeService(), root_path="/antiphon")

    shell = (await Browser(app).get(path)).body.decode()

    assert 'data-root="/antiphon"' in shell
    assert re.findall(r'(?:src|href)="(/(?!antiphon/)[^"]*)"', shell) == []


async def test_what_is_no_page_may_load_nothing_where_a_browser_shows_it() -> None:
    app = app_of(FakeService())

    courses = await Browser(app).get("/api/courses")
    docs = await Browser(app).get("/docs")

    nothing = directives(courses.headers["content-security-policy"])
    assert nothing == {"default-src": "'none'", "frame-ancestors": "'none'"}
    assert directives(docs.headers["content-security-policy"])["default-src"] == (
        "'self' 'unsafe-inline'"
    )
    assert re.findall(r'(?:src|href)="https?:', docs.body.decode()) == []


async def test_a_page_takes_no_other_method() -> None:
    reply = await Browser(app_of(FakeService())).post("/", {})

    assert reply.status == 405
    assert "GET" in reply.headers["allow"]


async def test_suggestions_name_the_lesson_that_answers() -> None:
    reply = await Browser(app_of(FakeService())).get("/api/suggestions?limit=1")

    assert reply.json() == {
        "suggestions": [
            {"question": "What is BM25?", "course": "Practical Search", "lesson": 2}
        ]
    }


def test_the_list_of_traces_offers_the_values_that_the_service_filters_by() -> None:
    script = (FOLDER / "traces" / "choices.js").read_text()
    listed = re.findall(r"^  (\w+): \[([^\]]*)\]", script, re.MULTILINE)

    offered = {name: re.findall(r'"(\w+)"', values) for name, values in listed}

    assert offered == {name: list(values) for name, values in FILTER_VALUES.items()}
