"""Dask as the workers of an engine: processes of this machine, or of a cluster.

Dask moves jobs and results, and runs the jobs of a lost worker again. What jobs share, if it is large, is in a file of
the scratch folder, which each worker opens once: scattered by Dask, 20 MB took four times as long.
"""

from __future__ import annotations

import os
import pickle
import secrets
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from stickbreak.corpus.corpus import Corpus, Place
from stickbreak.corpus.folder import place_of_folder, write_corpus
from stickbreak.exceptions import ClusterError, InputError, ReadError, StickbreakError
from stickbreak.fitting.checkpoint import identity_of_corpus
from stickbreak.fitting.engine import use_workers
from stickbreak.storage.atomic import told_as_write_error
from stickbreak.storage.places import PathLike, place_of
from stickbreak.storage.temporary_folders import TemporaryFolder

Shared = TypeVar("Shared")
Job = TypeVar("Job")
Result = TypeVar("Result")

TRIES = 3  # of jobs that are lost with the workers that held what they share
LARGE = 1 << 16  # bytes of what jobs share, from which on it is in a file
FAN_IN = 8  # parts of a sum that a worker adds up at a time
GIVEN_BACK_AT_ONCE = "MALLOC_TRIM_THRESHOLD_"  # with it, memory that is freed goes back to the system
# one heap for all threads of a worker, which grows and shrinks by much at a time, and has all but the largest arrays
KEPT = {"MALLOC_ARENA_MAX": 1, "MALLOC_TOP_PAD_": 1 << 26, "MALLOC_MMAP_THRESHOLD_": 1 << 25}
ANSWER = 10  # seconds for a scheduler to answer
WAIT = 60  # seconds for a first worker, and for a new one where all have gone


