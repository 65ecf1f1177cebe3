"""The pages: one shell at every view's path, its files, and the headers that both come with."""

from __future__ import annotations

import re

import pytest

from antiphon.api.pages import FOLDER, VIEWS
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
    named = sorted(set(re.findall(r'(?:src|href)="(/web/[^"]+)"', shell)))

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
    first = await Browser(app).get("/")

    again = await Browser(app).get("/traces", if_none_match=first.headers["etag"])

    assert first.headers["cache-control"] == "no-cache"
    assert (again.status, again.body) == (304, b"")


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
