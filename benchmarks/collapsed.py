"""Held-out completion against processor seconds: collapsed inference beside its peers, one thread, each by its rules.

Each system has its own concentrations, learned where it can learn them; the weights of the held-out documents come from
one fixed point for all (zero-order collapsed inference) with these concentrations. Words that never occur in training
are left out everywhere. Scoring is not counted, nor reading the documents into the form that a system takes.
`--cost` is the time of a lap and the memory against K, for one and two threads; `--shares` what rounding small shares
changes; `--learning` what learning hyperparameters does; `--stream` a stream of generated tokens against the batch
form; `--prune` merges against dropping topics with few expected tables.

    python benchmarks/collapsed.py [--splits kos nips 20news ap reuters21578] [--topics 100 200 400] [--seconds 60]
    python benchmarks/collapsed.py --cost [--splits 20news] [--topics 50 100 200 400 1000]
    python benchmarks/collapsed.py --shares [--splits kos] [--topics 100]
    python benchmarks/collapsed.py --stream [--tokens 10_000_000]
    python benchmarks/collapsed.py --learning [--splits kos] [--topics 100]
    python benchmarks/collapsed.py --prune [--splits kos] [--topics 200]
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import contenders
import fold_in
from contenders import Float, bags, processor_seconds, tomotopy_model
from corpora import Split, load_split, table
from fold_in import mean
from records import Record, Records
from stickbreak import CollapsedHDP, VariationalHDP
from stickbreak.corpus import Corpus, planted_lda
from stickbreak.evaluation import document_completion
from stickbreak.inference.completion import completion_log_likelihood
from stickbreak.inference.document_weights import collapsed_weights
from stickbreak.inference.executor import ThreadExecutor

ETA = 0.1
TOTAL_ALPHA = 5.0  # of the LDA peers, which predict best with it
LAPS, CHUNK = 100, 10
BATCH_SIZE = 1000
LEAST_TABLES = (0, 50, 100, 150, 200, 300)

Answer = tuple[Float, Float]  # word distributions (K, W), concentrations alpha_k (K,)


def model_answer(model: CollapsedHDP) -> Answer:
    """Return the topics of collapsed inference with its own concentrations."""
    return model.topic_word_, model.alpha_ * model.topic_weights_


class Collapsed:
    """`CollapsedHDP`, looked at after every ten laps: it goes on to the same bits."""

    def __init__(self, corpus: Corpus, key: Record) -> None:
        self._corpus = corpus
        merges = {} if key["system"] == "collapsed" else {"merge_laps": 0}
        self._model = CollapsedHDP(n_topics=key["K"], n_laps=CHUNK, random_state=key["seed"], n_jobs=1, **merges)

    def work(self) -> Iterator[float]:
        yield processor_seconds(partial(self._model.fit, self._corpus))
        while self._model.n_laps_ < LAPS:
            yield processor_seconds(partial(self._model.continue_fit, self._corpus, n_laps=CHUNK))

    def answer(self) -> Answer:
        return model_answer(self._model)


class Variational:
    """`VariationalHDP` with its defaults, ten laps at a time; its alpha is not for collapsed weights, so that is 5."""

    def __init__(self, corpus: Corpus, key: Record) -> None:
        self._corpus, self._place = corpus, TemporaryDirectory()
        self._settings = {"n_topics": key["K"], "random_state": key["seed"], "n_jobs": 1}

    def work(self) -> Iterator[float]:
        for n_laps in range(CHUNK, LAPS + 1, CHUNK):
            self._model = VariationalHDP(n_laps=n_laps, **self._settings)
            checkpoint = Path(self._place.name) / "fit"
            yield processor_seconds(partial(self._model.fit, self._corpus, checkpoint=checkpoint, resume=True))
            if self._model.converged_:
                return

    def answer(self) -> Answer:
        return self._model.topic_word_, TOTAL_ALPHA * self._model.topic_weights_


class ScikitLearn:
    """scikit-learn's LatentDirichletAllocation, online form in minibatches of 128, a pass at a time."""

    def __init__(self, corpus: Corpus, key: Record) -> None:
        from sklearn.decomposition import LatentDirichletAllocation

        alpha = min(1.0, TOTAL_ALPHA / key["K"])  # it takes no more than 1
        self._counts, self._alpha = corpus.counts, np.full(key["K"], alpha)
        self._model = LatentDirichletAllocation(
            key["K"], doc_topic_prior=alpha, topic_word_prior=ETA, total_samples=corpus.n_documents,
            random_state=key["seed"], n_jobs=1,
        )  # fmt: skip

    def work(self) -> Iterator[float]:
        for _ in range(LAPS):
            yield processor_seconds(partial(self._model.partial_fit, self._counts))

    def answer(self) -> Answer:
        topics = self._model.components_
        return topics / topics.sum(axis=1, keepdims=True), self._alpha


