"""The house itself: its packages, its lock, its compose file and its documents say the same."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from antiphon.knowledge.readers import suffixes
from tests.house.event_table import PAGE, page

ROOT = Path(__file__).parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PAGES = sorted(
    str(path.relative_to(ROOT))
    for path in (
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("samples/*.md"),
        *ROOT.glob("benchmarks/*.md"),
    )
)
CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.M | re.S)
NOT_INSTALLED = {"antiphon", "tests", "benchmarks"}
PACKAGE = ROOT / "antiphon"
FOLDERS = sorted(
    path.parent.name
    for path in ROOT.glob("*/__init__.py")
    if path.parent.name not in NOT_INSTALLED
)


@pytest.mark.parametrize("folder", FOLDERS)
def test_each_root_folder_is_imported_through_the_package(folder: str) -> None:
    link = PACKAGE / folder

    spec = importlib.util.find_spec(f"antiphon.{folder}")

    assert link.is_symlink()
    assert link.readlink() == Path("..") / folder
    assert spec is not None
    assert spec.origin == str(link / "__init__.py")


def test_the_package_links_to_nothing_else() -> None:
    assert (
        sorted(path.name for path in PACKAGE.iterdir() if path.is_symlink()) == FOLDERS
    )


def test_every_root_folder_is_banned_under_its_bare_name() -> None:
    banned = PROJECT["tool"]["ruff"]["lint"]["flake8-tidy-imports"]["banned-api"]

    assert set(FOLDERS) <= set(banned)


def test_no_other_installed_distribution_owns_the_name() -> None:
    owners = importlib.metadata.packages_distributions().get("antiphon", [])

    assert set(owners) <= {"antiphon"}


def test_the_lock_pins_every_dependency_to_one_version() -> None:
    lines = [
        line
        for line in (ROOT / "requirements.lock").read_text().splitlines()
        if not line.startswith("#")
    ]
    pinned = {re.split("==", line)[0].lower().replace("_", "-") for line in lines}
    extras = PROJECT["project"]["optional-dependencies"].values()
    wanted = [
        *PROJECT["project"]["dependencies"],
        *(name for extra in extras for name in extra),
    ]

    names = {
        re.split(r"[\[<>=~! ]", requirement)[0].lower().replace("_", "-")
        for requirement in wanted
    }

    assert all(
        re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9._!]+", line) for line in lines
    )
    assert names <= pinned


def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    return loaded


def test_the_compose_file_follows_the_compose_specification() -> None:
    schema = json.loads((ROOT / "tests/data/compose.schema.json").read_text())

    jsonschema.Draft7Validator(schema).validate(compose())


def test_the_compose_file_names_nothing_that_it_does_not_define() -> None:
    file = compose()
    services, networks, volumes = file["services"], file["networks"], file["volumes"]

    for service in services.values():
        assert set(service.get("depends_on", {})) <= set(services)
        assert set(service.get("networks", [])) <= set(networks)
        assert {volume.split(":")[0] for volume in service.get("volumes", [])} <= set(
            volumes
        )
        assert Path(ROOT / service.get("build", ".") / "Dockerfile").exists()


def test_the_compose_file_publishes_on_loopback_only() -> None:
    ports = [
        port
        for service in compose()["services"].values()
        for port in service.get("ports", [])
    ]

    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_the_compose_file_sets_only_settings_that_exist() -> None:
    example = (ROOT / ".env.example").read_text()

    for name in compose()["services"]["antiphon"]["environment"]:
        assert name in example


def test_the_chroma_server_of_the_compose_file_is_the_version_of_the_lock() -> None:
    image = compose()["services"]["chroma"]["image"]

    assert (
        f"chromadb=={image.split(':')[1]}"
        in (ROOT / "requirements.lock").read_text().splitlines()
    )


def test_every_file_that_the_dockerfile_copies_exists() -> None:
    # But for those that are copied from an earlier stage.
    copies = re.findall(
        r"^COPY (?!--from)(.+) \S+$", (ROOT / "Dockerfile").read_text(), re.MULTILINE
    )

    assert copies
    for name in " ".join(copies).split():
        assert (ROOT / name).exists()


def test_the_page_of_documents_names_every_format() -> None:
    page = (ROOT / "docs" / "documents.md").read_text()

    assert [suffix for suffix in suffixes() if f"`{suffix}`" not in page] == []


@pytest.mark.parametrize("name", PAGES)
def test_every_link_of_our_pages_leads_to_a_file_and_a_heading(name: str) -> None:
    text = CODE.sub("", (ROOT / name).read_text())

    for target in re.findall(r"\]\((?!https?://|mailto:)([^)\s]+)", text):
        path, _, anchor = target.partition("#")
        file = (ROOT / name).parent / path if path else ROOT / name
        assert file.exists(), target
        if anchor and file.suffix == ".md":
            assert anchor in anchors_of(file), target


def anchors_of(file: Path) -> list[str]:
    """Returns what GitHub calls the headings of a page in addresses."""
    headings = re.findall(r"^#+ (.*)$", file.read_text(), re.M)
    shown = [re.sub(r"\]\([^)]*\)", "", heading).lower() for heading in headings]
    return [re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in shown]


def test_the_page_of_events_is_what_the_events_declare() -> None:
    assert PAGE.read_text() == page(), "run `python -m tests.house.event_table`"
