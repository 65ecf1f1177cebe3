"""Runs `antiphon` as a newer program, with the next version of the vocabulary: `python -m tests.cluster.newer`."""

from __future__ import annotations

import sys
from importlib.util import find_spec, module_from_spec
from pathlib import Path


def load_newer_events() -> None:
    """Loads the vocabulary with the next version before any other module imports it."""
    spec = find_spec("antiphon.vocabulary.events")
    assert spec is not None
    assert spec.origin is not None
    source = Path(spec.origin).read_text()
    assert "\nVERSION = 1\n" in source
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    newer = source.replace("\nVERSION = 1\n", "\nVERSION = 2\n")
    exec(compile(newer, spec.origin, "exec"), module.__dict__)


if __name__ == "__main__":
    load_newer_events()
    from antiphon.cli.process import main
    from antiphon.traces.reading import UPGRADERS

    UPGRADERS[1] = lambda form: form
    main()
