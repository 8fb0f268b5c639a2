"""Running Jupyter: ports, limits, signals, and a cure for cells that wait for ever."""

from __future__ import annotations

import os
import signal
import socket
import time
from math import ceil
from queue import Empty
from typing import Any, NoReturn

#: Bytes that may come from a page at once, so files to be compared; Jupyter's own limit is 10 MB.
UPLOAD_LIMIT = 2**28

#: For Tornado, which both servers are made of.
SOCKETS = {"websocket_max_message_size": UPLOAD_LIMIT}

START_TIMEOUT = 60.0  # seconds
SLICE = 0.25  # seconds


async def _get_msg_in_slices(channel: Any, timeout: float | None = None) -> dict[str, Any]:
    deadline = float("inf") if timeout is None else time.monotonic() + timeout
    while True:
        wait = max(0.0, min(SLICE, deadline - time.monotonic()))
        if await channel.socket.poll(ceil(1000 * wait)):
            message: dict[str, Any] = await channel._recv()
            return message
        if time.monotonic() >= deadline:
            raise Empty


def poll_in_slices() -> None:
    """Make every kernel client of this process look for messages at least every `SLICE`.

    `jupyter_client` waits for a kernel's message in one long poll of an asynchronous socket. Now
    and then, while a cell fills an Output widget, the message arrives and the poll is not woken:
    the cell then waits out its timeout, or for ever where there is none (jupyter/nbclient, issue
    312). Polling in short slices looks again soon enough, and costs nothing that can be measured.
    """
    from jupyter_client.channels import AsyncZMQSocketChannel

    AsyncZMQSocketChannel.get_msg = _get_msg_in_slices


def choose_port(port: int) -> int:
    """Return `port` if nobody listens on it, and any free one for 0.

    Parameters
    ----------
    port : int

    Returns
    -------
    int
    """
    if not 0 <= port < 2**16:
        raise ValueError(f"--port {port}: a port is a number from 1 to {2**16 - 1}")
    with socket.socket() as probe:
        if os.name == "posix":  # one that was just left is free; elsewhere the option means more
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise ValueError(
                f"--port {port}: {(error.strerror or str(error)).lower()}; choose another, or "
                "leave --port out"
            ) from None
        free: int = probe.getsockname()[1]
    return free


def stop_on_signals() -> None:
    """Leave in the same way whether by Ctrl-C, `kill` or a closed terminal."""
    for name in {"SIGTERM", "SIGHUP"} & set(dir(signal)):
        signal.signal(getattr(signal, name), _stop)


def _stop(*_: object) -> NoReturn:
    raise KeyboardInterrupt
