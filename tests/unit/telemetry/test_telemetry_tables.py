"""The tables of telemetry: pinned names, the page that shows them, and the dashboards and alerts that use them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes
from opentelemetry.semconv.attributes import error_attributes

from antiphon.telemetry import conventions
from antiphon.telemetry.metrics import COUNTERS, GAUGES, HISTOGRAMS
from antiphon.workers.queue_metrics import QUEUE_GAUGES
from tests.house.telemetry_page import PAGE, page

ROOT = Path(__file__).parents[3]
DASHBOARD = ROOT / "deploy" / "grafana" / "antiphon.json"
RULES = ROOT / "deploy" / "prometheus" / "rules.yml"
ALL_ATTRIBUTES = conventions.ATTRIBUTES.keys() | conventions.CONTENT.keys()
OF_THE_LIBRARY = {
    "process_resident_memory_bytes",
    "process_cpu_seconds_total",
    "process_open_fds",
}


def series() -> set[str]:
    """Every series that `/metrics` can show."""
    shown = {f"{name}_total" for name in COUNTERS} | OF_THE_LIBRARY
    shown |= GAUGES.keys() | QUEUE_GAUGES.keys()
    for name in HISTOGRAMS:
        shown |= {f"{name}_bucket", f"{name}_sum", f"{name}_count"}
    return shown


def labels() -> set[str]:
    """Every label that a metric has, and those that Prometheus and histograms add."""
    found = {"le", "job", "instance"}
    for _, names in (*COUNTERS.values(), *GAUGES.values(), *QUEUE_GAUGES.values()):
        found.update(names)
    for _, names, _ in HISTOGRAMS.values():
        found.update(names)
    return found


def rules() -> list[dict[str, Any]]:
    loaded = yaml.safe_load(RULES.read_text())
    return [rule for group in loaded["groups"] for rule in group["rules"]]


def panels() -> list[dict[str, Any]]:
    loaded = json.loads(DASHBOARD.read_text())
    return [panel for panel in loaded["panels"] if panel["type"] != "row"]


def expressions() -> list[str]:
    shown = [target["expr"] for panel in panels() for target in panel["targets"]]
    return [*shown, *(rule["expr"] for rule in rules())]


def metrics_in(expression: str) -> set[str]:
    bare = re.sub(r'"[^"]*"', "", expression)
    found = re.findall(r"\b(?:antiphon|process)[A-Za-z0-9_:]*", bare)
    return set(found)


def test_the_names_of_the_conventions_are_those_of_the_package_but_for_what_was_renamed() -> (
    None
):
    known = {
        value
        for module in (gen_ai_attributes, error_attributes)
        for value in vars(module).values()
        if isinstance(value, str)
    }
    theirs = {name for name in ALL_ATTRIBUTES if name.startswith(("gen_ai.", "error."))}

    # The package stopped where the conventions moved into a repository of their own, which has no package yet.
    assert theirs - known == {"gen_ai.usage.cache_write.input_tokens"}
    assert conventions.SCHEMA_URL.endswith(f"/gen-ai/{conventions.VERSION}")


def test_every_attribute_of_the_module_stands_in_its_table() -> None:
    constants = {
        value
        for name, value in vars(conventions).items()
        if name.isupper() and isinstance(value, str)
    }

    named = {
        value for value in constants if re.fullmatch(r"[a-z_]+(\.[a-z_]+)+", value)
    }
    assert named == ALL_ATTRIBUTES


def test_the_page_of_telemetry_is_what_the_tables_and_the_source_say() -> None:
    assert PAGE.read_text() == page(), "run `python -m tests.house.telemetry_page`"


@pytest.mark.parametrize("expression", expressions())
def test_each_metric_that_a_dashboard_or_an_alert_names_exists(expression: str) -> None:
    recorded = {rule["record"] for rule in rules() if "record" in rule}

    named = metrics_in(expression)

    assert named or "up{" in expression
    assert named <= series() | recorded


@pytest.mark.parametrize("expression", expressions())
def test_each_label_that_a_dashboard_or_an_alert_names_exists(expression: str) -> None:
    grouped = re.findall(r"\bby \(([^)]*)\)", expression)
    matched = re.findall(r"(\w+)\s*(?:=~|!~|!=|=)\s*\"", expression)

    named = {name.strip() for group in grouped for name in group.split(",")}
    assert named | set(matched) <= labels()


def test_every_metric_of_ours_is_in_the_dashboard() -> None:
    shown: set[str] = set()
    for expression in expressions():
        shown |= metrics_in(expression)

    for name in (*COUNTERS, *HISTOGRAMS, *GAUGES, *QUEUE_GAUGES):
        assert any(each.startswith(name) for each in shown), name


def test_no_two_panels_lie_upon_one_another() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        at = panel["gridPos"]
        for x in range(at["x"], at["x"] + at["w"]):
            for y in range(at["y"], at["y"] + at["h"]):
                assert (x, y) not in taken, panel["title"]
                taken.add((x, y))
