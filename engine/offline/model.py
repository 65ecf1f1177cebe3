"""The offline reasoner as a model: the same SDK, to the Messages API in this process."""

from __future__ import annotations

from antiphon.engine.anthropic_model import AnthropicModel, connect
from antiphon.engine.in_process import InProcessTransport
from antiphon.engine.offline.app import MODEL, OfflineMessagesApi
from antiphon.language.evidence import Weigh


def offline_model(weigh: Weigh | None = None) -> AnthropicModel:
    """A model that needs neither key nor network; its answers are labelled `offline`.

    Args:
        weigh: How telling a stemmed term is in the courses; None means that all are alike.
    """
    transport = InProcessTransport(OfflineMessagesApi(weigh))
    return connect("none", "http://offline.invalid", name=MODEL, transport=transport)
