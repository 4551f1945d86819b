"""`stickbreak warm`: compile beforehand what fits need."""

import tempfile
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from stickbreak.cli.documents import Documents
from stickbreak.cli.job import FitJob
from stickbreak.cli.methods import METHODS
from stickbreak.cli.options import Json, Quiet
from stickbreak.cli.output import print_json, say, show
from stickbreak.exceptions import InputError, WriteError

_VECTORS = "vectors"  # both methods of vectors, which share their kernels
_WORDS = tuple(name for name, method in METHODS.items() if method.data == "documents")
_FAMILIES = (*_WORDS, _VECTORS)


def warm(
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            metavar="METHOD",
            help=f"Compile only this family. Can be given several times. One of {', '.join(_FAMILIES)}.",
        ),
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Compile all code now, so that no later fit waits for it. Useful while a container image is built.

    Makes small fits of every family, with their scores and reports. The compiled
    code is kept in the folder that NUMBA_CACHE_DIR names, or beside the source.
    """
    families = _chosen(method)
    if not quiet:
        say("compiling (a few minutes, once) ...")
    from stickbreak.numerics.compiling import counts, folder_of_kernels

    rows: dict[str, dict[str, Any]] = {}
    for family in families:
        began, (compiled, loaded) = time.perf_counter(), counts()
        _fit_vectors() if family == _VECTORS else _fit_words(family)
        rows[family] = {
            "seconds": time.perf_counter() - began,
            "compiled": counts()[0] - compiled,
            "loaded": counts()[1] - loaded,
        }
        if not as_json:
            row = rows[family]
            show(f"{family:<12} {row['seconds']:6.1f} s  {row['compiled']:4} compiled, {row['loaded']} compiled before")
    where = folder_of_kernels()
    if where is None:
        raise WriteError("compiled kernels cannot be kept; set NUMBA_CACHE_DIR to a folder that you may write to")
    if as_json:
        print_json({"families": rows, "folder": where})
    else:
        show(f"kept in {where}")


def _chosen(given: list[str] | None) -> list[str]:
    """Return the families, in their own order."""
    for name in given or ():
        if name not in _FAMILIES:
            raise InputError(f"--method is {name!r}; give {', '.join(_FAMILIES[:-1])} or {_FAMILIES[-1]}")
    return [name for name in _FAMILIES if not given or name in given]


def _fit_words(method: str) -> None:
    """Do with a small corpus what the command line does with a large one."""
    import stickbreak
    from stickbreak.corpus import count_texts, planted_lda
    from stickbreak.evaluation import evaluate

    count_texts(["text to counts"])
    corpus, _ = planted_lda(150, 60, n_topics=4, mean_tokens=40.0, seed=0)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "model"
        job = FitJob(
            out=out,
            report=out / "report.html",
            parameters={"random_state": 0, "n_jobs": -1} | dict(METHODS[method].quick),
            method=method,
            held_out=0.1,
            quiet=True,
        )
        job.run(Documents(corpus))
        model = stickbreak.load(out, METHODS[method].load())
        model.transform(corpus)
        evaluate(model, corpus)


def _fit_vectors() -> None:
    """Fit the two models of vectors."""
    import numpy as np

    import stickbreak

    centres = np.random.default_rng(0).normal(scale=5.0, size=(3, 2))
    values = centres[np.arange(240) % 3] + np.random.default_rng(1).normal(size=(240, 2))
    groups = stickbreak.GroupedVectors.from_values(values, offsets=np.arange(0, 241, 20))
    for model, data in ((stickbreak.GaussianHDP(random_state=0), groups), (stickbreak.GaussianDPMixture(), values)):
        model.fit(data)
        model.predict(data)
        model.score(data)
