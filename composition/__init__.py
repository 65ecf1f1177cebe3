"""One machine, put together: settings, shared resources, a query's first event, the tables of who decides and acts."""

from antiphon.exports import exports

__getattr__, __dir__ = exports(__name__, __file__)
