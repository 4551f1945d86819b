"""Dask as the workers of an engine: processes of this machine, or of a cluster."""

from __future__ import annotations

import pickle
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from stickbreak.corpus.corpus import Corpus
from stickbreak.corpus.folder import place_of_folder, write_corpus
from stickbreak.corpus.place import Place
from stickbreak.exceptions import ClusterError, InputError, StickbreakError
from stickbreak.fitting import dask_jobs
from stickbreak.fitting.checkpoint import identity_of_corpus
from stickbreak.fitting.dask_jobs import Step
from stickbreak.fitting.engine import use_workers
from stickbreak.fitting.parcels import LARGE, Parcel, Unseen
from stickbreak.storage.own_folders import OwnFolder
from stickbreak.storage.places import PathLike, place_of

Shared = TypeVar("Shared")
Job = TypeVar("Job")
Result = TypeVar("Result")
Part = TypeVar("Part")

TRIES = 3  # of a step whose shared data were lost with the workers that held them
FAN_IN = 8  # parts of a sum that a worker adds up at a time ...
MUCH = 1 << 27  # ... where there are more of them, and more bytes: fewer are quicker to fetch than to add twice
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
        A folder that all workers see: corpora that are not stored yet are written there, what fits work on, and what is
        large on its way.

    Attributes
    ----------
    n_steps : int
        Steps so far. A step is a list of jobs that share something.
    bytes_sent : int
        What went out, in files or not: jobs, and what they share, which is counted once.
    bytes_returned : int
        The results.
    """

    def __init__(self, client: Any, scratch: Path) -> None:
        self._client, self.scratch = client, scratch
        self._shelf: Path | None = scratch  # of what is large
        self._last: list[Any] = []  # futures
        self.n_steps = self.bytes_sent = self.bytes_returned = 0
        self._places: dict[tuple[Any, ...], Place] = {}

    def run(
        self,
        work: Callable[[Shared, Job], Result],
        jobs: Sequence[Job],
        shared: Shared,
        done: Callable[[int], None] | None = None,
    ) -> list[Result]:
        """Return [work(shared, job) for job in jobs], in order.

        Dask runs the jobs of a lost worker again on another one, and sends what they share again where it went with
        it: a job may be done twice, to the same result. `done` is called with the number of jobs that are done.

        Raises
        ------
        ClusterError
            If the cluster does not answer, or loses workers again and again.
        WriteError
            If the disk of the scratch folder is full.
        """
        told = None if done is None else _Told(done)

        def results(step: Step) -> list[Result]:
            futures = self._map(dask_jobs.done, step)
            if told is not None:
                _tell(told, futures)
            return self._opened(self._gathered(futures), lasting=True)

        return self._step(work, jobs, shared, results, told) if jobs else []

    def run_summed(
        self,
        work: Callable[[Shared, Job], tuple[Result, Part]],
        jobs: Sequence[Job],
        shared: Shared,
        add: Callable[[Sequence[Part]], Part],
    ) -> tuple[list[Result], list[Part]]:
        """Return the results of jobs, in order, and parts that add up to the parts of all jobs.

        Where there are many and large parts, workers add them up, eight at a time, until there is one.

        Raises
        ------
        ClusterError, WriteError
            As `run`.
        """

        def results(step: Step) -> tuple[list[Result], list[Part]]:
            found = self._gathered(self._map(dask_jobs.done_apart, step))
            own, parts = [result for result, _ in found], [part for _, part in found]
            if len(parts) > FAN_IN and sum(part.size for part in parts) > MUCH:
                told = pickle.dumps(add, protocol=pickle.HIGHEST_PROTOCOL)
                while len(parts) > 1:
                    groups = [parts[first : first + FAN_IN] for first in range(0, len(parts), FAN_IN)]
                    paths = [step.path(f"sum-{len(parts)}-{number}") for number in range(len(groups))]
                    tolds = [told] * len(groups)
                    parts = self._gathered(self._client.map(dask_jobs.added, tolds, groups, paths, pure=False))
            return self._opened(own, lasting=True), self._opened(parts)

        return self._step(work, jobs, shared, results) if jobs else ([], [])

    def _step(
        self,
        work: Callable[..., Any],
        jobs: Sequence[Any],
        shared: Any,
        results: Callable[[Step], Any],
        told: _Told | None = None,
    ) -> Any:
        """Return what `results` makes of the packed jobs of a step; again where workers are lost."""
        from distributed import KilledWorker
        from distributed.client import ClosedClientError, FutureCancelledError

        n_lost, reason = 0, ""
        while n_lost < TRIES:
            step = Step(self._shelf, work, jobs, shared)
            try:
                found = results(step)
            except Unseen:
                if self._shelf is None:
                    raise
                self._shelf = None  # all is sent from now on
            except StickbreakError:  # of a job
                raise
            except ClosedClientError:
                raise ClusterError(
                    "the scheduler of the cluster has gone; start it and its workers again. A fit with a checkpoint "
                    "goes on with resume."
                ) from None
            except (FutureCancelledError, KilledWorker, TimeoutError, OSError) as error:
                if told is not None and told.error is not None:  # of the callback, not of the cluster
                    raise told.error from None
                n_lost, reason = n_lost + 1, f"{type(error).__name__}: {error}"
                time.sleep(0.5)
            else:
                self.n_steps += 1
                self.bytes_sent += step.size
                return found
            finally:
                step.end()
        raise ClusterError(
            f"the cluster lost the work of {len(jobs)} jobs {TRIES} times ({reason:.200}); see that its workers have "
            "enough memory and go on running. A fit with a checkpoint goes on with resume."
        )

    def _map(self, function: Callable[..., Any], step: Step) -> list[Any]:
        """Let workers do a function with each job of a step."""
        shared: Any = step.shared
        if not shared.ends and shared.size > LARGE:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Sending large graph", UserWarning)  # no smaller one can be sent
                # a task, where scatter would never return when a worker has just gone
                shared = self._client.submit(dask_jobs.itself, shared, pure=False)
        n_jobs = len(step.jobs)
        futures = self._client.map(
            function, [step.token] * n_jobs, [shared] * n_jobs, step.jobs, step.paths, pure=False
        )
        # those of the step before go only now: to tell the scheduler so would have kept it for 10 ms from these
        self._last = futures
        return list(futures)

    def _opened(self, parcels: Sequence[Parcel], *, lasting: bool = False) -> list[Any]:
        """Return what jobs have found, and count its bytes."""
        found = [parcel.opened(lasting=lasting) for parcel in parcels]
        self.bytes_returned += sum(parcel.size for parcel in parcels)
        return found

    def _gathered(self, futures: list[Any]) -> list[Any]:
        """Return the results of futures; a TimeoutError where no worker is left and none comes."""
        import distributed

        wait: Any = distributed.wait
        while True:
            try:
                with self._client.as_current(), suppress(CancelledError):  # whoever gathers them raises that again
                    wait(futures, timeout=WAIT)
            except TimeoutError:
                if not self.n_at_once:
                    raise TimeoutError(f"no worker is left, and none came in {WAIT} seconds") from None
            else:
                return list(self._client.gather(futures))

    @property
    def n_at_once(self) -> int:
        """Number of jobs that workers do at the same time; 0 where the scheduler does not answer."""
        from distributed.client import ClosedClientError

        try:
            return sum(self._client.nthreads().values())
        except (OSError, ClosedClientError):
            return 0

    def release(self) -> None:
        """Let the cluster forget the results of the last step."""
        self._last = []

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


@dataclass(slots=True)
class _Told:
    """Tells how many jobs are done, each number once, and keeps the error of who is told."""

    done: Callable[[int], None]
    highest: int = 0
    error: Exception | None = None

    def __call__(self, n_done: int) -> None:
        if n_done > self.highest:
            self.highest = n_done
            try:
                self.done(n_done)
            except Exception as error:
                self.error = error
                raise


def _tell(told: _Told, futures: list[Any]) -> None:
    """Tell how many jobs are done, until all are, or one has failed."""
    from distributed import as_completed

    ended: Any = as_completed
    for n_done, future in enumerate(ended(futures), start=1):
        if future.status != "finished":
            return  # whoever gathers the results raises its error
        told(n_done)


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
        folder = OwnFolder(Path(tempfile.gettempdir()) if scratch is None else place_of(scratch), "stickbreak-cluster")
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