class DaskWorkers:
    """The workers of a Dask client.

    Parameters
    ----------
    client : distributed.Client
    scratch : Path
        A folder that all workers see: corpora that are not stored yet are written there, what fits work on, and what
        the jobs of a step share.
    """

    def __init__(self, client: Any, scratch: Path) -> None:
        self._client, self.scratch = client, scratch
        self._limits: list[int] = []  # bytes that workers may use, as long as there are some
        self._places: dict[tuple[Any, ...], Place] = {}

    def run(
        self,
        work: Callable[[Shared, Job], Result],
        jobs: Sequence[Job],
        shared: Shared,
        done: Callable[[int], None] | None = None,
    ) -> list[Result]:
        """Return [work(shared, job) for job in jobs], in order.

        A job may be done twice, to the same result. `done` is called with the number of jobs that are done.

        Raises
        ------
        ClusterError
            If the cluster does not answer, or loses workers again and again.
        WriteError
            If the disk of the scratch folder is full.
        """
        progress = None if done is None else _Progress(done)

        def results(told: bytes | str) -> list[Result]:
            futures = self._map(work, jobs, told)
            if progress is not None:
                progress.follow(futures)
            return self._gathered(futures)

        return self._tried(results, len(jobs), shared, progress) if jobs else []

    def run_summed(
        self,
        work: Callable[[Shared, Job], Result],
        jobs: Sequence[Job],
        shared: Shared,
        add: Callable[[Sequence[Result]], Result],
    ) -> list[Result]:
        """Return parts that add up to the results of all jobs; workers add up many, eight at a time, to one.

        Raises
        ------
        ClusterError, WriteError
            As `run`.
        """

        def parts(told: bytes | str) -> list[Result]:
            futures = self._map(work, jobs, told)
            while len(futures) > (FAN_IN if len(futures) == len(jobs) else 1):
                groups = [futures[first : first + FAN_IN] for first in range(0, len(futures), FAN_IN)]
                futures = [self._client.submit(add, group, pure=False) for group in groups]
            return self._gathered(futures)

        return self._tried(parts, len(jobs), shared) if jobs else []

    def _tried(
        self, results: Callable[[bytes | str], Any], n_jobs: int, shared: Any, progress: _Progress | None = None
    ) -> Any:
        """Return the results of jobs, given what they share or the file that has it; again where workers are lost."""
        from distributed import KilledWorker
        from distributed.client import ClosedClientError, FutureCancelledError

        reason = ""
        with self._travelling(shared) as told:
            for _ in range(TRIES):
                try:
                    return results(told)
                except StickbreakError:  # of a job
                    raise
                except ClosedClientError:
                    raise ClusterError(
                        "the scheduler of the cluster has gone; start it and its workers again. A fit with a "
                        "checkpoint goes on with resume."
                    ) from None
                except (FutureCancelledError, KilledWorker, TimeoutError, OSError) as error:
                    if progress is not None and progress.error is not None:  # of the callback, not of the cluster
                        raise progress.error from None
                    reason = str(error) or "it did not answer in time"
                    time.sleep(0.5)
        raise ClusterError(
            f"the cluster lost the work of {n_jobs} jobs {TRIES} times ({reason:.200}); see that its workers have "
            "enough memory and go on running. A fit with a checkpoint goes on with resume."
        )

    @contextmanager
    def _travelling(self, shared: Any) -> Iterator[bytes | str]:
        """Give what jobs share as it travels: pickled, or the path of a file with that, which is removed at the end."""
        content = pickle.dumps(shared, protocol=pickle.HIGHEST_PROTOCOL)
        if len(content) < LARGE:
            yield content
            return
        path = self.scratch / f"shared-{secrets.token_hex(8)}"
        try:
            with told_as_write_error(path):
                path.write_bytes(content)
            del content
            yield str(path)
        finally:
            with suppress(OSError):
                os.unlink(path)

    def _map(self, work: Callable[..., Any], jobs: Sequence[Any], told: bytes | str) -> list[Any]:
        return list(self._client.map(_done_alone, jobs, work=work, told=told, pure=False))

    def _gathered(self, futures: list[Any]) -> list[Any]:
        """Return the results of futures; refuse to wait on where no worker is left, or all have too little memory."""
        import distributed

        wait: Any = distributed.wait
        self._limits = self._limits or [worker["memory_limit"] for worker in self._workers()]
        while True:
            try:
                with self._client.as_current(), suppress(CancelledError):  # whoever gathers them raises that again
                    wait(futures, timeout=WAIT)
            except TimeoutError:
                self._refuse_to_wait()
            else:
                return list(self._client.gather(futures))

    def _refuse_to_wait(self) -> None:
        """Refuse to wait for workers that are gone, or that do nothing as they are full."""
        workers = self._workers()
        if any(worker.get("status") != "paused" or worker["metrics"].get("executing") for worker in workers):
            return
        least = min((limit for limit in self._limits if limit), default=0)
        may_use = f" of {least / 2**20:,.0f} MiB" if least else ""
        what = (
            f"all workers of the cluster have paused, as their memory{may_use} is nearly full"
            if workers
            else f"the workers of the cluster have gone and none came in {WAIT} seconds, most often as each memory"
            f"{may_use} was too small"
        )
        raise ClusterError(
            f"{what}; start fewer workers with more memory each (--memory-limit of dask worker). A fit with a "
            "checkpoint goes on with resume."
        )

    def _workers(self) -> list[dict[str, Any]]:
        """Return what the scheduler knows of each worker; none where it does not answer."""
        from distributed.client import ClosedClientError

        try:
            return list(self._client.scheduler_info()["workers"].values())
        except (OSError, ClosedClientError):
            return []

    def place(self, corpus: Corpus) -> Place:
        """Return where the documents of a corpus are stored; one that is not is written to the scratch folder."""
        if corpus.place is not None:
            return corpus.place
        identity = identity_of_corpus(corpus)
        known = identity["counts"], *identity["shape"]
        if known not in self._places:
            folder = self.scratch / f"corpus-{len(self._places)}"
            write_corpus(Corpus(corpus.counts), folder, overwrite=True)
            self._places[known] = place_of_folder(folder, corpus.n_words, corpus.n_documents)
        return self._places[known]


class _Progress:
    """Tells how many jobs are done, each number once, and keeps the error of who is told."""

    def __init__(self, done: Callable[[int], None]) -> None:
        self._done, self._highest = done, 0
        self.error: Exception | None = None

    def follow(self, futures: list[Any]) -> None:
        """Tell until all jobs are done, or one has failed: whoever gathers the results raises its error."""
        from distributed import as_completed

        ended: Any = as_completed
        for n_done, future in enumerate(ended(futures), start=1):
            if future.status != "finished":
                return
            if n_done > self._highest:
                self._highest = n_done
                try:
                    self._done(n_done)
                except Exception as error:
                    self.error = error
                    raise


