"""Ownership of the data: keys, tenants and quotas; and the data folder as a whole: backups and encryption."""

from antiphon.exports import exports

__getattr__, __dir__ = exports(__name__, __file__)