class Tomotopy:
    """tomotopy's LDAModel or HDPModel, one thread; both learn their alpha."""

    def __init__(self, corpus: Corpus, key: Record) -> None:
        import tomotopy

        self._n_words, self._hdp = corpus.n_words, key["system"] == "tomotopy HDP"
        seed = key["seed"] + 1
        if self._hdp:
            self._model: Any = tomotopy_model(corpus, key["K"], eta=ETA, seed=seed, fixed=False)
            return
        self._model = tomotopy.LDAModel(k=key["K"], alpha=TOTAL_ALPHA / key["K"], eta=ETA, seed=seed)
        names = np.array([str(w) for w in range(corpus.n_words)])
        for document in bags(corpus):
            if document:
                words, counts = zip(*document, strict=True)
                self._model.add_doc(np.repeat(names[list(words)], counts).tolist())

    def work(self) -> Iterator[float]:
        while True:
            yield processor_seconds(partial(self._model.train, CHUNK, workers=1))

    def answer(self) -> Answer:
        model = self._model
        alive = [k for k in range(model.k) if not self._hdp or model.is_live_topic(k)]
        topics = np.zeros((len(alive), self._n_words))
        columns = np.array([int(word) for word in model.used_vocabs])
        topics[:, columns] = [model.get_topic_word_dist(k) for k in alive]
        topics = topics / topics.sum(axis=1, keepdims=True)
        if not self._hdp:
            return topics, np.asarray(model.alpha, dtype=np.float64)
        tokens = np.asarray(model.get_count_by_topics(), dtype=np.float64)[alive]
        return topics, model.alpha * tokens / tokens.sum()


SYSTEMS = {
    "collapsed": Collapsed,
    "collapsed, no merges": Collapsed,
    "tomotopy LDA": Tomotopy,
    "tomotopy HDP": Tomotopy,
    "scikit-learn LDA": ScikitLearn,
    "variational": Variational,
}


def completion(split: Split, topic_word: Float, prior: Float) -> float:
    """Return nats per token of the second halves, words of training only."""
    known = np.flatnonzero(split.seen)
    observed, held_out = (Corpus.from_counts(part.counts[:, known]) for part in (split.observed, split.held_out))
    both = np.flatnonzero((observed.document_lengths > 0) & (held_out.document_lengths > 0))
    topics = topic_word[:, known] / topic_word[:, known].sum(axis=1, keepdims=True)
    with ThreadExecutor(1) as executor:
        weights = collapsed_weights(observed[both], topics, np.maximum(prior, 1e-12), executor)
    return mean(completion_log_likelihood(weights, topics, held_out[both].counts))


def topics_in_use(split: Split, topic_word: Float, prior: Float) -> int:
    """Return how many of the largest topics hold 99 % of the tokens of training."""
    with ThreadExecutor(1) as executor:
        weights = collapsed_weights(split.train, np.maximum(topic_word, 1e-300), np.maximum(prior, 1e-12), executor)
    tokens = np.sort(weights.T @ np.asarray(split.train.document_lengths, dtype=np.float64))[::-1]
    return int((np.cumsum(tokens) < 0.99 * tokens.sum()).sum()) + 1


def measure(key: Record) -> Record:
    """Run one system to its end or until its time is spent; return its scores, and when it had them."""
    tiny, _ = planted_lda(20, 30, n_topics=3, seed=0)
    next(SYSTEMS[key["system"]](tiny, {**key, "K": 3}).work())  # compilation is not on the clock
    split = load_split(key["corpus"])
    found: Record = {"seconds": [], "completion": []}
    with threadpool_limits(1, user_api="blas"):
        system, spent = SYSTEMS[key["system"]](split.train, key), 0.0
        for seconds in system.work():
            spent += seconds
            answer = system.answer()
            found["seconds"].append(spent)
            found["completion"].append(completion(split, *answer))
            if spent >= key["limit"]:
                break
    return {**found, "K at the end": len(answer[1]), "topics": topics_in_use(split, *answer)}


