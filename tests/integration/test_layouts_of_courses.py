"""The layout of a course over REST: read, corrected and forgotten, by the owners of its documents."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import httpx2
import pytest

from antiphon.knowledge import (
    CourseLayout,
    course_layout,
    index_paths,
    load_embedder,
    save_layout,
    show_layout,
)
from antiphon.knowledge.generations import Generations
from antiphon.service import (
    AccessFile,
    Documents,
    Keys,
    Settings,
    document_paths,
    stored_layouts,
)
from tests.integration.test_documents_of_callers import (
    documents,
    sent,
    to_the_end,
)
from tests.integration.test_tenant_documents import _client, _done, _service
from tests.layouts import LAYOUTS
from tests.unit.knowledge.test_layouts import lay

BIRDS = {
    "birds/README.md": "# Birds\n\nA course about birds.\n",
    "birds/01-flight/README.md": "# Flight\n\nThe zanzibar swift sleeps in flight.\n",
    "birds/01-flight/notes.md": "# Notes\n\nWings are arms.\n",
    "birds/02-nests/README.md": "# Nests\n\nThe weaver knots its nest.\n",
    "birds/03-songs/README.md": "# Songs\n\nThe lark sings while it climbs.\n",
    "birds/03-songs/larks.md": "# Larks\n\nA lark sings for an hour.\n",
    "birds/LICENSE.md": "# Licence\n\nFree for all birds.\n",
}
LAYOUT = "/api/layouts/Birds"
CORRECTION: dict[str, Any] = {
    "title": "All the birds",
    "lessons": [
        {
            "number": 7,
            "title": "Flying and nesting",
            "files": ["01-flight/README.md", "02-nests/README.md"],
        }
    ],
    "leave_out": ["01-flight/notes.md", "README.md"],
}


async def _add_birds(client: httpx2.AsyncClient) -> None:
    files = [("files", (name, text.encode())) for name, text in BIRDS.items()]
    await _done(client, await client.post("/api/documents", files=files))


def _lessons(layout: dict[str, Any]) -> list[tuple[int, str, list[str]]]:
    return [
        (each["number"], each["title"], each["files"]) for each in layout["lessons"]
    ]


async def test_a_course_is_corrected_searched_by_the_correction_and_laid_out_as_before(
    tmp_path: Path,
) -> None:
    async with _service(tmp_path) as url, _client(url) as client:
        await _add_birds(client)
        course = (await client.get("/api/courses")).json()["courses"][0]
        before = (await client.get(LAYOUT)).json()
        await _done(client, await client.put(LAYOUT, json=CORRECTION))
        old = await client.get(LAYOUT)
        corrected = (await client.get("/api/layouts/All the birds")).json()
        courses = (await client.get("/api/courses")).json()["courses"]
        found = (await client.get("/api/search?q=weaver knots its nest")).json()
        # As in the editor: a file comes back in, and one lesson becomes two.
        again = CORRECTION | {
            "lessons": [
                {"number": 1, "title": "", "files": ["01-flight/README.md"]},
                {"number": 4, "title": "Wings", "files": ["01-flight/notes.md"]},
            ],
            "leave_out": ["README.md"],
        }
        changed = "/api/layouts/All the birds"
        await _done(client, await client.put(changed, json=again))
        parted = (await client.get(changed)).json()
        await _done(client, await client.delete(changed))
        after = (await client.get(LAYOUT)).json()
        nothing = await client.delete(LAYOUT)
        await _done(client, await client.put(LAYOUT, json=CORRECTION))
        await _done(client, await client.delete("/api/courses/All the birds"))

    assert course["has_layout"]
    assert _lessons(before) == [
        (1, "Flight", ["01-flight/README.md", "01-flight/notes.md"]),
        (2, "Nests", ["02-nests/README.md"]),
        (3, "Songs", ["03-songs/README.md", "03-songs/larks.md"]),
    ]
    assert before["outside"] == ["README.md"]
    # The licence, which no course takes in, was refused when it was sent, and is not there.
    assert before["left_out"] == []
    assert not before["corrected"]
    assert old.status_code == 404
    assert _lessons(corrected) == [
        (7, "Flying and nesting", ["01-flight/README.md", "02-nests/README.md"])
    ]
    assert corrected["outside"] == ["03-songs/README.md", "03-songs/larks.md"]
    assert corrected["corrected"]
    assert [(each["file"], each["by_owner"]) for each in corrected["left_out"]] == [
        ("01-flight/notes.md", True),
        ("README.md", True),
    ]
    assert [each["title"] for each in courses] == ["All the birds"]
    assert [each["number"] for each in courses[0]["lessons"]] == [7]
    assert (found["passages"][0]["course"], found["passages"][0]["lesson"]) == (
        "All the birds",
        7,
    )
    assert _lessons(parted) == [
        (1, "Flight", ["01-flight/README.md"]),
        (4, "Wings", ["01-flight/notes.md"]),
    ]
    assert after == before
    assert nothing.status_code == 404
    # A course that is removed leaves nothing of its layout behind.
    assert list((tmp_path / "layouts").iterdir()) == []


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"title": "\x1b\u202e"}, "The title of the course is empty"),
    ({"title": "ant_0123456789ab_" + "a" * 43}, "holds a key"),
    ({"lessons": []}, "must not be empty"),
    (
        {"lessons": [{"number": 1, "files": ["../../etc/passwd"]}]},
        "There is no file '../../etc/passwd' in the folder of this course",
    ),
    ({"leave_out": ["01-flight/README.md"]}, "'01-flight/README.md' is named twice"),
    (
        {
            "lessons": [
                {"number": 1, "files": ["README.md"]},
                {"number": 1, "files": ["LICENSE.md"]},
            ],
            "leave_out": [],
        },
        "Two lessons have the number 1",
    ),
    ({"lessons": [{"number": -1, "files": ["README.md"]}]}, "must be at least 0"),
    ({"lessons": [{"number": 1, "files": []}]}, "must not be empty"),
    ({"colour": "blue"}, "`colour`"),
]


async def test_a_correction_that_cannot_be_used_is_refused_with_a_sentence(
    tmp_path: Path,
) -> None:
    async with _service(tmp_path) as url, _client(url) as client:
        await _add_birds(client)
        refused = [
            await client.put(LAYOUT, json=CORRECTION | changes)
            for changes, _ in REFUSED
        ]
        layout = (await client.get(LAYOUT)).json()

    for reply, (_, words) in zip(refused, REFUSED, strict=True):
        assert reply.status_code == 422, reply.text
        assert words in reply.json()["error"]["message"]
    assert not layout["corrected"]


COURSE_FILE = "title: Of birds\nlessons: [{lesson: 4, title: Aloft, files: [b.md]}, {lesson: 5, files: [a.md]}]\n"


async def test_a_course_yaml_that_is_sent_with_its_files_is_followed_and_goes_with_them(
    tmp_path: Path,
) -> None:
    files = {
        "birds/course.yaml": COURSE_FILE,
        "birds/a.md": "# Nests\n\nKnots.\n",
        "birds/b.md": "# Flight\n\nWings.\n",
        "course.yaml": COURSE_FILE,
        "bad/course.yaml": "lessons: [c.md, d.md]\n",
        "bad/c.md": "# Coast\n\nGulls.\n",
    }
    async with _service(tmp_path) as service, _client(service) as client:
        sent_files = [("files", (name, text.encode())) for name, text in files.items()]
        job = await _done(client, await client.post("/api/documents", files=sent_files))
        shown = (await client.get("/api/layouts/Of birds")).json()
        await _done(client, await client.delete("/api/courses/Of birds"))

    reasons = {each["name"]: each["reason"] for each in job["files"]}
    assert _lessons(shown)[0] == (4, "Aloft", ["b.md"])
    assert reasons["birds/course.yaml"] == ""
    assert "send it with the files of that folder" in reasons["course.yaml"]
    assert "'d.md'" in reasons["bad/course.yaml"]
    assert "birds" not in os.listdir(tmp_path / "documents")


async def test_a_course_whose_title_ends_like_a_layout_is_shown_and_removed(
    tmp_path: Path,
) -> None:
    async with _service(tmp_path) as service, _client(service) as client:
        files = {
            "birds/README.md": "# Birds/layout\n",
            "birds/01-a.md": "# A\n\nAa.\n",
            "birds/02-b.md": "# B\n\nBb.\n",
        }
        sent_files = [("files", (name, text.encode())) for name, text in files.items()]
        await _done(client, await client.post("/api/documents", files=sent_files))
        shown = await client.get("/api/layouts/Birds%2Flayout")
        await _done(client, await client.delete("/api/courses/Birds%2Flayout"))
        left = (await client.get("/api/courses")).json()["courses"]

    assert shown.json()["title"] == "Birds/layout"
    assert left == []


async def test_a_correction_takes_in_no_other_course(tmp_path: Path) -> None:
    pages = {
        "01-tides.md": "Tides",
        "02-winds.md": "Winds",
        "rocks/01-lava.md": "Lava",
        "rocks/02-sand.md": "Sand",
        "rocks/gems/01-opal.md": "Opal",
        "rocks/gems/02-jade.md": "Jade",
        "alone/alone.md": "Alone",
    }
    files = [
        ("files", (name, f"# {title}\n\nAll about {title}.\n".encode()))
        for name, title in pages.items()
    ]
    async with _service(tmp_path) as url, _client(url) as client:
        await _done(client, await client.post("/api/documents", files=files))
        courses = (await client.get("/api/courses")).json()["courses"]
        alone = await client.get("/api/layouts/Alone")
        loose = await client.get("/api/layouts/documents")
        rocks = await client.get("/api/layouts/rocks")
        correction = {
            "title": "rocks",
            "lessons": [{"number": 1, "files": ["01-lava.md"]}],
        }
        round_gems = await client.put("/api/layouts/rocks", json=correction)
        after = (await client.get("/api/courses")).json()["courses"]

    assert {each["title"]: each["has_layout"] for each in courses} == {
        "Alone": False,
        "documents": False,
        "gems": True,
        "rocks": True,
    }
    assert (alone.status_code, loose.status_code) == (404, 422)
    assert "send them in a folder of its own" in loose.text
    assert rocks.status_code == 200
    assert round_gems.status_code == 422
    assert "lies another one, 'gems'" in round_gems.text
    assert after == courses


async def test_a_tenant_reads_and_corrects_its_own_courses_alone(
    tmp_path: Path,
) -> None:
    elsewhere = tmp_path / "elsewhere"
    for name, text in BIRDS.items():
        path = elsewhere / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("# Birds", "# Birds of the owner"))
    data = tmp_path / "data"
    index_paths([elsewhere], data, load_embedder("onnx"))
    owners = "/api/layouts/Birds of the owner"
    async with _service(data) as url:
        async with _client(url) as owner:
            seen = (await owner.get(owners)).json()
            law = {"number": 8, "title": "Law", "files": ["LICENSE.md"]}
            correction = {
                "title": "Birds of the owner",
                "lessons": [*CORRECTION["lessons"], law],
            }
            await _done(owner, await owner.put(owners, json=correction))
            corrected = (await owner.get(owners)).json()
        file = AccessFile(data, 5_000)
        made = Keys(file)
        scopes = ["ask", "documents"]
        acme, other = (
            _client(url, made.add("t", tenant, scopes)[0])
            for tenant in ("acme", "other")
        )
        asking = _client(url, made.add("t", "acme", ["ask"])[0])
        shared = _client(url, made.add("t", "local", scopes)[0])
        file.close()
        await _add_birds(acme)
        own = [await each.get(LAYOUT) for each in (acme, asking, other)]
        not_theirs = [
            await acme.get(owners),
            await acme.put(owners, json=CORRECTION),
            await acme.delete(owners),
            await other.put(LAYOUT, json=CORRECTION),
            await other.delete(LAYOUT),
        ]
        forbidden = [
            await shared.get(owners),
            await shared.put(owners, json=CORRECTION),
            await shared.delete(owners),
            await asking.put(LAYOUT, json=CORRECTION),
            await asking.delete(LAYOUT),
        ]
        await _done(acme, await acme.put(LAYOUT, json=CORRECTION))
        courses = [
            (await each.get("/api/courses")).json()["courses"] for each in (acme, other)
        ]
        for client in (acme, other, asking, shared):
            await client.aclose()

    assert len(seen["lessons"]) == 3
    assert seen["left_out"] == [
        {"file": "LICENSE.md", "reason": "a licence", "by_owner": False}
    ]
    assert [each["number"] for each in corrected["lessons"]] == [7, 8]
    assert corrected["left_out"] == []
    assert [each.status_code for each in own] == [200, 200, 404]
    assert [each.status_code for each in not_theirs] == [404] * 5
    assert [each.status_code for each in forbidden] == [403] * 5
    assert str(tmp_path) not in "".join(
        each.text for each in (*own, *not_theirs, *forbidden)
    )
    assert [(each["title"], each["has_layout"]) for each in courses[0]] == [
        ("All the birds", True),
        ("Birds of the owner", False),
    ]
    assert [each["title"] for each in courses[1]] == ["Birds of the owner"]


TEXT = "title: All the birds\nlessons: [02-nests/README.md]\n"


async def _with_birds(settings: Settings) -> Documents:
    jobs = documents(settings)
    files = [sent(name, text.encode()) for name, text in BIRDS.items()]
    await to_the_end(jobs, await jobs.add(files))
    return jobs


async def test_a_correction_that_cannot_be_indexed_leaves_the_one_before(
    tmp_path: Path,
) -> None:
    settings = Settings.model_construct(data_dir=tmp_path / "data", embedder="onnx")
    jobs = await _with_birds(settings)
    birds = document_paths(settings.data_dir)["Birds"]
    await to_the_end(jobs, await jobs.lay_out(birds, TEXT))

    with Generations(settings.data_dir).locked():
        refused = [
            (await to_the_end(jobs, await jobs.lay_out(birds, text)))[-1]
            for text in (TEXT.replace("All", "Other"), "")
        ]

    assert [job.state for job in refused] == ["failed", "failed"]
    assert stored_layouts(settings.data_dir) == {birds: TEXT}
    assert list(document_paths(settings.data_dir)) == ["All the birds"]


async def test_an_accepted_correction_is_made_though_the_process_dies(
    tmp_path: Path,
) -> None:
    settings = Settings.model_construct(data_dir=tmp_path / "data", embedder="onnx")
    jobs = await _with_birds(settings)
    birds = document_paths(settings.data_dir)["Birds"]
    begun = await jobs.lay_out(birds, TEXT)
    # What a process that is killed at this moment leaves behind.
    incoming = settings.data_dir / ".incoming"
    shutil.copytree(incoming / begun.job_id, tmp_path / "left" / begun.job_id)
    await jobs.close()
    stopped = stored_layouts(settings.data_dir)
    shutil.copytree(tmp_path / "left", incoming, dirs_exist_ok=True)

    again = documents(settings)
    await again.resume()
    states = await to_the_end(again, again.job(begun.job_id))

    assert stopped == {}
    assert states[-1].state == "done"
    assert stored_layouts(settings.data_dir) == {birds: TEXT}
    assert list(document_paths(settings.data_dir)) == ["All the birds"]


# Of every kind one that says more than the lessons: a link, authors, pages that are left out.
WRITTEN_DOWN = (
    *("numbered folders with a README", "MkDocs, by weeks", "mdBook", "MyST"),
    *("Jupyter Book, below a README", "Docusaurus", "course.yaml"),
)


@pytest.mark.parametrize("name", WRITTEN_DOWN)
def test_a_layout_that_is_stored_as_it_was_written_down_changes_nothing(
    name: str, tmp_path: Path
) -> None:
    folder, data = tmp_path / "folder", tmp_path / "data"
    found = lay(folder, LAYOUTS[name])
    path = found.courses[0].path

    before = course_layout(path, path, data)
    save_layout(Path(path), show_layout(Path(path), data), data)
    after = course_layout(path, path, data)

    assert before is not None
    assert after is not None
    assert after.is_corrected
    for part in (link_and_author, files_of_lessons, all_files, left_out_files):
        assert part(after) == part(before)


def link_and_author(layout: CourseLayout) -> tuple[str, str]:
    return layout.course.link, layout.course.instructor


def files_of_lessons(layout: CourseLayout) -> list[tuple[int, tuple[str, ...]]]:
    return [(lesson.number, lesson.files) for lesson in layout.course.lessons]


def all_files(layout: CourseLayout) -> list[str]:
    return sorted(layout.course.files)


def left_out_files(layout: CourseLayout) -> list[str]:
    return sorted(each.file for each in layout.left_out)
