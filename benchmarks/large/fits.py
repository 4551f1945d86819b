"""Fits of large collections, a row for each system: seconds, peak memory, held-out completion.

`package_summaries` begins with raw text, which is counted first; `rfc` with counts; any other name is a corpus folder,
such as that of `large-planted`. Documents are held out once (a seeded sample), and the others are written to a folder
that fits open memory-mapped. Each fit has a process of its own. Our families run by their defaults, but for K at the
start (where a start needs one), threads, the number of passes, and what the guide to large collections says of a
collection of this size (`Family.given`); the peers make as many passes. Completion is that of one fixed point for all.
Of a planted collection the matched share of the true topics is told: each has a topic of its own among those learned,
and half of the probability, or more, is common to both. A tree whose leaves are too many for a table of their words
(`--topics 104976`) is scored by its own rule, from the leaves of the observed halves, and has no matched share.

With `--kill-after N` each of our fits is killed (SIGKILL) half-way through the pass after the Nth, and another process
goes on from its checkpoint.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment

import stickbreak
from benchmarks.harness import ours, scores, systems
from benchmarks.harness.corpora import Split, root
from benchmarks.harness.machine import PeakMemory
from benchmarks.harness.processes import apart
from benchmarks.harness.records import Record, Records
from benchmarks.harness.tables import table
from benchmarks.harness.units import Answer
from benchmarks.large.planted import true_topics
from stickbreak.corpus import Corpus, open_corpus, write_corpus
from stickbreak.corpus.csr import row_blocks
from stickbreak.corpus.folder import corpus_writer
from stickbreak.exceptions import InputError

HELD_OUT = 2_000  # documents, at most a tenth
BLOCK = 1 << 22  # pairs that are read at once
LARGE = 20_000_000  # pairs from which on a collection is given what the guide says of large ones
MINIBATCH = 1_000  # documents of a minibatch of a large collection
FOUND = 0.5  # of the probability of a true topic
MOST_NUMBERS = 1 << 26  # of a table of topics and words

Told = Callable[[Split, np.ndarray | None], Record]


@dataclass(frozen=True)
class Family:
    """One of our families: its estimator, what it is given, the weights of its topics."""

    make: Callable[..., Any]
    given: Callable[[Corpus, Record], Record]
    prior: Callable[[Any], np.ndarray] = ours.own_prior


def of_the_default(train: Corpus, key: Record) -> Record:
    """Return nothing: the number of topics is found, in memory."""
    return {}


def of_variational(train: Corpus, key: Record) -> Record:
    """Return a batch for each thread at once, and files for what is kept of the batches of a large collection."""
    given = {"n_topics": key["K"]}
    if train.counts.nnz >= LARGE:
        given |= {"batches_at_once": key["threads"], "scratch": _scratch(key)}
    return given


def of_hybrid(train: Corpus, key: Record) -> Record:
    """Return larger minibatches for a large collection."""
    given = {"n_topics": key["K"]}
    if train.counts.nnz >= LARGE:
        given["batch_size"] = MINIBATCH
    return given


def of_tree(train: Corpus, key: Record) -> Record:
    """Return the number of topics, and files for the leaves of the tokens of a large collection."""
    return {"n_topics": key["K"]} | ({"scratch": _scratch(key)} if train.counts.nnz >= LARGE else {})


def _scratch(key: Record) -> str:
    return str(Path(key["folder"]) / "scratch")


FAMILIES = {
    "topics": Family(stickbreak.TopicModel, of_the_default),
    "variational": Family(stickbreak.VariationalHDP, of_variational),
    "hybrid": Family(stickbreak.HybridHDP, of_hybrid),
    "tree": Family(stickbreak.BackoffTreeTopics, of_tree, ours.usual_prior),
}
PEERS = ("sklearn-online", "gensim-lda")
ONE_THREAD = ("sklearn-online",)  # with two it leaves a copy of its topics in shared memory for each minibatch: 22 GB


def prepared(name: str, place: Path) -> Record:
    """Write the folders of a collection, if they are not there yet; return where they are, and what counting took."""
    folder = place / Path(name).name
    found: Record = {"folder": str(folder), "truth": name, "count seconds": None}
    source = Path(name)
    if name == "package_summaries":
        source = folder / "counts"
        if not source.exists():
            folder.mkdir(parents=True, exist_ok=True)
            began = time.perf_counter()
            stickbreak.count_files(root() / name / "docs.jsonl.gz", source, keep=["month"])
            found["count seconds"] = time.perf_counter() - began
    elif name == "rfc":
        source = folder / "counts"
        if not source.exists():
            folder.mkdir(parents=True, exist_ok=True)
            words = (root() / name / "vocab.txt").read_text(encoding="utf-8").split("\n")
            counts = sp.load_npz(root() / name / "counts.npz")
            write_corpus(Corpus.from_counts(counts, words[: counts.shape[1]]), source)
    elif not source.is_dir():
        sys.exit(
            f"There is no corpus folder {name!r}: give package_summaries, rfc or a folder (large-planted makes one)."
        )
    if not (folder / "train").exists():
        folder.mkdir(parents=True, exist_ok=True)
        _split(open_corpus(source), folder)
    return found


def _split(corpus: Corpus, folder: Path) -> None:
    """Write the documents to learn from, block by block, and those that are held out."""
    D = corpus.n_documents
    held = np.sort(np.random.default_rng(0).choice(D, min(HELD_OUT, max(1, D // 10)), replace=False))
    write_corpus(Corpus(corpus[held].counts, corpus.vocabulary), folder / "held")
    learned = np.ones(D, dtype=bool)
    learned[held] = False
    with corpus_writer(
        folder / "train", corpus.n_words, vocabulary=corpus.vocabulary, most_entries=int(corpus.counts.nnz)
    ) as writer:
        for rows in row_blocks(corpus.counts, BLOCK):
            writer.add(corpus[rows][learned[rows]].counts)


def measure(key: Record) -> Record:
    """Fit one system in a process of its own; where it is to be killed, in a second one from the checkpoint."""
    _passes(key).unlink(missing_ok=True)
    if not key["kill after"] or key["system"] not in FAMILIES:
        return apart(fit, key)
    try:
        apart(fit, {**key, "killed": True})
    except BrokenProcessPool:
        return apart(fit, {**key, "resume": True})
    sys.exit(f"The fit of {key['system']} ended before it was to be killed: give a smaller --kill-after.")


def fit(key: Record) -> Record:
    """Fit one system; return what it took and how well it predicts."""
    folder = Path(key["folder"])
    train, held = open_corpus(folder / "train"), open_corpus(folder / "held")
    systems.warm_up({"seed": 0, "settings": {}, **key})
    peak, began, cpu = PeakMemory(), time.perf_counter(), time.process_time()
    try:
        told, passes, given = _learned(train, key)
    except (InputError, MemoryError) as error:  # too large for this system on this machine: that is its row
        return {"failed": str(error)[:200]}
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    peak.end()
    split = Split(key["folder"], train, *held.halves(seed=0))
    return {
        "documents": train.n_documents,
        "pairs": int(train.counts.nnz),
        "seconds": seconds,
        "cpu": cpu,
        "passes": passes,
        "each pass": _each_pass(key),
        "given": given,
        "peak": peak.mebibytes,
        **told(split, true_topics(Path(key["truth"]))),
    }


def _learned(train: Corpus, key: Record) -> tuple[Told, float, str]:
    """Return what tells of the topics that a system learns, its passes, and what it was given beyond their number."""
    if key["system"] in FAMILIES:
        family = FAMILIES[key["system"]]
        settings = {"n_laps": key["passes"], "n_jobs": key["threads"], "random_state": key["seed"]}
        given = family.given(train, key)
        checkpoint = Path(key["folder"]) / f"checkpoint-{key['system']}" if key["kill after"] else None
        if checkpoint is not None and not key.get("resume"):
            shutil.rmtree(checkpoint, ignore_errors=True)
        model = family.make(**given, **settings)
        model.fit(train, callback=Watch(key), checkpoint=checkpoint, resume=key.get("resume", False))
        if checkpoint is not None:
            shutil.rmtree(checkpoint)
        return _of_ours(model, family), model.n_laps_, _told(given)
    if key["system"] in ONE_THREAD:
        key = {**key, "threads": 1}
    system = systems.make(train, {"settings": {}, **key})
    for _ in system.work():
        if system.passes >= key["passes"]:
            break
    return partial(_of_topics, system.answer()), system.passes, ""


def _of_ours(model: Any, family: Family) -> Told:
    if isinstance(model, stickbreak.BackoffTreeTopics) and model.n_topics_ * model.n_features_in_ > MOST_NUMBERS:
        return partial(_of_leaves, model)
    return partial(_of_topics, (model.topic_word_, family.prior(model)))


def _of_topics(answer: Answer, split: Split, truth: np.ndarray | None) -> Record:
    """Return how many topics there are, how well they predict, and the share of the true ones among them."""
    completion = scores.completion(split, *answer)
    return {"topics": len(answer[1]), "completion": completion, "found": share_found(answer[0], truth)}


def _of_leaves(model: stickbreak.BackoffTreeTopics, split: Split, truth: np.ndarray | None) -> Record:
    """Return the same of leaves that are too many for a table of their words."""
    completion = model.complete(split.observed, split.held_out, seen=split.seen).active
    return {"topics": model.n_topics_, "completion": completion, "found": None}


class Watch:
    """Writes down what each pass took, and kills the process where it is to be killed."""

    def __init__(self, key: Record) -> None:
        self._key, self._last, self._cpu = key, time.perf_counter(), time.process_time()
        self._peak = PeakMemory()

    def __call__(self, event: Record) -> None:
        """Take notice of the end of a pass."""
        if "lap" not in event:
            return
        now, cpu = time.perf_counter(), time.process_time()
        self._peak.end()
        row = {
            "pass": event["lap"],
            "seconds": now - self._last,
            "cpu": cpu - self._cpu,
            "peak": self._peak.mebibytes,
            "topics": event["n_topics"],
            "resumed": self._key.get("resume", False),
        }
        with _passes(self._key).open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        if self._key.get("killed") and event["lap"] == self._key["kill after"] + 1:
            os.kill(os.getpid(), signal.SIGKILL)
        if self._key.get("killed") and event["lap"] == self._key["kill after"]:
            killer = threading.Timer(row["seconds"] / 2, os.kill, (os.getpid(), signal.SIGKILL))
            killer.daemon = True
            killer.start()
        self._last, self._cpu = now, cpu


def _passes(key: Record) -> Path:
    return Path(key["folder"]) / f"passes-{key['system']}.jsonl"


def _each_pass(key: Record) -> list[Record]:
    """Return what each pass took; the first one with the start, or with reading the checkpoint."""
    path = _passes(key)
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def _told(given: Record) -> str:
    """Return parameters in words, without the number of topics and the place of files."""
    return ", ".join(name if name == "scratch" else f"{name}={x}" for name, x in given.items() if name != "n_topics")


def share_found(topics: np.ndarray, truth: np.ndarray | None) -> float | None:
    """Return the share of the true topics that have a topic of their own among those learned."""
    if truth is None:
        return None
    common = np.array([np.minimum(true, topics).sum(axis=1) for true in truth])
    return float((common[linear_sum_assignment(common, maximize=True)] >= FOUND).sum() / len(truth))


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--corpora", nargs="+", default=["package_summaries", "rfc"], help="names, or corpus folders")
    parser.add_argument("--systems", nargs="+", choices=(*FAMILIES, *PEERS), default=[*FAMILIES, *PEERS])
    parser.add_argument("--topics", type=int, default=200, help="K at the start")
    parser.add_argument("--passes", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kill-after", type=int, default=0, help="kill our fits in the pass after this one; 0: never")
    parser.add_argument("--place", type=Path, default=Path("benchmarks/results/large"), help="folder of the counts")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/large.jsonl"), help="runs done, kept")


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    rows = []
    shared = {
        "K": options.topics,
        "passes": options.passes,
        "threads": options.threads,
        "seed": options.seed,
        "kill after": options.kill_after,
    }
    for name in options.corpora:
        there = prepared(name, options.place)
        counting = there.pop("count seconds")
        if counting is not None:
            rows.append({"corpus": Path(name).name, "system": "counting of the text", "seconds": f"{counting:.1f}"})
        keys = [{**there, **shared, "system": system} for system in options.systems]
        rows += [_row(name, record) for record in Records(options.out).run(measure, keys)]
    columns = dict.fromkeys(column for row in sorted(rows, key=len, reverse=True) for column in row)
    return table([{column: row.get(column, "") for column in columns} for row in rows])


def _row(name: str, record: Record) -> dict[str, object]:
    if "failed" in record:
        return {"corpus": Path(name).name, "system": record["system"], "note": record["failed"]}
    found = record["found"]
    return {
        "corpus": Path(name).name,
        "documents": f"{record['documents']:,}",
        "pairs": f"{record['pairs']:,}",
        "system": record["system"],
        "given": record["given"],
        "seconds": f"{record['seconds']:.1f}",
        "processor seconds": f"{record['cpu']:.1f}",
        "passes": f"{record['passes']:g}",
        "seconds a pass": f"{record['seconds'] / record['passes']:.1f}",
        "peak memory, MiB": f"{max([record['peak'], *(each['peak'] for each in record['each pass'])]):.0f}",
        "topics": record["topics"],
        "completion": f"{record['completion']:.4f}",
        "planted topics recovered (matched share)": "" if found is None else f"{found:.0%}",
    }
