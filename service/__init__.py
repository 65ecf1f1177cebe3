"""The service as a Python object, and the names that the REST API, the command line and the test harness use."""

from antiphon.exports import exports

__getattr__, __dir__ = exports(__name__, __file__)
