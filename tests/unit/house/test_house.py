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

ROOT = Path(__file__).parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PACKAGES: list[str] = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]


@pytest.mark.parametrize("package", PACKAGES)
def test_each_root_folder_is_the_package_that_its_name_imports(package: str) -> None:
    spec = importlib.util.find_spec(package)

    assert spec is not None
    assert spec.origin == str(ROOT / package / "__init__.py")


def test_no_other_installed_distribution_owns_a_name_of_ours() -> None:
    owners = importlib.metadata.packages_distributions()

    foreign = {name: owners[name] for name in PACKAGES if set(owners.get(name, [])) - {"antiphon"}}

    assert foreign == {}


def test_every_package_is_listed_wherever_packages_are_listed() -> None:
    folders = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests", "benchmarks"}

    assert folders == set(PACKAGES)
    assert set(PROJECT["tool"]["importlinter"]["root_packages"]) == set(PACKAGES)
    assert set(PROJECT["tool"]["mypy"]["packages"]) - {"tests", "benchmarks"} == set(PACKAGES)


def test_the_lock_pins_every_dependency_to_one_version() -> None:
    lines = [line for line in (ROOT / "requirements.lock").read_text().splitlines() if not line.startswith("#")]
    pinned = {re.split("==", line)[0].lower().replace("_", "-") for line in lines}
    extras = PROJECT["project"]["optional-dependencies"].values()
    wanted = [*PROJECT["project"]["dependencies"], *(name for extra in extras for name in extra)]

    names = {re.split(r"[\[<>=~! ]", requirement)[0].lower().replace("_", "-") for requirement in wanted}

    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9._!]+", line) for line in lines)
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
        assert {volume.split(":")[0] for volume in service.get("volumes", [])} <= set(volumes)
        assert Path(ROOT / service.get("build", ".") / "Dockerfile").exists()


def test_the_compose_file_publishes_on_loopback_only() -> None:
    ports = [port for service in compose()["services"].values() for port in service.get("ports", [])]

    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_the_compose_file_sets_only_settings_that_exist() -> None:
    example = (ROOT / ".env.example").read_text()

    for name in compose()["services"]["antiphon"]["environment"]:
        assert name in example


def test_the_chroma_server_of_the_compose_file_is_the_version_of_the_lock() -> None:
    image = compose()["services"]["chroma"]["image"]

    assert f"chromadb=={image.split(':')[1]}" in (ROOT / "requirements.lock").read_text().splitlines()


def test_every_file_that_the_dockerfile_copies_exists() -> None:
    copies = re.findall(r"^COPY (.+) \S+$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)

    assert copies
    for name in " ".join(copies).split():
        assert (ROOT / name).exists()


@pytest.mark.parametrize("name", ["README.md", "ARCHITECTURE.md", "CONVENTIONS.md", "CHANGELOG.md"])
def test_every_link_between_our_documents_leads_somewhere(name: str) -> None:
    text = (ROOT / name).read_text()

    for target in re.findall(r"\]\((?!https?://|#)([^)#]+)", text):
        assert (ROOT / target).exists(), target
