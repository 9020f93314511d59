"""Jobs done by a Dask cluster (docs.dask.org): a submission travels as data, a worker confines and
judges it on its own machine, and the report comes back.

    for done in done_by("tcp://10.0.0.5:8786", jobs, began): ...

Every worker has to have this repository in the same version, which is compared first, and one
thread, because it grades one submission at a time. The job of a worker that dies is done by
another. When the scheduler is gone, whatever it had not handed on is given to the next one at the
same address.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING

from classroom.gradebook.job import Done, Job, do, version_of
from classroom.grader.command import progress
from classroom.grader.handed_in import CannotGrade
from classroom.grader.judge import ROOT, tasks_of
from classroom.grader.kernels import WORTH, fill
from classroom.grader.report import cleaned

if TYPE_CHECKING:
    from distributed import Client

PATIENCE = 300.0  # seconds in which a scheduler that is gone, or workers, may come back
CONNECTING = 10.0  # seconds for one attempt
AT_A_WORKER = 2  # jobs: the one that it has, and one that waits there; the others stay here


def done_by(
    address: str, jobs: list[Job], began: Callable[[Job], None] = lambda job: None
) -> Iterator[Done]:
    """The result of each job, as soon as it is there. CannotGrade where there is no such cluster,
    or its workers are not like this grader."""
    try:
        from distributed import Client
    except ImportError:
        raise CannotGrade('--scheduler needs dask: pip install -e ".[grade]"') from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    left = {job.student: job for job in jobs}
    until = time.monotonic() + CONNECTING  # for the first time, it has to be there
    while left:
        with contextlib.ExitStack() as held:
            try:
                client = Client(address, timeout=CONNECTING)
                held.callback(client.close, timeout=2)
                prepare(client, next(iter(left.values())), len(left), until)
                for done in _one_connection(client, list(left.values()), began):
                    del left[done.student]
                    until = time.monotonic() + PATIENCE
                    yield done
            except (OSError, CancelledError, ValueError) as error:
                if time.monotonic() > until:
                    raise CannotGrade(f"there is no Dask scheduler at {address}: {error}") from None
                progress(f"waiting for the scheduler at {address}")
                time.sleep(1)


def prepare(client: Client, job: Job, count: int, until: float) -> None:
    """Waits for workers, compares their versions, and has each machine compile kernels, if there
    are so many jobs that it is worth it."""
    while not (workers := client.scheduler_info(n_workers=-1)["workers"]):
        if time.monotonic() > until:
            raise CannotGrade("the cluster has no workers")
        progress("waiting for workers")
        time.sleep(0.5)
    if many := [name for name, each in workers.items() if each["nthreads"] != 1]:
        raise CannotGrade(f"the worker {many[0]} has {workers[many[0]]['nthreads']} threads. A "
                          "worker grades one submission at a time: dask worker --nthreads 1 "
                          "--nworkers N")  # fmt: skip
    versions = client.run(_version, job.project, on_error="return")
    for name, told in versions.items():
        version, where = (told, "") if isinstance(told, Exception) else told
        if version != job.version:
            why = f"it has another version, in {where}" if where else version
            raise CannotGrade(f"the worker {name} cannot be used: {why}. Give it this commit of "
                              "the repository, and start it again")  # fmt: skip
    if count >= WORTH:
        progress("each machine compiles kernels")
        one_of = {each["host"]: name for name, each in workers.items()}
        client.run(_fill, job.project, workers=list(one_of.values()))


def _version(project: str) -> tuple[str, str]:
    """Of the worker, and where it lies: its environment may be installed from elsewhere."""
    return version_of(project), cleaned(ROOT)


def _fill(project: str) -> None:
    fill(tasks_of(project), lambda text: None)


def _one_connection(
    client: Client, jobs: list[Job], began: Callable[[Job], None]
) -> Iterator[Done]:
    """The results that come while the scheduler is there; CancelledError when it is gone."""
    from distributed import as_completed

    waiting = iter(jobs)
    by_key: dict[object, Job] = {}

    def next_ones(count: int) -> Iterator[object]:
        for _, job in zip(range(count), waiting, strict=False):
            began(job)
            future = client.submit(do, job, pure=False, key=f"{job.student}-{time.monotonic_ns()}")
            by_key[future.key] = job
            yield future

    workers = client.scheduler_info(n_workers=-1)["workers"]
    running = as_completed(next_ones(AT_A_WORKER * max(1, len(workers))))
    for future in running:
        job = by_key.pop(future.key)
        if future.cancelled():
            raise CancelledError("the scheduler is gone")
        error = future.exception()
        yield Done(job.student, failed=f"the worker failed: {error}") if error else future.result()
        for another in next_ones(1):
            running.add(another)
