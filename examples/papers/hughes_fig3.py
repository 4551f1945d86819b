"""Hughes, Kim and Sudderth 2015, Fig. 3 and supplement Fig. 3: sparsity-promoting restarts of the local step.

Topics of a fit with K = 100. Then the local step of a document from 50 random starts, and one from the usual start
with restarts. Last, the objective of whole fits with restarts and without.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from benchmarks.harness.corpora import load
from benchmarks.harness.records import Record

from stickbreak import VariationalHDP
from stickbreak.corpus import Corpus
from stickbreak.fitting.engine import threads_and_workers
from stickbreak.variational.documents import DocumentTopics
from stickbreak.variational.local_step import LocalSettings, ascend_documents
from stickbreak.variational.words import Batch

from .study import TINY, Claim, Study, Verdict, in_all, main, number

PAPER = {"corpora": ["nips"], "topics": 100, "starts": 50, "documents": 50, "sweeps": 100, "laps": 20, "restarts": 5}
QUICK = {"corpora": [TINY], "topics": 8, "starts": 3, "documents": 3, "sweeps": 10, "laps": 2}


def keys(settings: Record) -> list[Record]:
    """Return a run for each corpus."""
    rest = {name: value for name, value in settings.items() if name != "corpora"}
    return [{"corpus": corpus, **rest} for corpus in settings["corpora"]]


def fitted(train: Corpus, key: Record, restarts: int) -> Any:
    """Fit topics without moves, from random documents."""
    return VariationalHDP(
        alpha=0.5, gamma=10.0, eta=0.1, learn=(), n_topics=key["topics"], init="documents", moves=("reorder",),
        restarts=restarts, n_laps=key["laps"], tolerance=0.0, random_state=0, n_jobs=1,
    ).fit(train)  # fmt: skip


def random_start(lengths: Any, K: int, rng: np.random.Generator) -> DocumentTopics:
    """Return expected counts of every topic in every document, drawn."""
    N = rng.dirichlet(np.ones(K), lengths.size) * lengths[:, None] + 1e-6
    topic = np.tile(np.arange(K, dtype=np.int32), lengths.size)
    return DocumentTopics(np.arange(lengths.size + 1) * K, topic, N.ravel())


def measure(key: Record) -> Record:
    """Return the objective of documents from each start, and the trace of the objective of whole fits."""
    train, begin = load(key["corpus"]).train, time.process_time()
    with_restarts, without = fitted(train, key, key["restarts"]), fitted(train, key, 0)
    rows = np.random.default_rng(0).permutation(train.n_documents)[: key["documents"]]
    documents = train[np.sort(rows)]
    batch, parameters = Batch.from_corpus(documents, without._likelihood), without._parameters()
    lengths = np.asarray(documents.document_lengths, np.float64)
    limits = 1e-6, key["sweeps"]
    with threads_and_workers(1) as engine:

        def values(start: DocumentTopics | None, restarts: int) -> list[float]:
            settings = LocalSettings(*limits, restarts=restarts, accelerate=False)
            visit = ascend_documents(batch, parameters, 0.5, start, settings, engine)
            return [float(value) for value in visit.value]

        rng = np.random.default_rng(1)
        starts = [values(random_start(lengths, parameters.n_topics, rng), 0) for _ in range(key["starts"])]
        plain, restarted = values(None, 0), values(None, key["restarts"])
    trace = {name: m.trace_["objective"].tolist() for name, m in (("with", with_restarts), ("without", without))}
    return {"random": starts, "plain": plain, "restarted": restarted, "trace": trace,
            "seconds": time.process_time() - begin}  # fmt: skip


def rows(records: list[Record]) -> list[Record]:
    """Return a row for each corpus."""
    out = []
    for r in records:
        best, all_of = np.max(r["random"], axis=0), np.array(r["random"])
        out.append(
            {
                "corpus": r["corpus"],
                "documents": len(r["plain"]),
                "random starts": len(r["random"]),
                "restarts at least as good as the best of them": int((np.array(r["restarted"]) >= best - 1e-3).sum()),
                "usual start alone": int((np.array(r["plain"]) >= best - 1e-3).sum()),
                "range of the random starts, nats": f"{np.mean(np.ptp(all_of, axis=0)):.2f}",
                "objective with restarts": f"{r['trace']['with'][-1]:.4f}",
                "without": f"{r['trace']['without'][-1]:.4f}",
            }
        )
    return out


def many_ends(records: list[Record]) -> Verdict:
    """Judge whether random starts end at different fixed points in most documents."""
    ranges = np.concatenate([np.ptp(r["random"], axis=0) for r in records])
    share = (ranges > 0.1).mean()
    return f"the objective differs by more than 0.1 nats in {share:.0%} of the documents", bool(share > 0.5)


def climbs(records: list[Record]) -> Verdict:
    """Judge whether restarts raise the objective, and in most documents to that of the best random start."""
    gains = np.concatenate([np.array(r["restarted"]) - np.array(r["plain"]) for r in records])
    fine = np.concatenate([np.array(r["restarted"]) >= np.max(r["random"], axis=0) - 1e-3 for r in records])
    plain = np.concatenate([np.array(r["plain"]) >= np.max(r["random"], axis=0) - 1e-3 for r in records])
    text = f"restarts raise the objective of {(gains > 1e-3).mean():.0%} of the documents, by {gains.mean():.1f} nats "
    text += f"in the mean of all; it reaches the best of the random starts in {fine.mean():.0%}, without restarts in "
    return text + f"{plain.mean():.0%}", in_all([gains.mean() > 1e-3, fine.mean() > 0.5])


def better_fit(records: list[Record]) -> Verdict:
    """Judge whether the whole objective is higher with restarts."""
    gains = [r["trace"]["with"][-1] - r["trace"]["without"][-1] for r in records]
    text = ", ".join(f"{r['corpus']} {gain:+.4f}" for r, gain in zip(records, gains, strict=True))
    return f"objective with restarts less without, nats per token: {text}", min(gains) > 0


def share_accepted(rows: list[Record]) -> Verdict:
    """Judge whether 30 to 50 % of the restarts are accepted, in each memoized run that has them."""
    shares = [number(row["restarts"].replace("%", " ")) for row in rows if row["restarts"] and row["merges"]]
    text = f"{min(shares):.1f} to {max(shares):.1f} % of them in {len(shares)} fits of KOS, AP, Reuters and NIPS"
    return text, in_all([30 <= share <= 50 for share in shares])


def draw(records: list[Record], plt: Any) -> Any:
    """Draw, for each document, the random starts and the restarts; and the objective of the fits by lap."""
    r = records[0]
    figure, panels = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
    plain, restarted, starts = (np.array(r[name]) for name in ("plain", "restarted", "random"))
    for i in range(plain.size):
        panels[0].plot(
            np.full(len(starts), i), starts[:, i] - plain[i], ".", color="lightgrey", markersize=3, rasterized=True
        )
    panels[0].plot(restarted - plain, "_", color="#b5203f", label="restarts")
    panels[0].set(xlabel="document", ylabel="objective less usual start, nats", yscale="symlog")
    panels[0].legend(frameon=False)
    for name, values in r["trace"].items():
        panels[1].plot(range(1, len(values) + 1), values, label=f"{name} restarts")
    panels[1].set(xlabel="lap", ylabel="objective, nats per token")
    panels[1].legend(frameon=False)
    return figure


STUDY = Study(
    "hughes_fig3", PAPER, QUICK,
    "NIPS takes the place of Science; 50 documents, not one. Fits also try each document from a fresh start.",
    keys, measure, rows,
    (
        Claim("Random starts of the local step end at very different fixed points", "Fig. 3", many_ends),
        Claim("A run with sparsity-promoting restarts climbs through them", "Fig. 3", climbs,
              "It climbs, but not to the best of 50 starts. The paper shows one document."),
        Claim("Restarts improve the objective of the whole fit", "supplement Fig. 3", better_fit),
        Claim("30 to 50 % of the restarts are accepted", "Sec. 4.1", share_accepted,
              "Counted over all laps: in later ones documents have settled, and most of these fits start from topics "
              "that were found before. On planted documents from "
              "random topics 78 % are in the first lap, and 31 % in all (below).",
              parts=("moves", "moves-others")),
    ),
    draw,
)  # fmt: skip

if __name__ == "__main__":
    main(STUDY, __doc__)
