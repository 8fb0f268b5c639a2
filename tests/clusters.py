"""A cluster on this machine, of real processes, whose workers can be killed."""

import logging
import multiprocessing
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import forkserver
from pathlib import Path

import dask
import joblib
import pytest
from distributed import Client, LocalCluster

#: Workers that fork from a process that has imported everything start in a tenth of a second.
METHOD = {"distributed.worker.multiprocessing-method": "forkserver"}
PRELOAD = ["distributed", "numba", "permtest.study", "scipy.special", "scipy.stats"]


@contextmanager
def local_cluster(folder: Path, workers: int = 3) -> Iterator[LocalCluster]:
    """So many processes of one thread each, and the client that joblib's "dask" finds."""
    options = {"n_workers": workers, "threads_per_worker": 1, "processes": True}
    places = {
        "host": "127.0.0.1",
        "dashboard_address": "127.0.0.1:0",
        "local_directory": str(folder),
    }
    quiet = {"silence_logs": logging.CRITICAL}  # of workers that were killed
    multiprocessing.get_context("forkserver").set_forkserver_preload(PRELOAD)
    forkserver.ensure_running()
    with (
        dask.config.set(METHOD),
        LocalCluster(**options, **places, **quiet) as cluster,
        Client(cluster),
    ):
        yield cluster


def kill(cluster: LocalCluster) -> int:
    """Kill a worker, one that is at work if there is any, as `kill -9` does; its process id."""
    busy = {address for address, worker in cluster.scheduler.workers.items() if worker.processing}
    there = [nanny for nanny in cluster.workers.values() if nanny.pid]
    victim = max(there, key=lambda nanny: nanny.worker_address in busy)
    os.kill(victim.pid, signal.SIGKILL)
    return victim.pid


@contextmanager
def killing(cluster: LocalCluster, after: int) -> Iterator[None]:
    """Compute by the cluster, and kill a worker as soon as so many results have come from it."""
    call, dead = joblib.Parallel.__call__, []

    def watched(self, calls):
        for done, result in enumerate(call(self, calls), start=1):
            if done == after and not dead:
                dead.append(kill(cluster))
            yield result

    with pytest.MonkeyPatch.context() as patch, joblib.parallel_config(backend="dask"):
        patch.setattr(joblib.Parallel, "__call__", watched)
        yield
    assert dead, "no cluster was asked, or for less"
