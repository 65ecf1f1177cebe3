"""Whose data it is: keys, tenants, quotas; and the data folder as a whole: backups, encryption."""

from antiphon.exports import exports

__getattr__, __dir__ = exports(__name__, __file__)
