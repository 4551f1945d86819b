"""Equal input and seed give equal bits: in any form, order, thread, process, after any other fit, kept in any way."""

from __future__ import annotations

import argparse
import copy
import json
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

import stickbreak
from fuzz.forms import Forms, of_counts, of_groups, of_vectors, rows_of, state_of
from fuzz.models import FITS, Fit, Model, digest, weights
from stickbreak.corpus import Corpus, GroupedVectors, planted_gaussians, planted_lda

HASH_SEEDS = ("0", "1", "12345")
THREADS = (1, 2, 4, -1)
LARGE_LAPS = 10  # the least that every fit can have
_ROOT = Path(__file__).parents[1]

Outcome = tuple[str, str]
"""What was tried, and how it differs: "" where it does not."""


@dataclass(frozen=True)
class Trial:
    """A fit of `fuzz.models` and the documents of a seed; of `n` laps (None: its own number)."""

    name: str
    seed: int
    n: int | None = None

    @property
    def fit(self) -> Fit:
        """The fit of this name."""
        return FITS[self.name]

    def model(self, n: int | None = None, **parameters: Any) -> Model:
        """Return the estimator, with the seed."""
        return self.fit.model(self.n if n is None else n, **{"random_state": self.seed, **parameters})

    @cached_property
    def documents(self) -> Any:
        """Small documents: a Corpus, one of them empty and one word never there; GroupedVectors; or an array."""
        return self.drawn(np.float64)

    def drawn(self, dtype: Any) -> Any:
        """Return the documents; vectors in this type."""
        if self.fit.data == "words":
            return Corpus.from_counts(self.counts)
        values = planted_gaussians(n_groups=7, n_vectors=15, n_components=3, dtype=dtype, seed=self.seed)[0].values
        sizes = np.array([0, 1, 1, 2, 3, 30, 1, 0, 60, 7])
        offsets = np.concatenate(([0], np.cumsum(sizes)))
        return GroupedVectors.from_values(values, offsets) if self.fit.data == "groups" else np.asarray(values)

    @cached_property
    def counts(self) -> np.ndarray:
        """Counts (D, W) of the documents."""
        counts = np.random.default_rng(self.seed).poisson(0.8, (40, 25))
        counts[7], counts[:, 3] = 0, 0
        return counts

    def forms(self) -> Iterator[tuple[Any, Forms]]:
        """Yield documents, and the forms in which they are the same."""
        if self.fit.data == "words":
            yield self.documents, of_counts(self.counts)
            return
        for dtype in (np.float64, np.float32):
            made = self.drawn(dtype)
            given = [made, made[made.group_sizes > 0]] if self.fit.data == "groups" else [made]
            for X in given:
                forms = of_groups(X) if self.fit.data == "groups" else of_vectors(X)
                yield X, {f"{np.dtype(dtype)} {name}": form for name, form in forms.items()}

    @cached_property
    def large(self) -> Any:
        """Enough documents for several shards of each kind of work."""
        if self.fit.data == "words":
            mean_tokens = 600 if self.name.startswith("topics") else 200  # its threads share parts of 2**18 tokens
            return planted_lda(1000, 300, n_topics=8, mean_tokens=mean_tokens, seed=self.seed)[0]
        groups, _ = planted_gaussians(n_groups=60, n_vectors=800, n_components=4, seed=self.seed)
        return groups if self.fit.data == "groups" else np.asarray(groups.values)

    @cached_property
    def fitted(self) -> Model:
        """The model of the documents."""
        return self.model().fit(self.documents)

    @cached_property
    def expected(self) -> str:
        """The digest of it."""
        return digest(self.fitted, self.documents)

    def outcome(self, what: str, found: Callable[[], str], expected: str | None = None) -> Outcome:
        """Compare a digest; an error is a difference."""
        wanted = self.expected if expected is None else expected
        try:
            return what, "" if (got := found()) == wanted else f"{got}, not {wanted}"
        except Exception as error:
            return what, f"{type(error).__name__}: {error}"


def threads(trial: Trial, numbers: Sequence[int] = THREADS) -> Iterator[Outcome]:
    """Fit with several threads: the small documents, and enough for several shards."""
    for n_jobs in numbers:
        small = trial.model(n_jobs=n_jobs)
        yield trial.outcome(f"n_jobs={n_jobs}", lambda model=small: digest(model.fit(trial.documents), trial.documents))
    one = digest(trial.model(LARGE_LAPS, n_jobs=1).fit(trial.large), trial.large)
    for n_jobs in numbers[1:]:
        model = trial.model(LARGE_LAPS, n_jobs=n_jobs)
        yield trial.outcome(
            f"n_jobs={n_jobs}, large", lambda model=model: digest(model.fit(trial.large), trial.large), one
        )


def forms(trial: Trial, share: slice = slice(None)) -> Iterator[Outcome]:
    """Fit and describe the documents in every form, or a share of the forms; the form itself stays as it was."""
    for documents, made in trial.forms():
        expected = digest(trial.model().fit(documents), documents)
        for name, X in list(made.items())[share]:
            before = state_of(X)
            yield trial.outcome(name, lambda X=X: digest(trial.model().fit(X), X), expected)
            yield f"{name} stays", "" if state_of(X) == before else "the input was altered"


