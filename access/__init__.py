"""Who calls, what they may do and see, and what they may spend: keys, tenants, quotas."""

from antiphon.exports import exports

__getattr__, __dir__ = exports(__name__, __file__)
