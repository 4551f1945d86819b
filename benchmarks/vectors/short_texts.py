"""Topics of short texts by their words and by their vectors, with known labels as the judge.

A collection is a table that `stickbreak.corpus.read` reads, with columns `text` and `label`; without one it is the
first paragraphs of the documentation of Python's standard library, whose label is the module. Each document counts for
its largest topic. NMI: normalised mutual information with the labels. Purity: documents whose label is the most common
one of their topic; it rises with the number of topics. LSA: 100 singular vectors of tf-idf. Embeddings are taken from
NAME.npy beside NAME.jsonl, a row for each document, where that file is.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from pathlib import Path

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import normalized_mutual_info_score
from threadpoolctl import threadpool_limits

from benchmarks.harness.tables import table
from stickbreak import TopicModel, VectorTopics
from stickbreak.corpus import count_texts, read, read_texts
from stickbreak.corpus.examples.standard_library import standard_library_docstrings

LEAST, LSA = 20, 100  # documents of a label; singular vectors


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("collections", nargs="*", type=Path, help="tables with columns text and label")
    parser.add_argument("--documents", type=int, default=2000, help="most documents of each (2000)")


def docstrings() -> tuple[list[str], list[str]]:
    """Return first paragraphs of docstrings and their modules; modules with few are left out."""
    names, texts = standard_library_docstrings(min_words=8)
    first = {
        " ".join(text.split("\n\n")[0].split()): name.split(".")[0] for name, text in zip(names, texts, strict=True)
    }
    n_texts = Counter(first.values())
    chosen = [(text, label) for text, label in first.items() if n_texts[label] >= LEAST]
    return [text for text, _ in chosen], [label for _, label in chosen]


def collection(path: Path) -> tuple[list[str], list[str]]:
    """Return the texts and labels of a file."""
    corpus = read(path, text_field="text", keep=["label"])
    assert corpus.metadata is not None
    return read_texts(path, range(len(corpus)), text_field="text"), corpus.metadata["label"].to_pylist()


def purity(found: np.ndarray, labels: np.ndarray) -> float:
    """Return the share of documents whose label is the most common one of their topic."""
    together = np.zeros((found.max() + 1, labels.max() + 1))
    np.add.at(together, (found, labels), 1)
    return float(together.max(axis=1).sum() / together.sum())


def lsa(texts: list[str]) -> np.ndarray:
    """Return vectors of texts by latent semantic analysis."""
    weights = TfidfVectorizer(stop_words="english", min_df=2, sublinear_tf=True).fit_transform(texts)
    return TruncatedSVD(LSA, random_state=0).fit_transform(weights)


def run(options: argparse.Namespace) -> str:
    """Fit each collection by words and by vectors."""
    rows = []
    for path in options.collections or [None]:
        texts, named = docstrings() if path is None else collection(path)
        chosen = np.sort(np.random.default_rng(0).permutation(len(texts))[: options.documents])
        embedded = None if path is None or not path.with_suffix(".npy").exists() else np.load(path.with_suffix(".npy"))
        texts, labels = (
            [texts[row] for row in chosen],
            np.unique([named[row] for row in chosen], return_inverse=True)[1],
        )
        ways = {
            "words": lambda t: (TopicModel(random_state=0), count_texts(t)),
            "LSA": lambda t: (VectorTopics(random_state=0), count_texts(t, vectors=lsa(t))),
        }
        if embedded is not None:
            ways["embeddings"] = lambda t, e=embedded[chosen]: (VectorTopics(random_state=0), count_texts(t, vectors=e))
        for name, way in ways.items():
            start = time.process_time()
            with threadpool_limits(1):
                model, documents = way(texts)
                largest = np.asarray(model.fit(documents).transform(documents)).argmax(axis=1)
            rows.append(
                {
                    "texts": "docstrings" if path is None else path.stem,
                    "documents": f"{len(texts):,}",
                    "labels": int(labels.max()) + 1,
                    "topics by": name,
                    "topics": model.n_topics_,
                    "NMI": f"{normalized_mutual_info_score(labels, largest):.3f}",
                    "purity": f"{purity(largest, labels):.2f}",
                    "processor seconds": f"{time.process_time() - start:.1f}",
                }
            )
    return table(rows)
