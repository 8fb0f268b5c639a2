"""A cure for cells that wait for ever when notebooks are executed without a browser.

`jupyter_client` waits for a kernel's message in one long poll of an asynchronous socket. Now and
then, while a cell fills an Output widget, the message arrives and the poll is not woken: the cell
then waits out its timeout, or for ever where there is none (jupyter/nbclient, issue 312). Polling
in short slices looks again soon enough, and costs nothing that can be measured.
"""

from __future__ import annotations

import time
from math import ceil
from queue import Empty
from typing import Any

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
    """Make every kernel client of this process look for messages at least every `SLICE`."""
    from jupyter_client.channels import AsyncZMQSocketChannel

    AsyncZMQSocketChannel.get_msg = _get_msg_in_slices
