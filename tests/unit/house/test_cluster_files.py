"""The files that the whole set is started by: closed as the single service is, and naming nothing that is not there."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from antiphon.service import Settings

ROOT = Path(__file__).parents[3]
COMPOSE: dict[str, Any] = yaml.safe_load(
    (ROOT / "docker-compose.cluster.yml").read_text()
)
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]


def test_it_follows_the_compose_specification() -> None:
    schema = json.loads((ROOT / "tests/data/compose.schema.json").read_text())

    jsonschema.Draft7Validator(schema).validate(COMPOSE)


def test_it_is_the_whole_set() -> None:
    parts = [re.sub(r"-\d+$", "", name) for name in SERVICES]

    assert {part: parts.count(part) for part in parts} == {
        "nats": 3,
        "chroma": 1,
        "index": 1,
        "api": 2,
        "worker": 3,
        "collector": 1,
        "prometheus": 1,
        "grafana": 1,
    }


@pytest.mark.parametrize("name", SERVICES)
def test_what_a_service_names_is_there(name: str) -> None:
    service = SERVICES[name]

    assert set(service.get("depends_on", {})) <= set(SERVICES)
    assert set(service["networks"]) <= set(COMPOSE["networks"])
    for secret in service.get("secrets", []):
        source = secret if isinstance(secret, str) else secret["source"]
        assert source in COMPOSE["secrets"]
    for volume in service.get("volumes", []):
        source = volume.partition(":")[0]
        assert source in COMPOSE["volumes"] or (ROOT / source).exists()
    if "build" in service:
        assert (ROOT / service["build"] / "Dockerfile").exists()
    else:
        assert re.search(r":v?\d+\.\d+\.\d+$", service["image"])


@pytest.mark.parametrize("name", SERVICES)
def test_each_service_is_closed_and_has_limits(name: str) -> None:
    service = SERVICES[name]

    assert service["cap_drop"] == ["ALL"]
    assert "cap_add" not in service
    assert "privileged" not in service
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert {"pids_limit", "mem_limit", "cpus", "restart"} <= service.keys()
    # Chroma's image writes beside its data, and its volume is that of its own user.
    if name != "chroma":
        assert service["read_only"] is True
        assert not service["user"].startswith(("0", "root"))
    for port in service.get("ports", []):
        assert port.startswith("127.0.0.1:")


@pytest.mark.parametrize("name", SERVICES)
def test_whoever_is_waited_for_says_when_it_is_well(name: str) -> None:
    for other, how in SERVICES[name].get("depends_on", {}).items():
        if how["condition"] == "service_healthy":
            assert "test" in SERVICES[other]["healthcheck"]


def test_only_what_is_asked_from_outside_reaches_the_outside() -> None:
    assert COMPOSE["networks"]["inside"] == {"internal": True}
    for name, service in SERVICES.items():
        if name.startswith(("nats", "chroma", "prometheus", "collector", "index")):
            assert service["networks"] == ["inside"]


def test_no_password_stands_in_the_environment() -> None:
    for service in SERVICES.values():
        for name, value in service.get("environment", {}).items():
            assert not name.endswith(("_KEY", "_TOKEN", "_PASSWORD", "NATS_URL"))
            assert "@" not in str(value)
    for secret in COMPOSE["secrets"].values():
        assert list(secret) == ["file"]


def test_every_setting_in_it_is_one() -> None:
    for service in SERVICES.values():
        for name in service.get("environment", {}):
            if name.startswith("ANTIPHON_"):
                assert name.removeprefix("ANTIPHON_").lower() in Settings.model_fields


def test_secrets_are_made_once_and_differ(tmp_path: Path) -> None:
    command = ["sh", str(ROOT / "deploy/nats/secrets.sh"), str(tmp_path / "s"), "a:1"]
    subprocess.run([*command, "b:2"], check=True)
    made = {path.name: path.read_text() for path in (tmp_path / "s").iterdir()}
    subprocess.run(command, check=True)
    again = {path.name: path.read_text() for path in (tmp_path / "s").iterdir()}

    password = re.search(r'password: "([0-9a-f]{48})"', made["auth.conf"])
    assert password is not None
    url = f"nats://antiphon:{password[1]}@a:1,nats://antiphon:{password[1]}@b:2"
    assert made["ANTIPHON_NATS_URL"] == url
    assert len(made["GRAFANA_PASSWORD"]) == 24
    assert again == made
    assert (tmp_path / "s").stat().st_mode & 0o077 == 0


def test_each_service_that_is_scraped_is_one() -> None:
    loaded = yaml.safe_load((ROOT / "deploy/prometheus/cluster.yml").read_text())

    targets: list[str] = []
    for job in loaded["scrape_configs"]:
        for group in job["static_configs"]:
            targets += group["targets"]
    parts = {
        name for name in SERVICES if name.startswith(("api", "worker", "collector"))
    }
    assert {target.partition(":")[0] for target in targets} == parts
