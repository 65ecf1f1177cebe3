"""A comparison as one HTML page: nothing is loaded, and whatever documents and models wrote is text in it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from antiphon.cli.comparing import MEANING, Compared, Run, Sum, dollars
from antiphon.cli.terminal import clean

_STYLE = """
:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:90rem;padding:0 1rem;
background:Canvas;color:CanvasText}
table{border-collapse:collapse;width:100%;table-layout:fixed;margin:.5rem 0 2rem}
th,td{border:1px solid color-mix(in srgb,CanvasText 25%,Canvas);padding:.4rem .6rem;text-align:left;vertical-align:top;
overflow-wrap:anywhere}
th.n,td.n{width:8rem}td.n{opacity:.75}
.answer{white-space:pre-wrap}
.same{opacity:.6}
h2{font-size:1.05rem;margin:2rem 0 .3rem;overflow-wrap:anywhere}
ul{margin:0;padding-left:1.1rem}code{font-size:.85em}
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""Should anything slip through all the same, the browser is told to load and run nothing."""


def as_page(compared: Sequence[Compared], sums: Sequence[Sum]) -> str:
    """The whole page."""
    body = "".join(_question(each) for each in compared)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f"<title>Modes compared</title><style>{_STYLE}</style></head><body><h1>Modes compared</h1>"
        f"{_modes(sums)}{body}</body></html>\n"
    )


def _modes(sums: Sequence[Sum]) -> str:
    said = "".join(f"<li><b>{told.mode}</b>: {escape(MEANING[told.mode])}</li>" for told in sums)
    rows = [
        ("answered", [f"{told.answered} of {told.runs}" for told in sums]),
        ("right", [f"{told.right} of {told.graded}" if told.graded else "" for told in sums]),
        ("sources cited", [f"{told.sources:.1f}" for told in sums]),
        ("rounds", [f"{told.rounds:.1f}" for told in sums]),
        ("calls", [f"{told.calls:.1f}" for told in sums]),
        ("tokens in", [f"{told.usage.all_input_tokens:,}" for told in sums]),
        ("tokens out", [f"{told.usage.output_tokens:,}" for told in sums]),
        ("ms (median)", [f"{told.ms:.0f}" for told in sums]),
        ("cost", [dollars(told.cost_usd) for told in sums]),
    ]
    return f"<ul>{said}</ul>{_table([told.mode for told in sums], [row for row in rows if any(row[1])])}"


def _question(each: Compared) -> str:
    first = each.runs[0]
    rows = [
        ("answer", [_answer(run, first) for run in each.runs]),
        ("sources", [_sources(run) for run in each.runs]),
        ("right", [{True: "✓", False: "✗", None: ""}[run.right] for run in each.runs]),
        ("confidence", [_text(", ".join((run.confidence, *run.doubts))) for run in each.runs]),
        ("rounds, calls", [f"{run.rounds}, {run.calls}" for run in each.runs]),
        ("tokens in, out", [f"{run.usage.all_input_tokens:,}, {run.usage.output_tokens:,}" for run in each.runs]),
        ("ms", [f"{run.duration_ms:.0f}" for run in each.runs]),
        ("cost", [dollars(run.usage.cost_usd) for run in each.runs]),
        ("trace", [f"<code>{_text(run.query_id)}</code>" for run in each.runs]),
    ]
    table = _table([run.mode for run in each.runs], [row for row in rows if any(row[1])])
    return f"<h2>{_text(each.question)}</h2>{table}"


def _table(head: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]) -> str:
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    lines = "".join(
        f'<tr><td class="n">{escape(name)}</td>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
        for name, cells in rows
    )
    return f'<table><tr><th class="n"></th>{names}</tr>{lines}</table>'


def _answer(run: Run, first: Run) -> str:
    """The answer; where it is the first one's once more, paler."""
    kind = "answer same" if run is not first and run.answer == first.answer else "answer"
    return f'<div class="{kind}">{_text(run.answer)}</div>'


def _sources(run: Run) -> str:
    return f"<ul>{''.join(f'<li>{_text(source)}</li>' for source in run.sources)}</ul>" if run.sources else "none"


def _text(said: str) -> str:
    """What somebody wrote, as text and nothing else."""
    return escape(clean(said))
