"""How hypothesis draws faults and queries: any door, kind, passage and duration, the likely ones more often."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hypothesis import strategies as st

from antiphon.faults.kinds import Kind
from antiphon.faults.plan import Fault, Plan, When
from antiphon.faults.scenarios import SCENARIOS
from antiphon.faults.seams import Seam, seam_of
from antiphon.faults.world import QUESTIONS

Faults = tuple[Fault, ...]

AFTER_S = st.sampled_from((0.0, 0.0, 0.0, 1.0, 31.0, 400.0))
ASKED = st.builds(Plan, scenario=st.sampled_from(tuple(SCENARIOS)), seed=st.sampled_from(range(2 * len(QUESTIONS))))
_LASTING_S = (0.0, 0.1, 1.0, 6.0, 12.0, 31.0, 400.0)


def faults_among(places: Collection[tuple[str, When]]) -> st.SearchStrategy[Fault]:
    """Any fault at these doors in these parts of a query, every sort of door as likely as the others."""
    sorts: dict[Seam, list[tuple[str, When]]] = {}
    for door, when in sorted(places):
        sorts.setdefault(seam_of(door), []).append((door, when))
    return st.one_of([_of_sort(seam, found) for seam, found in sorts.items()])


def _of_sort(seam: Seam, places: Sequence[tuple[str, When]]) -> st.SearchStrategy[Fault]:
    return st.builds(
        _fault,
        place=st.sampled_from(places),
        anywhere=st.booleans(),
        kind=st.sampled_from(seam.kinds),
        nth=st.sampled_from((1, 1, 1, 2, 3, 5)),
        times=st.sampled_from((1, 1, 2, 0)),
        for_s=st.sampled_from(_LASTING_S),
    )


def _fault(place: tuple[str, When], anywhere: bool, kind: Kind, nth: int, times: int, for_s: float) -> Fault:
    door, when = place
    return Fault(point=door, kind=kind, when="any" if anywhere else when, nth=nth, times=times, for_s=for_s)
