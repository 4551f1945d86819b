"""Perplexity and coherence of sparse backoff trees and of latent Dirichlet allocation, by the number of topics.

Trees start at random leaves, or grow from few levels (expansion): with each level they make `--passes` passes, and
each size on the way is scored. Latent Dirichlet allocation is tomotopy's, total alpha 5, learned from there or left as
it is, with as many passes. All are scored in the same way: left-to-right (20 particles) over held-out documents, each
token given those before it ("unbiased"), and for some documents with all topics before drawn again ("printed", as
Wallach et al. print it); coherence of the ten most probable words of each topic with tokens. Each run is fitted in a
process of its own, whose peak memory counts, and scored in another. wikispeedia_links: documents are pages, tokens
their links; a tenth is held out.
"""

from __future__ import annotations

import argparse
import os
import time
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import scipy.sparse as sp

from benchmarks.harness.corpora import load_split
from benchmarks.harness.machine import peak_mebibytes
from benchmarks.harness.records import Record, Records
from benchmarks.harness.tables import table
from benchmarks.trees import passes as tree_passes
from stickbreak import BackoffTreeTopics, load
from stickbreak.backoff_tree.shape import shape_of
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.evaluation import coherence_of_words, left_to_right
from stickbreak.prediction.left_to_right import LeftToRight

PARTICLES = 20
SIZES = [18, 108, 972, 8748, 104_976, 1_259_712]
# Alpha learned, or as it is.
LDA = ("tomotopy LDA", "tomotopy LDA, alpha 5")
SYSTEMS = {
    "wide, random start": ("wide", False),
    "tall, random start": ("tall", False),
    "wide, expansion": ("wide", True),
    "tall, expansion": ("tall", True),
}


def documents(name: str) -> tuple[Corpus, Corpus]:
    """Return documents to fit and documents to score, in the words of the former."""
    if name == "wikispeedia_links":
        folder = Path(os.environ["STICKBREAK_DATA"]) / name
        counts = sp.load_npz(folder / "counts.npz").tocsr()
        out = np.random.default_rng(0).permutation(counts.shape[0])
        train, held = counts[np.sort(out[460:])], counts[np.sort(out[:460])]
    else:
        split = load_split(name)
        train, held = split.train.counts, (split.observed.counts + split.held_out.counts).tocsr()
    seen = np.flatnonzero(np.asarray(train.sum(axis=0)).ravel() > 0)
    held = held[:, seen].astype(np.int64)
    return Corpus.from_counts(train[:, seen].astype(np.int64)), Corpus.from_counts(held[held.getnnz(axis=1) > 0])


def scores(score, held: Corpus, n_printed: int) -> Record:
    """Return both perplexities, by a function of documents and `resample`."""
    plain: LeftToRight = score(held, False)
    some: LeftToRight = score(held[:n_printed], True)
    return {"perplexity": plain.perplexity, "printed": some.printed_perplexity, "resampled": some.perplexity}


def fit_tree(key: Record, folder: str) -> list[Record]:
    """Fit trees of one system and save them, numbered, in a folder; return a record for each size."""
    train, _ = documents(key["corpus"])
    shape, grows = SYSTEMS[key["system"]]
    settings = {"random_state": key["seed"], "stages": ()}
    tiny, _ = planted_lda(20, 30, n_topics=3, seed=0)
    small = BackoffTreeTopics(branching=(2, 2), n_laps=7, **settings).fit(tiny).expand(tiny, 2, n_laps=2)
    small.save(Path(folder) / "small")
    out, spent = [], 0.0
    whole = shape_of(shape, key["leaves"])
    stops = tree_passes.levels_near(whole, key["stops"]) if grows else ()
    levels = [*stops, whole.depth]
    model = BackoffTreeTopics(branching=whole.branching[: levels[0]], n_laps=key["passes"], **settings)
    for i, depth in enumerate(levels):
        begin = time.process_time()
        if i == 0:
            model.fit(train)
        for h in range(levels[i - 1] if i > 0 else depth, depth):
            model.expand(train, whole.branching[h], n_laps=key["passes"] if h == depth - 1 else 1)
        spent += time.process_time() - begin
        model.save(Path(folder) / str(i))
        out.append(
            {
                "topics": model.n_leaves_,
                "used": model.n_topics_,
                "seconds": spent,
                "memory": peak_mebibytes(),
                "alpha": model.alpha_,
                "eta": model.eta_,
            }
        )
    return out


