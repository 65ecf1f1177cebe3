"""The bill of materials, in CycloneDX format: every package of an installation with all extras.

It describes the packages installed here, so versions, licences and dependencies are their own; it lacks packages for
other platforms.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterable
from pathlib import Path

from cyclonedx.factory.license import LicenseFactory
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.house.requirements import (
    EXTRAS,
    PROJECT,
    ROOT,
    needed_by,
    requirements,
)

FILE = ROOT / "build" / "sbom.cdx.json"


def bill_of(licences: dict[str, str]) -> Bom:
    """Returns the bill of the packages with these licences."""
    product = Component(
        name=PROJECT["name"],
        version=importlib.metadata.version(PROJECT["name"]),
        type=ComponentType.APPLICATION,
    )
    packages = {
        name: _component(name, licence) for name, licence in sorted(licences.items())
    }
    bom = Bom(components=packages.values())
    bom.metadata.component = product
    wanted = map(Requirement, requirements(*EXTRAS))
    bom.register_dependency(product, _among(packages, wanted))
    for name, component in packages.items():
        bom.register_dependency(
            component, _among(packages, needed_by(Requirement(name)))
        )
    return bom


def write(bom: Bom, file: Path) -> None:
    """Writes a bill as JSON."""
    file.parent.mkdir(exist_ok=True)
    JsonV1Dot6(bom).output_to_file(str(file), allow_overwrite=True, indent=2)


def _component(name: str, licence: str) -> Component:
    version = importlib.metadata.version(name)
    return Component(
        name=name,
        version=version,
        type=ComponentType.LIBRARY,
        purl=PackageURL("pypi", name=name, version=version),
        licenses=[LicenseFactory().make_from_string(licence)] if licence else (),
    )


def _among(
    packages: dict[str, Component], wanted: Iterable[Requirement]
) -> list[Component]:
    """Returns the wanted ones among the packages."""
    names = {canonicalize_name(each.name) for each in wanted}
    return [packages[name] for name in sorted(names & set(packages))]
