"""Dask as the workers of an engine: processes of this machine, or of a cluster."""

from __future__ import annotations

import pickle
import secrets
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

from stickbreak.corpus.corpus import Corpus
from stickbreak.corpus.folder import place_of_folder, write_corpus
from stickbreak.corpus.place import Place
from stickbreak.exceptions import ClusterError, InputError, StickbreakError
from stickbreak.fitting.checkpoint import identity_of_corpus
from stickbreak.fitting.engine import use_workers
from stickbreak.storage.own_folders import OwnFolder
from stickbreak.storage.places import PathLike, place_of

Shared = TypeVar("Shared")
Job = TypeVar("Job")
Result = TypeVar("Result")
Part = TypeVar("Part")

TRIES = 3  # of a step whose shared data were lost with the workers that held them
FAN_IN = 8  # parts of a sum that a worker adds up at a time ...
MUCH = 1 << 27  # ... where there are more of them, and more bytes: fewer are quicker to fetch than to add twice
WAIT = 60  # seconds for a first worker, and for a new one where all have gone


class DaskWorkers:
    """The workers of a Dask client.

    Parameters
    ----------
    client : distributed.Client
    scratch : Path
        A folder that all workers see: corpora that are not stored yet are written there, and what fits work on.

    Attributes
    ----------
    n_steps : int
        Steps so far. A step is a list of jobs that share something.
    bytes_sent : int
        What went out: jobs, and what they share, which is sent once; the workers hand it to one another.
    bytes_returned : int
        The results.
    """

    def __init__(self, client: Any, scratch: Path) -> None:
        self._client, self.scratch = client, scratch
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
        """
        told = None if done is None else _Told(done)

        def results(sent: Any, tasks: list[bytes]) -> list[bytes]:
            futures = self._client.map(_done, [sent] * len(tasks), tasks, pure=False)
            if told is not None:
                _tell(told, futures)
            return self._gathered(futures)

        return [pickle.loads(result) for result in self._step(work, jobs, shared, results, told)]

    def run_summed(
        self,
        work: Callable[[Shared, Job], tuple[Result, Part]],
        jobs: Sequence[Job],
        shared: Shared,
        add: Callable[[Sequence[Part]], Part],
    ) -> tuple[list[Result], list[Part]]:
        """Return the results of jobs, in order, and parts that add up to the parts of all jobs.

        Where there are many and large parts, workers add them up, eight at a time, until there is one. What each job
        has found stays where it is until then, and is found again if its worker is lost.

        Raises
        ------
        ClusterError
            As `run`.
        """

        def results(sent: Any, tasks: list[bytes]) -> list[bytes]:
            apart = self._client.map(_done_apart, [sent] * len(tasks), tasks, pure=False)
            own: list[tuple[bytes, int]] = self._gathered(self._client.map(_own, apart, pure=False))
            if len(tasks) > FAN_IN and sum(size for _, size in own) > MUCH:
                told = pickle.dumps(add, protocol=pickle.HIGHEST_PROTOCOL)
                while len(apart) > 1:
                    groups = [apart[first : first + FAN_IN] for first in range(0, len(apart), FAN_IN)]
                    apart = [self._client.submit(_added, told, group, pure=False) for group in groups]
            parts: list[bytes] = self._gathered(self._client.map(_part, apart, pure=False))
            return [result for result, _ in own] + parts

        found = [pickle.loads(result) for result in self._step(work, jobs, shared, results)]
        return found[: len(jobs)], found[len(jobs) :]

    def _step(
        self,
        work: Callable[..., Any],
        jobs: Sequence[Any],
        shared: Any,
        results: Callable[[Any, list[bytes]], list[bytes]],
        told: _Told | None = None,
    ) -> list[bytes]:
        """Return what `results` makes of what was sent to be shared and of the packed jobs; again where it is lost."""
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError

        if not jobs:
            return []
        packed, reason = Packed.of(shared), ""
        tasks = [pickle.dumps((work, job), protocol=pickle.HIGHEST_PROTOCOL) for job in jobs]
        for _ in range(TRIES):
            try:
                self._client.wait_for_workers(1, timeout=WAIT)
                with warnings.catch_warnings():
                    warnings.filterwarnings("ignore", "Sending large graph", UserWarning)  # no smaller one can be sent
                    # a task, where scatter would never return when a worker has just gone
                    sent = self._client.submit(_itself, packed, pure=False)
                found = results(sent, tasks)
            except StickbreakError:  # of a job
                raise
            except (FutureCancelledError, KilledWorker, TimeoutError, OSError) as error:
                if told is not None and told.error is not None:  # of the callback, not of the cluster
                    raise told.error from None
                reason = f"{type(error).__name__}: {error}"
                time.sleep(0.5)
            else:
                self.n_steps += 1
                self.bytes_sent += len(packed.content) + sum(map(len, tasks))
                self.bytes_returned += sum(map(len, found))
                return found
        raise ClusterError(
            f"the cluster lost the work of {len(jobs)} jobs {TRIES} times ({reason:.200}); see that its workers have "
            "enough memory and go on running. A fit with a checkpoint goes on with resume."
        )

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
                    raise
            else:
                return list(self._client.gather(futures))

    @property
    def n_at_once(self) -> int:
        """Number of jobs that workers do at the same time; 0 where the scheduler does not answer."""
        try:
            return sum(self._client.nthreads().values())
        except OSError:
            return 0

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


@dataclass(frozen=True, slots=True)
class Packed:
    """What the jobs of a step share, on its way."""

    token: str
    content: bytes

    @classmethod
    def of(cls, shared: Any) -> Self:
        """Pack what is shared."""
        return cls(secrets.token_hex(8), pickle.dumps(shared, protocol=pickle.HIGHEST_PROTOCOL))

    def unpacked(self) -> Any:
        """Return what is shared; a worker unpacks it once, for all its jobs of the step."""
        if self.token not in _UNPACKED:
            _UNPACKED.clear()
            _UNPACKED[self.token] = pickle.loads(self.content)
        return _UNPACKED[self.token]


_UNPACKED: dict[str, Any] = {}  # of the step that a worker is at


def _itself(packed: Packed) -> Packed:
    """Return what is shared: workers have it from the one that did this."""
    return packed


def _done(packed: Packed, task: bytes) -> bytes:
    """Do a job, in a worker, from where nothing travels on."""
    work, job = pickle.loads(task)
    with use_workers(None):
        return pickle.dumps(work(packed.unpacked(), job), protocol=pickle.HIGHEST_PROTOCOL)


@dataclass(frozen=True, slots=True)
class _Apart:
    """What a job has found: its result, and its part of a sum."""

    result: bytes
    part: bytes


def _done_apart(packed: Packed, task: bytes) -> _Apart:
    """Do a job whose part of a sum stays here."""
    work, job = pickle.loads(task)
    with use_workers(None):
        found = work(packed.unpacked(), job)
    return _Apart(*(pickle.dumps(each, protocol=pickle.HIGHEST_PROTOCOL) for each in found))


def _own(apart: _Apart) -> tuple[bytes, int]:
    """Return the result of a job, and the bytes of its part."""
    return apart.result, len(apart.part)


def _part(apart: _Apart) -> bytes:
    return apart.part


def _added(told: bytes, group: list[_Apart]) -> _Apart:
    """Add parts, where most of them are."""
    total = pickle.loads(told)([pickle.loads(each.part) for each in group])
    return _Apart(b"", pickle.dumps(total, protocol=pickle.HIGHEST_PROTOCOL))


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
    ...     model = stickbreak.CollapsedHDP().fit(corpus)
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
            return stack.enter_context(distributed.Client(where, timeout=10))
        except (OSError, ValueError) as error:
            raise ClusterError(
                f"no Dask scheduler answers at {where!r} ({error!s:.100}); give the address that `dask scheduler` "
                "prints."
            ) from None
    if isinstance(where, int) and not isinstance(where, bool) and where > 0:
        options = {"processes": True, "threads_per_worker": 1, "dashboard_address": ":0"}
        local = stack.enter_context(distributed.LocalCluster(n_workers=where, **options))
        return stack.enter_context(distributed.Client(local))
    raise InputError(
        f"the cluster is {where!r}; give a Dask client, the address of a scheduler, or a number of processes."
    )
