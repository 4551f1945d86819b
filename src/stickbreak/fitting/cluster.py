"""Dask as the workers of an engine: processes of this machine, or of a cluster."""

from __future__ import annotations

import pickle
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from stickbreak.corpus.corpus import Corpus
from stickbreak.corpus.folder import place_of_folder, write_corpus
from stickbreak.corpus.place import Place
from stickbreak.exceptions import ClusterError, InputError, StickbreakError
from stickbreak.fitting.checkpoint import identity_of_corpus
from stickbreak.fitting.engine import use_workers
from stickbreak.storage.atomic import told_as_write_error
from stickbreak.storage.places import PathLike, place_of

Shared = TypeVar("Shared")
Job = TypeVar("Job")
Result = TypeVar("Result")

TRIES = 3  # of a step whose jobs were lost with workers again and again
WAIT = 60  # seconds for a first worker, and for a new one where all have gone


class DaskWorkers:
    """The workers of a Dask client.

    Parameters
    ----------
    client : distributed.Client
    scratch : Path
        A folder that all workers see: corpora that are not stored yet are written there, and what fits work on.
    """

    def __init__(self, client: Any, scratch: Path) -> None:
        self._client, self.scratch = client, scratch
        self._places: dict[tuple[Any, ...], Place] = {}

    def run(self, work: Callable[[Shared, Job], Result], jobs: Sequence[Job], shared: Shared) -> list[Result]:
        """Return [work(shared, job) for job in jobs], in order.

        What they share is a file in the scratch folder: it cannot be lost with a worker. Dask runs the jobs of a lost
        worker again on another one: a job may be done twice, to the same result.

        Raises
        ------
        ClusterError
            If the cluster does not answer, or loses workers again and again.
        WriteError
            If the scratch folder is full.
        """
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError

        if not jobs:
            return []
        place, reason = self.scratch / f"shared-{secrets.token_hex(8)}", ""
        with told_as_write_error(place):
            place.write_bytes(pickle.dumps(shared, protocol=pickle.HIGHEST_PROTOCOL))
        try:
            for _ in range(TRIES):
                try:
                    self._client.wait_for_workers(1, timeout=WAIT)
                    futures = self._client.map(_done, [work] * len(jobs), [str(place)] * len(jobs), jobs, pure=False)
                    found: list[Result] = self._client.gather(futures)
                    return found
                except StickbreakError:  # of a job
                    raise
                except (FutureCancelledError, KilledWorker, TimeoutError, OSError) as error:
                    reason = f"{type(error).__name__}: {error}"
                    time.sleep(0.5)
        finally:
            place.unlink(missing_ok=True)
        raise ClusterError(
            f"the cluster lost the work of {len(jobs)} jobs {TRIES} times ({reason:.200}); see that its workers have "
            "enough memory and go on running. A fit with a checkpoint goes on with resume."
        )

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


_READ: dict[str, Any] = {}  # what is shared in the step that a worker is at, by its file


def _done(work: Callable[[Any, Job], Result], shared: str, job: Job) -> Result:
    """Do a job, in a worker, from where nothing travels on; what jobs share is read once, for all of the step."""
    if shared not in _READ:
        _READ.clear()
        _READ[shared] = pickle.loads(Path(shared).read_bytes())
    with use_workers(None):
        return work(_READ[shared], job)


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
        folder = _own_folder(None if scratch is None else place_of(scratch))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        workers = DaskWorkers(client, folder)
        with use_workers(workers):
            yield workers


def _own_folder(scratch: Path | None) -> Path:
    """Make a folder for one cluster alone, in `scratch` or among the temporary ones: others may use the same."""
    with told_as_write_error(scratch or tempfile.gettempdir()):
        if scratch is not None:
            scratch.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix="stickbreak-", dir=scratch))


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