def score_trees(key: Record, folder: str, n_trees: int) -> list[Record]:
    """Return coherence and perplexities of the trees saved in a folder."""
    train, held = documents(key["corpus"])
    out = []
    for i in range(n_trees):
        model = load(Path(folder) / str(i))
        assert isinstance(model, BackoffTreeTopics)
        chosen = model.leaves_ if model.n_topics_ <= 20_000 else model.leaves_[:: model.n_topics_ // 10_000]
        coherence = float(np.nanmean(coherence_of_words(top_words(model, chosen), train)))

        def score(documents: Corpus, resample: bool, model: BackoffTreeTopics = model) -> LeftToRight:
            return model.left_to_right(documents, n_particles=PARTICLES, resample=resample)

        out.append({"coherence": coherence, **scores(score, held, key["n_printed"])})
    return out


def top_words(model: BackoffTreeTopics, leaves: np.ndarray) -> np.ndarray:
    """Return the ten most probable words of some leaves, (n, 10), in blocks."""
    blocks = []
    for first in range(0, leaves.size, 1000):
        phi = model.word_distributions(leaves[first : first + 1000])
        blocks.append(np.argsort(-phi, axis=1, kind="stable")[:, :10])
    return np.concatenate(blocks)


def fit_lda(key: Record) -> list[Record]:
    """Fit tomotopy's LDA; return its record."""
    train, held = documents(key["corpus"])
    begin = time.process_time()
    model = tree_passes.lda(train, key["leaves"], key["seed"])
    if key["system"] == LDA[1]:
        model.optim_interval = 0
    model.train(key["passes"], workers=1)
    seconds, memory = time.process_time() - begin, peak_mebibytes()
    place = np.array([int(word) for word in model.used_vocabs])
    phi = np.zeros((key["leaves"], train.n_words))
    for k in range(key["leaves"]):
        phi[k, place] = model.get_topic_word_dist(k)
    phi /= phi.sum(axis=1, keepdims=True)
    prior = np.asarray(model.alpha, np.float64)
    used = np.asarray(model.get_count_by_topics()) > 0
    top = np.argsort(-phi[used], axis=1, kind="stable")[:, :10]
    tiny = np.ones((2, 20), dtype=int)
    # Compiles.
    left_to_right(np.full((3, 20), 0.05), np.ones(3), tiny)

    def score(documents: Corpus, resample: bool) -> LeftToRight:
        return left_to_right(phi, prior, documents, n_particles=PARTICLES, resample=resample)

    return [
        {
            "topics": key["leaves"],
            "used": int(used.sum()),
            "seconds": seconds,
            "memory": memory,
            "coherence": float(np.nanmean(coherence_of_words(top, train))),
            "alpha": float(prior.sum()),
            "eta": float(model.eta),
            **scores(score, held, key["n_printed"]),
        }
    ]


def measure(key: Record) -> Record:
    """Fit one system in a process of its own, and score it; trees are scored in another process."""
    spawn = get_context("spawn")
    if key["system"] in LDA:
        with spawn.Pool(1) as pool:
            return {"rows": pool.apply(fit_lda, (key,))}
    with TemporaryDirectory() as folder:
        with spawn.Pool(1) as pool:
            fits = pool.apply(fit_tree, (key, folder))
        with spawn.Pool(1) as pool:
            scored = pool.apply(score_trees, (key, folder, len(fits)))
    return {"rows": [{**fit, **score} for fit, score in zip(fits, scored, strict=True)]}


def summary(records: list[Record]) -> list[Record]:
    """Return a row for each corpus, system and size: means over seeds, and half the range of perplexities."""
    groups: dict[tuple[str, str, int], list[Record]] = {}
    for record in records:
        for row in record["rows"]:
            groups.setdefault((record["corpus"], record["system"], row["topics"]), []).append(row)
    out = []
    for (corpus, system, topics), rows in groups.items():
        mean = {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}
        half = {name: float(np.ptp([row[name] for row in rows])) / 2 for name in rows[0]}
        spread = {name: f" ± {half[name]:.0f}" if len(rows) > 1 else "" for name in rows[0]}
        out.append(
            {
                "corpus": corpus,
                "system": system,
                "topics": f"{topics:,}",
                "with tokens": f"{mean['used']:,.0f}",
                "runs": len(rows),
                "processor seconds": f"{mean['seconds']:.0f}",
                # A first run also compiles.
                "peak memory, MiB": f"{min(row['memory'] for row in rows):.0f}",
                "printed": f"{mean['printed']:.0f}{spread['printed']}",
                "mean over particles, drawn again": f"{mean['resampled']:.0f}{spread['resampled']}",
                "all documents, not drawn again": f"{mean['perplexity']:.0f}{spread['perplexity']}",
                "coherence": f"{mean['coherence']:.0f}",
            }
        )
    return out


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--corpora", nargs="+", default=["reuters21578", "wikispeedia_links"])
    parser.add_argument("--systems", nargs="+", choices=[*SYSTEMS, *LDA], default=[*SYSTEMS, *LDA])
    parser.add_argument("--leaves", nargs="+", type=int, default=SIZES)
    parser.add_argument("--lda", nargs="*", type=int, default=[18, 108, 972, 8748])
    parser.add_argument("--passes", type=int, default=50)
    parser.add_argument("--printed", type=int, default=200, help="documents scored with all topics drawn again")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/tree_perplexity.jsonl"), help="runs done")


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    keys: list[Record] = []
    for seed in options.seeds:
        for corpus in options.corpora:
            common = {"corpus": corpus, "passes": options.passes, "seed": seed, "n_printed": options.printed}
            for system in options.systems:
                key = {**common, "system": system}
                if system in LDA:
                    keys += [{**key, "leaves": n} for n in options.lda]
                elif SYSTEMS[system][1]:
                    keys.append({**key, "leaves": max(options.leaves), "stops": options.leaves})
                else:
                    keys += [{**key, "leaves": n} for n in options.leaves]
    records = Records(options.out).run(measure, keys, helpers=[tree_passes, fit_tree, score_trees, fit_lda, scores])
    return table(summary(records))
