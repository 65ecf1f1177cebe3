"""What `make audit` finds is explained, and it can find something; docs/security.md names tests that there are."""

from __future__ import annotations

import importlib
import importlib.util
import json
import re
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

from tests.house.audit import (
    Finding,
    licences,
    risky_calls,
    secrets,
    unexplained,
    unknown_licences,
)
from tests.house.audit_exceptions import CALLS, LICENCE_EXCEPTIONS, SECRETS, Allowed
from tests.house.requirements import ROOT

PAGE = ROOT / "docs" / "security.md"
NAMED = re.findall(r"(tests/[\w/]+\.py)::(\w+)", PAGE.read_text())


@pytest.mark.parametrize(("file", "test"), NAMED)
def test_each_threat_names_a_test_that_there_is(file: str, test: str) -> None:
    source = (ROOT / file).read_text()

    assert re.search(rf"^(?:async )?def {test}\(", source, re.MULTILINE)


def test_every_threat_names_one() -> None:
    table = PAGE.read_text().split("## Threats")[1].split("**What no")[0]
    rows = [row for row in table.splitlines() if row.startswith("| ")][1:]

    assert len(rows) == len(NAMED) > 20
    assert all("::test_" in row for row in rows)


def test_every_link_of_the_page_leads_somewhere() -> None:
    for target in re.findall(r"\]\((?!https?://|#)([^)#]+)", PAGE.read_text()):
        assert (PAGE.parent / target).exists(), target


@pytest.mark.skipif(
    importlib.util.find_spec("bandit") is None, reason="bandit is not installed"
)
def test_every_risky_call_is_explained_and_every_explanation_needed() -> None:
    assert unexplained(risky_calls(), CALLS) == []


@pytest.mark.skipif(
    importlib.util.find_spec("detect_secrets") is None,
    reason="detect-secrets is not installed",
)
@pytest.mark.skipif(
    not (ROOT / ".git").exists(), reason="files are listed by git, which is not here"
)
def test_every_secret_is_explained_and_every_explanation_needed() -> None:
    assert unexplained(secrets(), SECRETS) == []


def test_every_licence_of_what_is_installed_is_known() -> None:
    found = licences()

    assert len(found) > 50
    assert unknown_licences(found) == []


def test_what_is_not_explained_and_what_is_not_found_any_more_are_both_told() -> None:
    found = [Finding("B101", "a.py", 3), Finding("B602", "b.py", 7)]
    allowed = [Allowed("B101", "a.py", "why"), Allowed("B311", "c.py", "why")]

    assert unexplained(found, allowed) == [
        "b.py:7: B602",
        "c.py: B311 is excepted, and not found any more",
    ]


def test_a_licence_that_may_not_be_shipped_is_told() -> None:
    found = {
        "either": "MIT OR GPL-3.0-only",
        "both": "MIT AND GPL-3.0-only",
        "bad": "GPL-3.0-only",
        "none": "",
    }

    told = [line for line in unknown_licences(found) if "excepted" not in line]
    assert told == [
        "bad: GPL-3.0-only",
        "both: MIT AND GPL-3.0-only",
        "none: no licence is named",
    ]


def test_a_planted_secret_is_found(tmp_path: Path) -> None:
    pytest.importorskip("detect_secrets")
    collection = importlib.import_module("detect_secrets.core.secrets_collection")
    settings = importlib.import_module("detect_secrets.settings")

    file = tmp_path / "settings.py"
    file.write_text('key = "AKIA' + "IOSFODNN7EXAMPLE" + '"\n')
    found = collection.SecretsCollection()
    with settings.default_settings():
        found.scan_file(str(file))

    assert list(found)


@pytest.mark.skipif(
    importlib.util.find_spec("cyclonedx") is None, reason="cyclonedx is not installed"
)
def test_the_bill_of_materials_names_every_package_in_its_locked_version(
    tmp_path: Path,
) -> None:
    sbom = importlib.import_module("tests.house.sbom")
    packages = licences()

    sbom.write(sbom.bill_of(packages), tmp_path / "sbom.json")

    bill = json.loads((tmp_path / "sbom.json").read_text())
    found = {each["name"]: each["version"] for each in bill["components"]}
    lines = (ROOT / "requirements.lock").read_text().splitlines()[1:]
    locked = {
        canonicalize_name(name): version
        for name, _, version in (line.partition("==") for line in lines)
    }
    assert set(found) == set(packages)
    # pip freeze, which wrote the lock, leaves itself and what installs packages out.
    assert set(found) - set(locked) <= {"pip", "setuptools", "wheel"}
    for name in set(found) & set(locked):
        assert found[name].removesuffix("+cpu") == locked[name]
    assert all(each["purl"] for each in bill["components"])
    unnamed = {each["name"] for each in bill["components"] if "licenses" not in each}
    assert unnamed <= set(LICENCE_EXCEPTIONS)
    needed = {each["ref"]: each.get("dependsOn", []) for each in bill["dependencies"]}
    assert len(needed[bill["metadata"]["component"]["bom-ref"]]) > 20
