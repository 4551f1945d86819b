"""Layouts of the map of documents: processor seconds, neighbours kept and the same bits by seed, ours and others'.

Documents are places by the roots of their topic weights in a fit of 100 topics. "Kept": of the ten documents that are
nearest by these weights, how many are among the 30 nearest on the map. "Trustworthiness" is scikit-learn's, of 3,000
documents. openTSNE, umap-learn and pacmap are left out where they are not installed (pip install openTSNE umap-learn
pacmap). All use one thread: several threads change the last bits of scikit-learn's.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from collections.abc import Callable

import numpy as np
from scipy.spatial import cKDTree
from sklearn.manifold import trustworthiness
from threadpoolctl import threadpool_limits

from benchmarks.harness import corpora
from benchmarks.harness.tables import table
from stickbreak import TopicModel
from stickbreak.questions.document_map import placed_documents, topics_of_map

SCORED, NEAR, AROUND = 3000, 10, 30


def scikit_learn(root: np.ndarray) -> np.ndarray:
    """Return the places by scikit-learn's t-SNE."""
    from sklearn.manifold import TSNE

    return TSNE(init="pca", random_state=0, n_jobs=1).fit_transform(root)


def opentsne(root: np.ndarray) -> np.ndarray:
    """Return the places by openTSNE."""
    import openTSNE

    return np.asarray(openTSNE.TSNE(initialization="pca", random_state=0, n_jobs=1).fit(root))


def umap(root: np.ndarray) -> np.ndarray:
    """Return the places by umap-learn."""
    import umap

    return umap.UMAP(random_state=0).fit_transform(root)


def pacmap(root: np.ndarray) -> np.ndarray:
    """Return the places by pacmap."""
    import pacmap

    return pacmap.PaCMAP(random_state=0).fit_transform(root)


PEERS: dict[str, tuple[str, Callable[[np.ndarray], np.ndarray]]] = {
    "scikit-learn, t-SNE": ("sklearn", scikit_learn),
    "openTSNE": ("openTSNE", opentsne),
    "umap-learn": ("umap", umap),
    "pacmap": ("pacmap", pacmap),
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--corpus", default="20news", help="name of a collection (20news)")
    parser.add_argument("--documents", nargs="+", type=int, default=[2000], help="how many to place (2000)")
    parser.add_argument("--laps", type=int, default=60, help="passes of the fit (60)")


def scores(root: np.ndarray, places: np.ndarray) -> tuple[float, float]:
    """Return trustworthiness, and the share of neighbours that are kept."""
    rows = np.random.default_rng(0).choice(len(root), min(SCORED, len(root)), replace=False)
    likeness = root[rows] @ root.T
    likeness[np.arange(rows.size), rows] = -1
    nearest = np.argpartition(-likeness, NEAR, axis=1)[:, :NEAR]
    around = cKDTree(places).query(places[rows], AROUND + 1)[1]
    kept = np.mean([np.isin(a, b).mean() for a, b in zip(nearest, around, strict=True)])
    return float(trustworthiness(root[rows], places[rows], n_neighbors=NEAR)), float(kept)


def run(options: argparse.Namespace) -> str:
    """Place documents by every layout that is installed."""
    corpus = corpora.load(options.corpus).train
    model = TopicModel(n_topics=100, n_laps=options.laps, random_state=0).fit(corpus)
    weights = np.asarray(model.active_weights(corpus), dtype=np.float32)
    topics, filled = topics_of_map(model), np.flatnonzero(np.asarray(corpus.document_lengths) > 0)
    rows = []
    for n in options.documents:
        chosen = np.sort(np.random.default_rng(0).choice(filled, min(n, filled.size), replace=False))
        root = np.sqrt(weights[chosen] / weights[chosen].sum(axis=1, keepdims=True))
        layouts = {"stickbreak": lambda _, c=chosen: placed_documents(weights[c], c, c.size, topics, 0).positions}
        layouts |= {name: place for name, (module, place) in PEERS.items() if importlib.util.find_spec(module)}
        for name, place in layouts.items():
            places, seconds = [], []
            for _ in range(2):
                start = time.process_time()
                with threadpool_limits(1):
                    places.append(np.asarray(place(root), dtype=np.float64))
                seconds.append(time.process_time() - start)
            trust, kept = scores(root, places[0])
            same = "yes" if places[0].tobytes() == places[1].tobytes() else "no"
            row = {"documents": f"{chosen.size:,}", "layout": name, "processor seconds": f"{min(seconds):.1f}"}
            rows.append(row | {"trustworthiness": f"{trust:.3f}", "kept": f"{kept:.2f}", "same bits twice": same})
    return table(rows)
