"""Jobs done by several processes of this machine, one submission at a time each.

    for done in worked_off(jobs, count=4, look=print): ...

A process that dies takes no other with it: its job is done once more by another one, and a job that
two processes died of has failed. Results come in the order in which they are ready.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait

from classroom.gradebook.job import Done, Job, do
from classroom.grader.command import tidied_up
from classroom.grader.warden import PR_SET_PDEATHSIG

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "THREADS")
TRIES = 2  # processes that may die of the same job
PATIENCE = 30.0  # seconds in which a process that was asked to stop tidies up
CONTEXT = multiprocessing.get_context("spawn")  # nothing of this process, no thread of it, is there


class Worker:
    """A process that does jobs, and the job that it has now."""

    def __init__(self) -> None:
        self.pipe, other = CONTEXT.Pipe()
        self.process = CONTEXT.Process(target=serve, args=(other,))
        with _as_for_workers():
            self.process.start()
        other.close()
        self.job: Job | None = None

    def give(self, job: Job) -> None:
        self.job = job
        self.pipe.send(job)

    def take(self) -> Done | None:
        """The result; None where the process died instead."""
        try:
            found: Done = self.pipe.recv()
        except (EOFError, OSError):
            return None
        self.job = None
        return found

    def stop(self) -> None:
        """Ends the process, and what it started with it."""
        self.pipe.close()
        if self.job is not None and self.process.is_alive():
            self.process.terminate()
        self.process.join(PATIENCE)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self.process.close()


def serve(pipe: Connection) -> None:
    """A worker's whole life: jobs one after the other, until the other end is closed, or whoever
    is there dies."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    try:
        with tidied_up():
            while True:
                pipe.send(do(pipe.recv()))
    except (EOFError, OSError, KeyboardInterrupt):
        return


def worked_off(
    jobs: Iterable[Job], count: int, began: Callable[[Job], None] = lambda job: None
) -> Iterator[Done]:
    """The result of each job, as soon as it is there. began: told of each job that is begun."""
    left = iter(jobs)
    again: deque[Job] = deque()
    tries: dict[str, int] = {}
    workers: list[Worker] = []

    def next_job() -> Job | None:
        return again.popleft() if again else next(left, None)

    def start(worker: Worker, job: Job) -> None:
        began(job)
        worker.give(job)

    try:
        while len(workers) < count and (job := next_job()) is not None:
            workers.append(Worker())
            start(workers[-1], job)
        while busy := [worker for worker in workers if worker.job is not None]:
            for pipe in wait([worker.pipe for worker in busy]):
                worker = next(each for each in busy if each.pipe is pipe)
                given = worker.job
                assert given is not None
                done = worker.take()
                if done is None:
                    worker.process.join(PATIENCE)
                    why = _how(worker.process.exitcode)
                    workers[workers.index(worker)] = worker = _replaced(worker)
                    tries[given.student] = tries.get(given.student, 0) + 1
                    if tries[given.student] < TRIES:
                        again.append(given)
                    else:
                        done = Done(given.student, failed=f"the grader's process {why}, twice")
                if (job := next_job()) is not None:
                    start(worker, job)
                if done is not None:
                    yield done
    finally:
        for worker in workers:
            worker.stop()


@contextmanager
def _as_for_workers() -> Iterator[None]:
    """What a process that starts now inherits: one thread for its libraries, and that Ctrl-C is not
    for it; this process will tell it."""
    before = {name: os.environ[name] for name in ONE_THREAD if name in os.environ}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    try:
        yield
    finally:
        for name in ONE_THREAD:
            del os.environ[name]
        os.environ.update(before)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _replaced(worker: Worker) -> Worker:
    worker.stop()
    return Worker()


def _how(code: int | None) -> str:
    if code is None or code >= 0:
        return f"ended with status {code}"
    return f"was killed by {signal.Signals(-code).name}"