def orders(trial: Trial) -> Iterator[Outcome]:
    """Describe documents backwards, at random, alone and in blocks: each has the same weights."""
    documents, found = trial.documents, weights(trial.fitted, trial.documents)
    n = len(documents) if trial.fit.data != "words" else documents.n_documents
    start = documents.offsets if trial.fit.data == "groups" else np.arange(n + 1)
    rng = np.random.default_rng(trial.seed)

    def told(rows: np.ndarray) -> np.ndarray:
        return weights(trial.fitted, rows_of(documents, rows))

    def own(rows: np.ndarray) -> np.ndarray:
        places = rows if len(found) == n else np.concatenate([np.arange(start[g], start[g + 1]) for g in rows])
        return found[places]

    ways = {"backwards": [np.arange(n)[::-1]], "at random": [rng.permutation(n)], "twice each": [np.arange(2 * n) // 2]}
    ways |= {"alone": [np.array([d]) for d in range(n)], "in blocks": np.array_split(rng.permutation(n), 5)}
    for name, parts in ways.items():
        off = [np.abs(told(part) - own(part)).max(initial=0.0) for part in parts if not _equal(told(part), own(part))]
        yield f"transform {name}", f"{len(off)} of {len(parts)} differ, by {max(off):.2g}" if off else ""


def _equal(a: np.ndarray, b: np.ndarray) -> bool:
    return a.dtype == b.dtype and np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes()


def copies(trial: Trial) -> Iterator[Outcome]:
    """Save and load, pickle, copy; clone and fit again; fit the same estimator twice."""
    model, documents = trial.fitted, trial.documents

    def saved() -> str:
        with tempfile.TemporaryDirectory() as folder:
            model.save(Path(folder) / "model")
            return digest(stickbreak.load(Path(folder) / "model"), documents)

    yield trial.outcome("saved and loaded", saved)
    yield trial.outcome("pickled", lambda: digest(pickle.loads(pickle.dumps(model)), documents))
    yield trial.outcome("copied", lambda: digest(copy.deepcopy(model), documents))
    yield trial.outcome("cloned, fitted", lambda: digest(clone(model).fit(documents), documents))
    yield trial.outcome("copied, fitted", lambda: digest(copy.deepcopy(model).fit(documents), documents))
    yield trial.outcome("asked again", lambda: digest(model, documents))
    again = trial.model().fit(documents)
    yield trial.outcome("fitted twice", lambda: digest(again.fit(documents), documents))
    others = Trial(trial.name, trial.seed + 1).documents
    yield trial.outcome("fitted to others before", lambda: digest(again.fit(others).fit(documents), documents))


def neighbours(trial: Trial) -> Iterator[Outcome]:
    """Fit right after each of the other fits."""
    for name in FITS:
        other = Trial(name, trial.seed + 1)
        other.model(LARGE_LAPS).fit(other.documents)
        yield trial.outcome(f"after {name}", lambda: digest(trial.model().fit(trial.documents), trial.documents))


def digests(names: list[str], seed: int) -> dict[str, str]:
    """Return the digest of each fit: what a fresh process prints."""
    return {name: Trial(name, seed).expected for name in names}


def processes(names: list[str], seed: int, hash_seeds: Sequence[str] = HASH_SEEDS) -> dict[str, list[Outcome]]:
    """Return what fresh processes of some hash seeds find, by the name of the fit."""
    code = f"import json; from fuzz.determinism import digests; print(json.dumps(digests({names!r}, {seed})))"
    expected, found = digests(names, seed), {name: [] for name in names}
    for hash_seed in hash_seeds:
        path = os.pathsep.join([str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True, text=True, check=False, cwd=_ROOT,
            env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": path},
        )  # fmt: skip
        got = json.loads(done.stdout) if done.returncode == 0 else {}
        for name in names:
            same = got.get(name) == expected[name]
            what = "" if same else got.get(name, f"exit code {done.returncode}: {done.stderr.strip()[-300:]}")
            found[name].append((f"PYTHONHASHSEED={hash_seed}", what))
    return found


CHECKS = {"threads": threads, "forms": forms, "orders": orders, "copies": copies, "neighbours": neighbours}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this mode."""
    parser.add_argument("--only", metavar="NAME", help="fits whose name begins so: " + ", ".join(FITS))
    parser.add_argument(
        "--checks", nargs="+", choices=[*CHECKS, "processes"], help="some of the checks; all if left out"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the documents and of the fits")


def run(arguments: argparse.Namespace) -> int:
    """Try all fits; print a row for each and every difference; return the number of differences."""
    names = [name for name in FITS if name.startswith(arguments.only or "")]
    chosen = arguments.checks or [*CHECKS, "processes"]
    elsewhere = processes(names, arguments.seed) if "processes" in chosen else {name: [] for name in names}
    differences = []
    print(f"{'fit':<24}" + "".join(f"{check:>12}" for check in chosen) + "   (tried, and how many differ)")
    for name in names:
        trial, row = Trial(name, arguments.seed), f"{name:<24}"
        for check in chosen:
            found = elsewhere[name] if check == "processes" else list(CHECKS[check](trial))
            bad = [(what, how) for what, how in found if how]
            row += f"{f'{len(found)}/{len(bad)}':>12}"
            differences += [f"{name}: {what}: {how}" for what, how in bad]
        print(row, flush=True)
    for line in differences:
        print(line)
    print(f"{len(differences)} differences; python -m fuzz determinism --seed {arguments.seed} finds them again")
    return len(differences)
