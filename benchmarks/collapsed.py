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
from functools import partial
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

import contenders
import fold_in
from contenders import processor_seconds
from corpora import load_split, table
from harness import ours, peers, scores, systems
from harness.ours import Answer, own_prior
from harness.scores import completion, topics_in_use
from records import Record, Records
from stickbreak import CollapsedHDP
from stickbreak.corpus import planted_lda
from stickbreak.evaluation import document_completion

LAPS = 100
BATCH_SIZE = 1000
THEN: Record = {"eta": 0.1, "learn": ["alpha", "eta"], "n_laps": LAPS, "tolerance": None}  # the defaults of the tables
LEAST_TABLES = (0, 50, 100, 150, 200, 300)

SYSTEMS = {
    "collapsed": {"system": "collapsed", "settings": THEN},
    "collapsed, no merges": {"system": "collapsed", "settings": {**THEN, "merge_laps": 0}},
    "tomotopy LDA": systems.parse("tomotopy-lda"),
    "tomotopy HDP": systems.parse("tomotopy-hdp"),
    "scikit-learn LDA": systems.parse("sklearn-online"),
    "variational": systems.parse(f"variational:n_laps={LAPS}:learn=()"),
}


def fit_of(**settings: object) -> CollapsedHDP:
    """Return an estimator with the defaults of the tables but for some settings."""
    return CollapsedHDP(**{**THEN, "random_state": 0, **settings})


def model_answer(model: CollapsedHDP) -> Answer:
    """Return the topics of collapsed inference with its own concentrations."""
    return model.topic_word_, own_prior(model)


def measure(key: Record) -> Record:
    """Run one system to its end or until its time is spent; return its scores, and when it had them."""
    chosen = {**key, **SYSTEMS[key["system"]]}
    systems.warm_up(chosen)
    split = load_split(key["corpus"])
    found: Record = {"seconds": [], "completion": []}
    with threadpool_limits(1, user_api="blas"):
        system, spent = systems.make(split.train, chosen), 0.0
        for seconds in system.work():
            spent += seconds
            answer = system.answer()
            found["seconds"].append(spent)
            found["completion"].append(completion(split, *answer))
            if spent >= key["limit"]:
                break
    return {**found, "K at the end": len(answer[1]), "topics": int(topics_in_use(split, *answer).size)}


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
                model = fit_of(n_topics=n_topics, n_laps=12, merge_laps=0, n_jobs=n_jobs)
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
                model = fit_of(n_topics=n_topics, smallest_share=smallest, merge_laps=0, n_jobs=1)
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
                model = fit_of(n_topics=n_topics, learn=learn, n_jobs=1).fit(split.train)
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
            fits = {laps: fit_of(n_topics=n_topics, n_laps=60, merge_laps=laps, n_jobs=1) for laps in (0, 50)}
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
    model = fit_of(n_topics=n_topics, total_documents=train.n_documents)
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
    model = fit_of(n_topics=n_topics, n_laps=40, merge_laps=30).fit(train)
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
        print(
            table(
                rows_of(
                    Records(options.out).run(measure, keys, helpers=(contenders, fold_in, ours, peers, scores, systems))
                )
            )
        )


if __name__ == "__main__":
    main()
