"""Compile what fits need, before many processes each do: `python -m tools.warm METHOD ...`, or `vectors`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

import stickbreak
from stickbreak.cli.documents import Documents
from stickbreak.cli.job import FitJob
from stickbreak.cli.methods import METHODS
from stickbreak.corpus import count_texts, planted_lda
from stickbreak.evaluation import evaluate


def fit_words(method: str) -> None:
    """Do with a small corpus what the command line does with a large one."""
    count_texts(["text to counts"])
    corpus, _ = planted_lda(150, 60, n_topics=4, mean_tokens=40.0, seed=0)
    parameters = {"random_state": 0, "n_jobs": -1} | dict(METHODS[method].quick)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "model"
        FitJob(out, out / "report.html", parameters, method, held_out=0.1, quiet=True).run(Documents(corpus))
        model = stickbreak.load(out, METHODS[method].load())
        model.transform(corpus)
        evaluate(model, corpus)


def fit_vectors() -> None:
    """Fit the two models of vectors."""
    centres = np.random.default_rng(0).normal(scale=5.0, size=(3, 2))
    values = centres[np.arange(240) % 3] + np.random.default_rng(1).normal(size=(240, 2))
    groups = stickbreak.GroupedVectors.from_values(values, offsets=np.arange(0, 241, 20))
    for model, data in ((stickbreak.GaussianHDP(random_state=0), groups), (stickbreak.GaussianDPMixture(), values)):
        model.fit(data)
        model.predict(data)
        model.score(data)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        fit_vectors() if name == "vectors" else fit_words(name)
