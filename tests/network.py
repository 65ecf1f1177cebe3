"""Machines on a network of the test's own: network namespaces on one switch, each of which can be cut off."""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

_libc = ctypes.CDLL(None, use_errno=True)
_OF_NETWORKS = 0x40000000
"""CLONE_NEWNET of linux/sched.h."""


class NotAllowedError(Exception):
    """Namespaces cannot be made here."""


class Network:
    """Machines with addresses from 10.99.0.1 on, which reach nothing outside."""

    def __init__(self, machines: int) -> None:
        self._name = f"cut{os.getpid()}"
        self._switch = f"{self._name}s"
        self.machines = list(range(1, machines + 1))

    def make(self) -> None:
        """Makes the namespaces, a switch in a separate one, and a cable to each.

        Raises:
            NotAllowedError: Only root may make them, and not on every system.
        """
        try:
            _ip("netns", "add", self._switch)
        except (OSError, subprocess.CalledProcessError) as error:
            raise NotAllowedError(str(error)) from error
        _ip("-n", self._switch, "link", "add", "br0", "type", "bridge")
        _ip("-n", self._switch, "link", "set", "br0", "up")
        for machine in self.machines:
            name = self._namespace(machine)
            _ip("netns", "add", name)
            _ip(
                "-n", name, "link", "add", "eth0", "type", "veth",
                "peer", "name", f"v{machine}", "netns", self._switch,
            )  # fmt: skip
            _ip("-n", name, "addr", "add", f"{address(machine)}/24", "dev", "eth0")
            _ip("-n", name, "link", "set", "lo", "up")
            _ip("-n", name, "link", "set", "eth0", "up")
            _ip("-n", self._switch, "link", "set", f"v{machine}", "master", "br0")
            _ip("-n", self._switch, "link", "set", f"v{machine}", "up")

    def remove(self) -> None:
        """Removes the whole network."""
        for name in (*map(self._namespace, self.machines), self._switch):
            with suppress(OSError, subprocess.CalledProcessError):
                _ip("netns", "del", name)

    def cut(self, machine: int) -> None:
        """Pulls a machine's cable: packets are lost silently."""
        _ip("-n", self._switch, "link", "set", f"v{machine}", "nomaster")

    def heal(self, machine: int) -> None:
        """Puts the cable back."""
        _ip("-n", self._switch, "link", "set", f"v{machine}", "master", "br0")

    def on(self, machine: int, *command: str) -> list[str]:
        """Returns the command line that runs a command on a machine."""
        return ["ip", "netns", "exec", self._namespace(machine), *command]

    def callers(self, machine: int) -> ThreadPoolExecutor:
        """Returns threads that run on a machine: their connections start there."""

        def enter() -> None:
            with open(f"/run/netns/{self._namespace(machine)}") as namespace:
                # The kernel moves only the calling thread (https://man7.org/linux/man-pages/man2/setns.2.html).
                if _libc.setns(namespace.fileno(), _OF_NETWORKS):
                    raise OSError(ctypes.get_errno(), "the namespace is not entered")

        return ThreadPoolExecutor(initializer=enter)

    def _namespace(self, machine: int) -> str:
        return f"{self._name}m{machine}"


@contextmanager
def network(machines: int) -> Iterator[Network]:
    """A network, removed at the end. Raises NotAllowedError as `make` does."""
    made = Network(machines)
    try:
        made.make()
        yield made
    finally:
        made.remove()


def address(machine: int) -> str:
    """Returns a machine's address."""
    return f"10.99.0.{machine}"


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True, timeout=20)
