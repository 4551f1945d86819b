"""A saved model that answers one request after another: loading, one document, requests a second on one core."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import stickbreak
from benchmarks.harness.tables import table
from benchmarks.harness.units import processor_seconds
from stickbreak.corpus import count_texts, read
from stickbreak.corpus.examples.standard_library import write_sample

_LOADING = "import sys, time, stickbreak; stickbreak.load(sys.argv[1]); print(time.process_time())"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--model", type=Path, help="a saved TopicModel (a fit to the sample of `stickbreak demo`)")
    parser.add_argument("--words", type=int, default=100, help="words of a document")
    parser.add_argument("--requests", type=int, default=1000, help="documents, each another one")


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    with tempfile.TemporaryDirectory() as folder:
        path = options.model or _fitted(Path(folder))
        loading = min(_seconds_of_loading(path) for _ in range(3))
        model = stickbreak.load(path)
    model.set_params(n_jobs=1)
    texts = _requests(model, options.words, options.requests)
    counted = [count_texts([text], model.text_options_, vocabulary=model.vocabulary_) for text in texts]
    model.transform(counted[0])  # compiles, or loads what was compiled
    from_counts, from_text = _each(model.transform, counted), _each(model.transform, [[text] for text in texts])
    row = {
        "topics": model.n_topics_,
        "words": model.n_features_in_,
        "new process, import and load": f"{loading:.2f} s",
        "a document from counts": f"{1e3 * from_counts:.2f} ms",
        "from text": f"{1e3 * from_text:.2f} ms",
        "requests a second, from text": f"{1.0 / from_text:,.0f}",
    }
    return table([row])


def _fitted(folder: Path) -> Path:
    """Fit the sample as the command line does, in fewer passes; return where the model is."""
    write_sample(folder / "sample.csv")
    path = folder / "model"
    stickbreak.TopicModel(n_laps=100, random_state=0).fit(read(folder / "sample.csv")).save(path)
    return path


def _seconds_of_loading(path: Path) -> float:
    """Return the processor seconds of a new process that does nothing else."""
    program = [sys.executable, "-c", _LOADING, str(path)]
    return float(subprocess.run(program, check=True, capture_output=True, text=True).stdout)


def _requests(model: Any, n_words: int, n_requests: int) -> list[str]:
    """Return texts of words as frequent as those of the fit."""
    rng, words = np.random.default_rng(0), np.array(model.vocabulary_)
    shares = model.word_shares()
    return [" ".join(rng.choice(words, n_words, p=shares / shares.sum())) for _ in range(n_requests)]


def _each(answer: Callable[[Any], Any], requests: Sequence[Any]) -> float:
    """Return the processor seconds of a request: the least mean of ten parts, as others use the machine, too."""
    size = max(1, len(requests) // 10)
    parts = [requests[first : first + size] for first in range(0, len(requests), size)]
    return min(processor_seconds(lambda part=part: [answer(each) for each in part]) / len(part) for part in parts)
