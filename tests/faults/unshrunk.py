"""A pytest plugin: Hypothesis reports a failing example as found, because shrinking takes up to ten seconds."""

from __future__ import annotations

from hypothesis import Phase, settings

settings.register_profile(
    "unshrunk", phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.target]
)
settings.load_profile("unshrunk")
