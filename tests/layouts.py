"""Small copies of common course layouts, each with the tree of lessons that a reader would draw."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

Lessons = list[tuple[int, str]]


class Laid(NamedTuple):
    """A layout, and the tree that a reader of its README would draw.

    Attributes:
        files: Texts by path; a file given only by name holds a heading made of that name.
        courses: The lessons of each course, by its title.
        left_out: Files that belong to no course.
        documents: Files that are separate documents.
    """

    files: dict[str, str] | str
    courses: dict[str, Lessons]
    left_out: str = ""
    documents: str = ""


def notebook(heading: str) -> str:
    cell = {"cell_type": "markdown", "source": [f"# {heading}\n", "Text."]}
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4})


def made(path: str) -> str:
    heading = Path(path).stem.strip("0123456789-_. ").replace("-", " ").capitalize()
    return notebook(heading) if path.endswith(".ipynb") else f"# {heading}\n\nText."


FURNITURE = """
    LICENSE.md CODE_OF_CONDUCT.md CONTRIBUTING.md SECURITY.md SUPPORT.md AGENTS.md CHANGELOG.md requirements.txt
    samples/app/README.md tests/README.md translations/fr/README.md
"""


def with_furniture(files: dict[str, str]) -> dict[str, str]:
    return {**files, **dict.fromkeys(FURNITURE.split(), "")}


LAYOUTS = {
    "numbered folders with a README": Laid(
        with_furniture(
            {
                "README.md": "# Skills\n\n| 00 | 🚀 [Quick Start](./00-start/README.md?x=1) |\n|--|--|\n"
                "| 01 | [First Steps](01-steps) |\n| 02 | [here](02-skills/README.MD) |",
                "00-start/README.md": "Welcome.",
                "01-steps/README.md": "# Chapter 1: Steps",
                "01-steps/notes.md": "",
                "01-steps/lessons/1-more/README.md": "",
                "01-steps/translations/pt-br/README.md": "",
                "02-skills/README.MD": "# Chapter 2: Making skills",
                "GLOSSARY.md": "",
                "appendices/README.md": "",
                "appendices/more.md": "",
            }
        ),
        {"Skills": [(0, "Quick Start"), (1, "First Steps"), (2, "Making skills")]},
        left_out=FURNITURE,
    ),
    "numbered folders in numbered modules, which the README lists": Laid(
        {
            "README.md": "# ML\n\n"
            + "".join(
                f"- [{module}]({module}/README.md): [lesson]({module}/{name}/README.md)\n"
                for module in ("1-Basics", "2-Trees")
                for name in ("1-tools", "2-data")
            ),
            **{f"{module}/README.md": "" for module in ("1-Basics", "2-Trees")},
            "1-Basics/1-tools/README.md": "# Tools",
            "1-Basics/2-data/README.md": "# Data",
            "1-Basics/2-data/assignment.md": "",
            "2-Trees/1-tools/README.md": "# Branches",
            "2-Trees/2-data/README.md": "# Leaves",
        },
        {"ML": [(1, "Tools"), (2, "Data"), (3, "Branches"), (4, "Leaves")]},
    ),
    "numbered notebooks, of which one has two parts": Laid(
        {
            "README.md": "Python\n======\n\n* [Lecture-0 Begin](https://raw.example/o/r/main/Lecture-0-Begin.ipynb)\n",
            "LICENSE": "MIT",
            "Lecture-0-Begin.ipynb": "",
            "Lecture-1-Arrays.ipynb": notebook("Arrays"),
            "Lecture-2A-C.ipynb": "",
            "Lecture-2B-Fortran.ipynb": "",
            "Untitled.ipynb": "",
        },
        {"Python": [(0, "Begin"), (1, "Arrays"), (2, "2A C; 2B Fortran")]},
        left_out="Untitled.ipynb",
    ),
    "chapters of numbered sections": Laid(
        "00.00-Preface.ipynb 01.00-Arrays.ipynb 01.01-Sorting.ipynb 02.00-Frames.ipynb 02.01-Joins.ipynb",
        {"folder": [(0, "Preface"), (1, "Arrays"), (2, "Frames")]},
    ),
    "numbered sections without chapters": Laid(
        "1.1-Arrays.md 1.2-Sorting.md 2.1-Frames.md",
        {"folder": [(1, "Arrays"), (2, "Sorting"), (3, "Frames")]},
    ),
    "lectures in a folder of a repository": Laid(
        {
            "README.md": "# Compilers",
            "Makefile": "all:",
            "lectures/lec1.md": "# Parsing",
            "lectures/lec2.md": "# Types",
            "homework/hw1.md": "",
        },
        {"Compilers": [(1, "Parsing"), (2, "Types")]},
    ),
    "lectures in the README itself": Laid(
        {
            "README.md": '<h2 align="center">Linear<br/>Algebra</h2>\n\n## Summaries\n\n'
            + "".join(f"### Lecture {n} (May {n})\n\nText {n}.\n\n" for n in (1, 2, 3))
            + "### Exam 1\n\nClosed book.",
            ".gitignore": "x",
            "notes/Sorting.ipynb": "",
            "notes/Waves.ipynb": "",
        },
        {"Linear Algebra": [(n, f"Lecture {n} (May {n})") for n in (1, 2, 3)]},
    ),
    "weeks whose files the README lists": Laid(
        {
            "README.md": "# CS\n\n"
            + "".join(
                f"## Week {n}: Topic {n}\n\n- [Notes](w/n{n}.md)\n- [Lab](w/lab{n}.md)\n\n"
                for n in (1, 2)
            ),
            **{f"w/{name}{n}.md": "" for name in ("n", "lab") for n in (1, 2)},
        },
        {"CS": [(1, "Topic 1"), (2, "Topic 2")]},
    ),
    "a list of links in the README": Laid(
        {
            "README.md": "# Birds\n\n1. [How they fly](flight.md)\n2. [How they sing](song.md)\n3. [here](nests.md)",
            "flight.md": "",
            "song.md": "",
            "nests.md": "# Their nests",
        },
        {"Birds": [(1, "How they fly"), (2, "How they sing"), (3, "Their nests")]},
    ),
    "several courses in one repository": Laid(
        {
            "README.md": "# Courses\n\n1. [One](one/README.md)\n2. [Two](two/README.md)\n3. [Three](three/README.md)",
            "LICENSE": "MIT",
            **{f"{name}/README.md": "" for name in ("one", "two", "three")},
            **{f"{name}/01_a.ipynb": "" for name in ("one", "two", "three")},
            **{f"{name}/02_b.ipynb": "" for name in ("one", "two", "three")},
        },
        {name: [(1, "A"), (2, "B")] for name in ("one", "two", "three")},
        documents="README.md",
    ),
    "Jekyll's collections, one a year": Laid(
        {
            "_config.yml": "title: Semester\ncollections:\n  '2020':\n    output: true\n  '2026':\n    output: true\n",
            "README.md": "# How to build this",
            "index.md": "---\ntitle: The semester\n---\nWelcome.",
            "about.md": "",
            "404.html": "",
            "robots.txt": "",
            "_layouts/page.html": "<title>{{ page.title }}</title>",
            **{
                f"_{year}/index.md": f"---\ntitle: {year}\n---\nHi."
                for year in (2020, 2026)
            },
            "_2020/shell.md": "---\ntitle: Shell\ndate: 2020-01-13\n---\nText.",
            "_2020/git.md": "---\ntitle: Git\ndate: 2020-01-14\n---\nText.",
            "_2026/a.md": "---\ntitle: Later\ndate: 2026-01-14\norder: 2\n---\nText.",
            "_2026/security.md": "---\ntitle: Security\ndate: 2026-01-14\norder: 1\n---\nText.",
        },
        {
            "Semester: 2020": [(1, "Shell"), (2, "Git")],
            "Semester: 2026": [(1, "Security"), (2, "Later")],
        },
        left_out="404.html robots.txt _layouts/page.html README.md",
    ),
    "the Carpentries' workbench": Laid(
        {
            "config.yaml": "title: 'Python'\nurl: https://a.example\n"
            "episodes:\n- 01-intro.md\n- 02-loop.md\nlearners:\n",
            "index.md": "Welcome.",
            "README.md": "# Python",
            "LICENSE.md": "",
            "episodes/01-intro.md": "---\ntitle: Fundamentals\n---\nText.",
            "episodes/02-loop.md": "---\ntitle: Loops\n---\nText.",
            "learners/setup.md": "",
            "profiles/learner-profiles.md": "",
        },
        {"Python": [(1, "Fundamentals"), (2, "Loops")]},
        left_out="LICENSE.md profiles/learner-profiles.md",
    ),
    "MkDocs, with a tag of Python": Laid(
        {
            "mkdocs.yml": "site_name: Start\nnav:\n  - Home: index.md\n  - First: a/index.md\n  - Basics:\n"
            "    - Second: b.md\nmarkdown_extensions:\n  - emoji:\n      x: !!python/name:materialx.emoji.twemoji\n",
            "docs/index.md": "Hello.",
            "docs/a/index.md": "",
            "docs/b.md": "",
            "docs/draft.md": "",
            "app/README.md": "",
            "README.md": "",
        },
        {"Start": [(1, "First"), (2, "Second")]},
        left_out="docs/draft.md app/README.md",
    ),
    "MkDocs, by weeks": Laid(
        {
            "mkdocs.yml": "site_name: CS\nnav:\n- 'Week 1: Sets': [w1.md, w1b.md]\n"
            "- 'Week 2: Maps': [w2.md]\n- About: x.md\n",
            **dict.fromkeys(
                ["docs/w1.md", "docs/w1b.md", "docs/w2.md", "docs/x.md"], ""
            ),
        },
        {"CS": [(1, "Sets"), (2, "Maps")]},
    ),
    "mdBook": Laid(
        {
            "book.toml": '[book]\ntitle = "Rust"\nsrc = "src"\n',
            "README.md": "# Rust",
            "src/SUMMARY.md": "[Welcome](index.md)\n\n# Day 1\n\n- [Welcome](d1.md)\n"
            "- [Values](v.md)\n  - [`if`](v/if.md)\n"
            "\n# Day 2\n\n- [Welcome](d2.md)\n",
            **dict.fromkeys(
                ["src/index.md", "src/d1.md", "src/v.md", "src/v/if.md", "src/d2.md"],
                "",
            ),
            "src/old.md": "",
            "xtask/README.md": "",
        },
        {"Rust": [(1, "Day 1: Welcome"), (2, "Values"), (3, "Day 2: Welcome")]},
        left_out="src/old.md src/SUMMARY.md xtask/README.md",
    ),
    "GitBook": Laid(
        {
            "SUMMARY.md": "# Summary\n\n* [Intro](README.md)\n* [Sets](sets/README.md)\n"
            "    * [More](sets/b.md)\n* [Maps](maps.md)\n",
            "README.md": "# Algorithms",
            **dict.fromkeys(["sets/README.md", "sets/b.md", "maps.md"], ""),
        },
        {"Algorithms": [(1, "Sets"), (2, "Maps")]},
        left_out="SUMMARY.md",
    ),
    "Jupyter Book, below a README": Laid(
        {
            "README.md": "# Economics",
            "environment.yml": "name: x",
            "lectures/_config.yml": "title: Economics\nauthor: Ada & Bo\nhtml:\n  baseurl: https://e.example/\n",
            "lectures/_toc.yml": "format: jb-book\nroot: intro\nparts:\n- caption: A\n  chapters:\n  - file: growth\n"
            "    sections:\n    - file: more\n- caption: B\n  chapters:\n  - file: cycles\n",
            "lectures/intro.md": "",
            "lectures/growth.md": "# Growth {#sec-growth}",
            "lectures/more.md": "",
            "lectures/cycles.ipynb": "",
            "lectures/_static/figures.ipynb": "",
            "lectures/draft.md": "",
        },
        {"Economics": [(1, "Growth"), (2, "Cycles")]},
        left_out="lectures/_static/figures.ipynb lectures/draft.md",
    ),
    "MyST": Laid(
        {
            "myst.yml": "project:\n  title: Sets\n  toc:\n  - file: index.md\n  - title: Part\n"
            "    children:\n    - file: a.md\n    - file: b.md\n",
            **dict.fromkeys(["index.md", "a.md", "b.md"], ""),
        },
        {"Sets": [(1, "A"), (2, "B")]},
    ),
    "Quarto": Laid(
        {
            "_quarto.yml": "project:\n  type: book\nbook:\n  title: R\n  chapters:\n  - index.qmd\n  - intro.qmd\n"
            "  - part: whole.qmd\n    chapters:\n    - tidy.qmd\n    - join.qmd\n",
            "index.qmd": "# Welcome {.unnumbered}",
            "intro.qmd": "# Introduction {#sec-intro .unnumbered}",
            "whole.qmd": "",
            "tidy.qmd": "# Tidying {#sec-tidy}",
            "join.qmd": "",
            "contribute.qmd": "",
        },
        {"R": [(1, "Tidying"), (2, "Join")]},
        left_out="contribute.qmd",
    ),
    "Hugging Face": Laid(
        {
            "README.md": "# [The RL Course](https://a.example) v2",
            "LICENSE.md": "",
            "units/en/_toctree.yml": "- title: Unit 0. Welcome\n  sections:\n  - local: u0/a\n    title: A\n"
            "- title: Bonus\n  sections:\n  - local: u1/b\n    title: B\n  - local: u1/c\n",
            "units/fr/_toctree.yml": "- title: Unité 0\n  sections:\n  - local: u0/a\n    title: A\n",
            **{f"units/{code}/u0/a.mdx": "" for code in ("en", "fr")},
            "units/en/u1/b.mdx": "",
            "units/en/u1/c.mdx": "",
            "notebooks/unit0.ipynb": "",
        },
        {"The RL Course v2": [(1, "Unit 0. Welcome"), (2, "Bonus")]},
        left_out="LICENSE.md units/fr/u0/a.mdx",
    ),
    "Docusaurus": Laid(
        {
            "docusaurus.config.js": "export default { title: 'Docs', x: process.exit(1) };",
            "README.md": "# Website",
            "docs/intro.md": "---\nsidebar_position: 1\n---\n# Begin\n\nText.",
            "docs/more/_category_.json": '{"label": "More", "position": 2}',
            "docs/more/z.md": "---\nsidebar_position: 1\n---\n# Zebra\n\nText.",
            "docs/more/a.md": "---\nsidebar_position: 2\n---\n# Ape\n\nText.",
            "blog/2021-08-01-x.md": "",
        },
        {"Docs": [(1, "Begin"), (2, "Zebra"), (3, "Ape")]},
        left_out="blog/2021-08-01-x.md",
    ),
    "course.yaml": Laid(
        {
            "course.yaml": "title: Logs\nlink: https://l.example\ninstructor: Ada\n"
            "lessons:\n- b.md: The end\n- a.md\nleave_out: ['draft*']\n",
            "a.md": "# Start",
            "b.md": "",
            "c.md": "",
            "draft-1.md": "",
        },
        {"Logs": [(1, "The end"), (2, "Start")]},
        left_out="draft-1.md",
    ),
    "a part of a course beside its README": Laid(
        {"README.md": "# Second half\n\nGo on.", "05-a.md": "# A", "06-b.md": "# B"},
        {"Second half": [(5, "A"), (6, "B")]},
    ),
    "places in front matter are an order, and no numbers of lessons": Laid(
        {
            "README.md": "# Logs",
            "start.md": "---\nsidebar_position: 20\n---\n# Start\n\nText.",
            "end.md": "---\nnav_order: 35\n---\n# The end\n\nText.",
        },
        {"Logs": [(1, "Start"), (2, "The end")]},
    ),
    "numbers of lessons in front matter": Laid(
        {
            "README.md": "# Logs",
            "start.md": "---\nlesson: 4\n---\n# Start\n\nText.",
            "end.md": "+++\nlesson = 6\n+++\n# The end\n\nText.",
        },
        {"Logs": [(4, "Start"), (6, "The end")]},
    ),
    "course.yaml comes before the numbers in front matter": Laid(
        {
            "course.yaml": "title: Logs\nlessons: [{lesson: 2, files: [a.md]}, {lesson: 7, files: [b.md]}]\n",
            "a.md": "---\nlesson: 9\nsidebar_position: 5\n---\n# A\n\nText.",
            "b.md": "---\nlesson: 1\n---\n# B\n\nText.",
        },
        {"Logs": [(2, "A"), (7, "B")]},
    ),
    "numbers that are none of lessons": Laid(
        {"README.md": "# Notes", "404.md": "# Lost", "1066.md": "# Hastings"},
        {},
        documents="README.md 404.md 1066.md",
    ),
    "course.yaml of one lesson, without the page about the course": Laid(
        {
            "course.yaml": "title: Logs\nlessons:\n- {lesson: 4, title: Sharp, files: ['c#.md']}\n"
            "leave_out: [README.md, ./notes.md]\n",
            "README.md": "# Read",
            "c#.md": "",
            "b.md": "",
            "notes.md": "",
            "more/notes.md": "",
            "more/last.md": "",
        },
        {"Logs": [(4, "Sharp")]},
        left_out="README.md notes.md",
    ),
    "documents of which each is a course": Laid(
        "README.md courses/logs.txt courses/tables.txt talks/intro.md talks/end.md",
        {},
        documents="README.md courses/logs.txt courses/tables.txt talks/intro.md talks/end.md",
    ),
}
