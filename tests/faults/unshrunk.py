"""A plugin of pytest: an example that fails is told as it was found. To make it small takes up to ten seconds."""

from __future__ import annotations

from hypothesis import Phase, settings

settings.register_profile(
    "unshrunk", phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.target]
)
settings.load_profile("unshrunk")