def reached(record: Record, score: float) -> str:
    """Return the processor seconds after which a system was at least that good."""
    return next((f"{s:.1f}" for s, c in zip(record["seconds"], record["completion"], strict=True) if c >= score), "")


def rows_of(records: list[Record]) -> list[dict[str, object]]:
    """Return the rows of the table; peers are compared with the last score of tomotopy's LDA of the same K."""
    goals = {(r["corpus"], r["K"]): r["completion"][-1] for r in records if r["system"] == "tomotopy LDA"}
    rows = []
    for record in records:
        goal = goals.get((record["corpus"], record["K"]))
        rows.append(
            {
                "corpus": record["corpus"],
                "K at the start": record["K"],
                "system": record["system"],
                "completion": f"{record['completion'][-1]:.4f}",
                "best": f"{max(record['completion']):.4f}",
                "K": record["K at the end"],
                "topics (99 % of tokens)": record["topics"],
                "processor seconds": f"{record['seconds'][-1]:.1f}",
                "as good as LDA at its end after": "" if goal is None else reached(record, goal),
            }
        )
    return rows


def cost(names: list[str], topics: list[int]) -> list[dict[str, object]]:
    """Return the time of a lap against K, for one and two threads, by the clock on the wall; and the memory."""
    rows: list[dict[str, object]] = []
    for name in names:
        train = load_split(name).train
        for n_topics in topics:
            row: dict[str, object] = {"corpus": name, "K": n_topics}
            for n_jobs in (1, 2):
                model = CollapsedHDP(n_topics=n_topics, n_laps=12, merge_laps=0, random_state=0, n_jobs=n_jobs)
                model.fit(train)
                row[f"s per lap, {n_jobs} threads"] = f"{np.median(model.trace_['seconds'][-5:]):.3f}"
            row["MiB of q(z)"] = f"{sum(array.nbytes for array in model._kept.arrays.values()) / 2**20:.0f}"
            row["MiB of the process, at most"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
            rows.append(row)
    return rows


def shares(names: list[str], topics: list[int]) -> list[dict[str, object]]:
    """Return what rounding small shares changes, without merges: held-out completion, time and memory."""
    rows: list[dict[str, object]] = []
    for name in names:
        split = load_split(name)
        for n_topics in topics:
            for smallest in (0.0, 1 / 31, 1 / 15, 1 / 7):
                model = CollapsedHDP(n_topics=n_topics, smallest_share=smallest, merge_laps=0, random_state=0, n_jobs=1)
                seconds = processor_seconds(partial(model.fit, split.train))
                kept = model._kept.arrays
                rows.append(
                    {
                        "corpus": name,
                        "K": n_topics,
                        "smallest share": f"{smallest:.3f}",
                        "completion": f"{completion(split, *model_answer(model)):.4f}",
                        "topics of a count": f"{kept['topic'].size / split.train.counts.nnz:.1f}",
                        "MiB of q(z)": f"{sum(array.nbytes for array in kept.values()) / 2**20:.0f}",
                        "processor seconds": f"{seconds:.1f}",
                    }
                )
    return rows


def learning(names: list[str], topics: list[int]) -> list[dict[str, object]]:
    """Return what learning the hyperparameters changes: held-out completion with the concentrations at the end."""
    rows: list[dict[str, object]] = []
    for name in names:
        split = load_split(name)
        for n_topics in topics:
            for learn in ((), ("alpha",), ("eta",), ("alpha", "eta"), ("alpha", "gamma", "eta")):
                model = CollapsedHDP(n_topics=n_topics, learn=learn, random_state=0, n_jobs=1).fit(split.train)
                rows.append(
                    {
                        "corpus": name,
                        "K at the start": n_topics,
                        "learned": ", ".join(learn) or "none",
                        "completion": f"{completion(split, *model_answer(model)):.4f}",
                        "K": model.n_topics_,
                        "alpha": f"{model.alpha_:.2f}",
                        "gamma": f"{model.gamma_:.2f}",
                        "eta": f"{model.eta_:.3f}",
                    }
                )
    return rows


def prune(names: list[str], topics: list[int]) -> list[dict[str, object]]:
    """Return what merges leave, and what is left of a fit without merges where topics with few tables are dropped.

    The weights of the topics that stay are scaled to the sum of all.
    """
    rows: list[dict[str, object]] = []
    for name in names:
        split = load_split(name)
        for n_topics in topics:
            fits = {
                laps: CollapsedHDP(n_topics=n_topics, n_laps=60, merge_laps=laps, random_state=0, n_jobs=1)
                for laps in (0, 50)
            }
            for model in fits.values():
                model.fit(split.train)
            merged, whole = fits[50], fits[0]
            found = {"merges": model_answer(merged)}
            kept = {f"{least:g} tables or more": whole.tables_ >= least for least in LEAST_TABLES}
            as_many = np.argsort(np.argsort(-whole.tables_, kind="stable")) < merged.n_topics_
            kept[f"the {merged.n_topics_} with the most tables"] = as_many
            topic_word, prior = model_answer(whole)
            for rule, stay in kept.items():
                found[rule] = topic_word[stay], prior[stay] * (prior.sum() / prior[stay].sum())
            rows += [
                {
                    "corpus": name,
                    "K at the start": n_topics,
                    "topics that stay": rule,
                    "K": len(answer[1]),
                    "completion": f"{completion(split, *answer):.4f}",
                }
                for rule, answer in found.items()
            ]
    return rows


def stream(n_tokens: int, n_topics: int) -> list[dict[str, object]]:
    """Return what a stream and the batch form reach on generated documents, and the memory as the stream goes."""
    documents, _ = planted_lda(n_tokens // 100 + 1000, 5000, n_topics=50, mean_tokens=100, seed=0)
    held, train = documents[:1000], documents[1000:]
    halves = held.halves(seed=0)
    model = CollapsedHDP(n_topics=n_topics, random_state=0, total_documents=train.n_documents)
    rows: list[dict[str, object]] = []
    began = time.process_time()

    def note(form: str) -> None:
        rows.append(
            {
                "form": form,
                "documents": model.n_documents_seen_,
                "completion": f"{document_completion(model, *halves).active:.4f}",
                "K": model.n_topics_,
                "processor seconds": f"{time.process_time() - began:.1f}",
                "MiB of the process, at most": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
            }
        )
        sys.stderr.write(f"{rows[-1]}\n")  # it takes a while

    for first in range(0, train.n_documents, BATCH_SIZE):
        model.partial_fit(train[first : first + BATCH_SIZE])
        if (first // BATCH_SIZE) % max(1, train.n_documents // BATCH_SIZE // 5) == 0:
            note("stream")
    note("stream")
    began = time.process_time()
    model = CollapsedHDP(n_topics=n_topics, n_laps=40, merge_laps=30, random_state=0).fit(train)
    note("batch, 40 laps")
    return rows


def main() -> None:
    """Run and print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", nargs="+", default=["kos", "nips", "20news", "ap", "reuters21578"])
    parser.add_argument("--topics", nargs="+", type=int, default=[100, 200, 400])
    parser.add_argument("--systems", nargs="+", choices=tuple(SYSTEMS), default=list(SYSTEMS))
    parser.add_argument("--seconds", type=float, default=60.0, help="processor seconds of a sampler, at most")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--cost", action="store_true", help="cost of a lap against K")
    parser.add_argument("--shares", action="store_true", help="what rounding small shares changes")
    parser.add_argument("--stream", action="store_true", help="a generated stream against the batch form")
    parser.add_argument("--learning", action="store_true", help="what learning hyperparameters changes")
    parser.add_argument("--prune", action="store_true", help="merges against a threshold on expected tables")
    parser.add_argument("--tokens", type=int, default=10_000_000, help="of the stream")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/collapsed.jsonl"), help="runs done")
    options = parser.parse_args()
    if options.cost:
        print(table(cost(options.splits, options.topics)))
    elif options.learning:
        print(table(learning(options.splits, options.topics)))
    elif options.shares:
        print(table(shares(options.splits, options.topics)))
    elif options.prune:
        print(table(prune(options.splits, options.topics)))
    elif options.stream:
        print(table(stream(options.tokens, options.topics[0])))
    else:
        keys = [
            {"corpus": name, "K": n_topics, "system": system, "seed": seed, "limit": options.seconds}
            for name in options.splits
            for n_topics in options.topics
            for system in options.systems
            for seed in range(options.seeds)
        ]
        print(table(rows_of(Records(options.out).run(measure, keys, helpers=(contenders, fold_in)))))


if __name__ == "__main__":
    main()
