"""`make audit`: risky calls, secrets in files, licences, known weaknesses of the locked versions, a bill of materials.

Exits with 1 on a finding that tests/house/audit_exceptions.py does not explain, or an explanation without a finding.
"""

from __future__ import annotations

import importlib.metadata
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from tests.house import sbom
from tests.house.audit_exceptions import (
    CALLS,
    LICENCE_EXCEPTIONS,
    LICENCES,
    SECRETS,
    Allowed,
)
from tests.house.complexity import product_files
from tests.house.requirements import EXTRAS, ROOT, brought_by, requirements

# Traces and lock files hold hashes, which look like secrets.
NOT_SCANNED = r"\.jsonl$|package-lock\.json$|requirements\.lock$|tests/traces/(golden|corpus|versions)/|\.svg$"
_WORDS = {
    "mit license": "MIT", "mit": "MIT", "the mit license (mit)": "MIT", "bsd license": "BSD", "bsd": "BSD",
    "apache software license": "Apache-2.0", "apache license 2.0": "Apache-2.0", "apache 2.0": "Apache-2.0",
    "apache license, version 2.0": "Apache-2.0", "apache-2": "Apache-2.0", "apache": "Apache-2.0",
    "apache license version 2.0": "Apache-2.0", "apache 2": "Apache-2.0",
    "new bsd": "BSD-3-Clause", "3-clause bsd license": "BSD-3-Clause", "bsd 3-clause": "BSD-3-Clause",
    "bsd-3": "BSD-3-Clause", "bsd 3-clause license": "BSD-3-Clause", "3-clause bsd": "BSD-3-Clause",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0", "isc license (iscl)": "ISC", "isc license": "ISC",
    "python software foundation license": "PSF-2.0", "psfl": "PSF-2.0",
    "the unlicense (unlicense)": "Unlicense", "zlib": "Zlib", "zlib/libpng license": "Zlib",
    "historical permission notice and disclaimer (hpnd)": "HPND",
    "apache-2.0 license": "Apache-2.0", "apache 2.0 license": "Apache-2.0",
    "bsd-3-clause": "BSD-3-Clause", "bsd-2-clause": "BSD-2-Clause",
}  # fmt: skip


class Finding(NamedTuple):
    """A tool's finding."""

    rule: str
    file: str
    line: int


def risky_calls() -> list[Finding]:
    """Returns bandit's findings in the product."""
    files = [str(path.relative_to(ROOT)) for path in product_files() if path.suffix == ".py"]  # fmt: skip
    report = _json_of("bandit", "--quiet", "--format", "json", "--exit-zero", *files)
    return [
        Finding(each["test_id"], each["filename"].removeprefix("./"), each["line_number"])
        for each in report["results"]
    ]  # fmt: skip


def secrets() -> list[Finding]:
    """Returns detect-secrets' findings in all files that git tracks."""
    scan = ("scan", "--exclude-files", NOT_SCANNED)
    report = _json_of("tests.house.secrets_scan", *scan)
    found: list[Finding] = []
    for file, results in report["results"].items():
        for each in results:
            found.append(Finding(each["type"], file, each["line_number"]))
    return found


def unexplained(found: Sequence[Finding], allowed: Iterable[Allowed]) -> list[str]:
    """Describes each finding that is not allowed, and each allowance without a finding."""
    keys = {(each.rule, each.file) for each in allowed}
    problems = [
        f"{each.file}:{each.line}: {each.rule}"
        for each in found
        if (each.rule, each.file) not in keys
    ]
    for rule, file in sorted(keys - {(each.rule, each.file) for each in found}):
        problems.append(f"{file}: {rule} is excepted, and not found any more")
    return problems


def licences() -> dict[str, str]:
    """Returns the licence of each package that an installation of the service may have, if it is installed here."""
    found: dict[str, str] = {}
    for name in brought_by(requirements(*EXTRAS)):
        try:
            metadata = importlib.metadata.metadata(name)
        except importlib.metadata.PackageNotFoundError:
            continue  # for another platform, or an extra that is not installed
        found[name] = _licence_of(metadata)
    return found


def unknown_licences(found: dict[str, str]) -> list[str]:
    """Describes the packages whose licence is not among those that may be shipped."""
    problems: list[str] = []
    for name, licence in sorted(found.items()):
        if name not in LICENCE_EXCEPTIONS and not _may_be_shipped(licence):
            problems.append(f"{name}: {licence or 'no licence is named'}")
    for name in LICENCE_EXCEPTIONS:
        if name not in found:
            problems.append(f"{name} is excepted, and not installed any more")
    return problems


def _may_be_shipped(licence: str) -> bool:
    """Returns True if all licences of one alternative may be shipped; takes SPDX expressions or packages' own words."""
    for alternative in licence.split(" OR "):
        parts = re.split(r"\s+AND\s+|[()]", alternative)
        named = {part.strip() for part in parts if part.strip()}
        if named and named <= LICENCES:
            return True
    return False


def weaknesses() -> tuple[list[str], str]:
    """Describes the known weaknesses of the locked versions, and the reason if the lookup failed."""
    run = subprocess.run(
        [sys.executable, "-m", "pip_audit", "-r", "requirements.lock", "--no-deps", "--disable-pip", "-f", "json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    try:
        listed: list[dict[str, Any]] = json.loads(run.stdout)["dependencies"]
    except (json.JSONDecodeError, KeyError):
        return [], f"pip-audit could not run: {run.stderr.strip()[-200:]}"
    known = [each for each in listed if "vulns" in each]
    if not known:
        return [], "pip-audit's data cannot be had here: nothing was looked up"
    found: list[str] = []
    for each in known:
        for weakness in each["vulns"]:
            found.append(f"{each['name']} {each['version']}: {weakness['id']}")
    return found, ""


def main() -> int:
    """Prints everything unexplained; returns 1 if there is anything."""
    found, skipped = weaknesses()
    packages = licences()
    sbom.write(sbom.bill_of(packages), sbom.FILE)
    problems = {
        "risky calls": unexplained(risky_calls(), CALLS),
        "secrets": unexplained(secrets(), SECRETS),
        "licences": unknown_licences(packages),
        "known weaknesses": found,
    }
    for name, lines in problems.items():
        sys.stdout.write(f"{name}: {len(lines)}\n")
        for line in lines:
            sys.stdout.write(f"  {line}\n")
    place = sbom.FILE.relative_to(ROOT)
    sys.stdout.write(f"bill of materials: {len(packages)} packages in {place}\n")
    if skipped:
        sys.stdout.write(f"! {skipped}\n")
    return int(any(problems.values()))


def _json_of(module: str, *arguments: str) -> dict[str, Any]:
    run = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def _licence_of(metadata: Any) -> str:
    """Returns a package's licence under its SPDX name, as far as the package's own words allow."""
    if expression := metadata.get("License-Expression"):
        return str(expression)
    words = str(metadata.get("License") or "").strip().splitlines()[:1]
    classified = [
        line.rpartition(" :: ")[2]
        for line in metadata.get_all("Classifier") or ()
        if line.startswith("License :: ") and not line.endswith("OSI Approved")
    ]
    for word in (*classified, *words):
        known: str = _WORDS.get(word.lower().strip(), word.strip())
        if known:
            return known
    return ""


if __name__ == "__main__":
    sys.exit(main())