def _done_alone(job: Any, work: Callable[..., Any], told: bytes | str) -> Any:
    """Do a job, in a worker, from where nothing travels on."""
    with use_workers(None):
        return work(_opened(told), job)


@lru_cache(maxsize=1)
def _opened(told: bytes | str) -> Any:
    """Return what the jobs of a step share; a worker opens it once."""
    if isinstance(told, bytes):
        return pickle.loads(told)
    try:
        return pickle.loads(Path(told).read_bytes())
    except OSError as error:
        raise ReadError(
            f"a worker of the cluster cannot read {told} ({error.strerror}); give cluster() a scratch folder that all "
            "workers see."
        ) from None


@contextmanager
def cluster(where: Any, *, scratch: PathLike | None = None) -> Iterator[DaskWorkers]:
    """Run the fits and predictions of a block on the workers of a Dask cluster.

    The results are those of this process alone, to the bit. Documents do not travel: workers read them from a corpus
    folder (`stickbreak.corpus.read` of one, or `stickbreak count`), or from a copy in `scratch`.

    Parameters
    ----------
    where : distributed.Client, str or int
        A client, the address of a scheduler ("tcp://host:8786"), or a number of processes to start on this machine.
    scratch : path-like, optional
        A folder that all workers see, for copies of corpora that are not in a folder yet; they are removed at the end.
        Default: that of the system for temporary files, which only workers on this machine see.

    Yields
    ------
    DaskWorkers

    Raises
    ------
    InputError
        If Dask is not installed, or `where` is nothing of these.
    ClusterError
        If no scheduler answers.
    WriteError
        If nothing can be written to `scratch`.

    Examples
    --------
    >>> import stickbreak
    >>> with stickbreak.cluster(4):  # doctest: +SKIP
    ...     model = stickbreak.TopicModel().fit(corpus)
    """
    distributed = _distributed()
    with ExitStack() as stack:
        client = _client(where, distributed, stack)
        folder = TemporaryFolder(
            Path(tempfile.gettempdir()) if scratch is None else place_of(scratch), "stickbreak-cluster"
        )
        stack.callback(folder.close)
        workers = DaskWorkers(client, Path(folder.path))
        with use_workers(workers):
            yield workers


def _distributed() -> Any:
    """Import Dask; it is an extra."""
    try:
        import distributed
    except ImportError:
        raise InputError(
            "a cluster needs Dask, which is not installed; install it: pip install 'stickbreak[dask]'"
        ) from None
    return distributed


def _client(where: Any, distributed: Any, stack: ExitStack) -> Any:
    """Return a client for what was given, which is closed with the stack if it was made here."""
    if isinstance(where, distributed.Client):
        return where
    if isinstance(where, str):
        try:
            return stack.enter_context(distributed.Client(where, timeout=ANSWER))
        except (OSError, ValueError) as error:
            raise ClusterError(
                f"no Dask scheduler answers at {where!r} ({error!s:.100}); give the address that `dask scheduler` "
                "prints."
            ) from None
    if isinstance(where, int) and not isinstance(where, bool) and where > 0:
        options = {"processes": True, "threads_per_worker": 1, "dashboard_address": ":0"}
        with _ours():
            local = stack.enter_context(distributed.LocalCluster(n_workers=where, **options))
        return stack.enter_context(distributed.Client(local))
    raise InputError(
        f"the cluster is {where!r}; give a Dask client, the address of a scheduler, or a number of processes."
    )


def _ours() -> Any:
    """Set up the processes that are started now, which do our jobs alone.

    They look at themselves less often: nobody looks at what they find, and one that outgrows the memory is ended a
    second later. And they keep memory that a job has freed: Dask has it given back at once, and to get it again takes a
    job a fifth of its time.
    """
    import dask

    environment = dask.config.get("distributed.nanny.pre-spawn-environ")
    return dask.config.set(
        {
            "distributed.worker.profile.enabled": False,
            "distributed.admin.tick.interval": "500ms",
            "distributed.admin.system-monitor.interval": "5s",
            "distributed.admin.system-monitor.gil.enabled": False,
            "distributed.worker.memory.monitor-interval": "1s",
            "distributed.nanny.pre-spawn-environ": {
                **KEPT,
                **{name: value for name, value in environment.items() if name != GIVEN_BACK_AT_ONCE},
            },
        }
    )
