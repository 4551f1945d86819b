"""Saved models and checkpoints, changed by chance, then loaded and used: finite numbers or one of our errors.

Input N of seed S is always the same: `python -m fuzz loaders --seed S --first N --inputs 1` repeats it.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import stickbreak
from fuzz.campaign import add_campaign_arguments, run_campaign
from fuzz.models import FITS, Fit
from fuzz.mutations import mutate_bytes
from fuzz.outcomes import Unsound
from fuzz.structure import mutate_array, mutate_json, mutate_safetensors, mutate_tree

HEAD, ARRAYS = "model.json", "arrays.safetensors"
_LAPS = {"gibbs": 8, "tree": 10}  # of the saved fits; others take 4
_MORE_LAPS = 2
_TEXTS = '{"text": "w1 w2 w3", "id": "=one"}\n{"text": "w4 w24 unknown"}\n'


@dataclass(frozen=True)
class Saved:
    """A good saved model or checkpoint."""

    fit: str  # of FITS
    kind: str  # "model" or "checkpoint"
    files: dict[str, bytes]

    @property
    def group(self) -> str:
        """How the table calls it."""
        return f"{self.fit.split()[0]} {self.kind}"


@dataclass(frozen=True)
class Input:
    """The files of a saved model or checkpoint, and what is asked of it once it is loaded."""

    group: str
    fit: str
    kind: str
    files: dict[str, bytes]
    uses: tuple[str, ...]

    def write(self, folder: Path) -> None:
        """Write the files as the folder of a model."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in self.files.items():
            (folder / name).write_bytes(content)

    def keep(self, folder: Path, expected: str = "either") -> None:
        """Put the files, and what is asked, into a folder that `kept` takes up."""
        self.write(folder / "model")
        call = {"call": self.kind, "fit": self.fit, "uses": self.uses, "expected": expected}
        (folder / "call.json").write_text(json.dumps(call, indent=1) + "\n")


def kept(folder: Path) -> tuple[Input, str]:
    """Take up what `Input.keep` wrote: the input, and the outcome that is expected."""
    call = json.loads((folder / "call.json").read_text())
    files = {file.name: file.read_bytes() for file in sorted((folder / "model").iterdir())}
    return Input(folder.name, call["fit"], call["call"], files, tuple(call["uses"])), call["expected"]


def saved_fits(only: str = "") -> list[Saved]:
    """Fit all of FITS for some laps and return the files of the models and checkpoints whose name holds `only`."""
    found = []
    for name, fit in FITS.items():
        if not any(only in Saved(name, kind, {}).group for kind in ("model", "checkpoint")):
            continue
        with tempfile.TemporaryDirectory() as scratch:
            model, place = _small(fit, name), Path(scratch)
            model.fit(fit.documents(), checkpoint=place / "checkpoint")
            model.save(place / "model")
            for kind in ("model", "checkpoint"):
                files = {file.name: file.read_bytes() for file in sorted((place / kind).iterdir())}
                found.append(_timeless(Saved(name, kind, files)))
    return [saved for saved in found if only in saved.group]


def _timeless(saved: Saved) -> Saved:
    """Set the measured times to zero, so that an input is the same in every run."""
    head, arrays = _opened(saved)
    for name, array in arrays.items():
        if "seconds" in name:
            array[...] = 0
    head["meta"] = _without_times(head["meta"])
    return Saved(saved.fit, saved.kind, _closed(head, arrays))


def _without_times(tree: Any, name: str = "") -> Any:
    if isinstance(tree, dict):
        return {key: _without_times(value, key) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_without_times(value, name) for value in tree]
    return 0.0 if "seconds" in name and isinstance(tree, float) else tree


def _small(fit: Fit, name: str, more: int = 0) -> Any:
    return fit.model(_LAPS.get(name.split()[0], 4) + more)


class Loaders:
    """The trials of this mode."""

    def __init__(self, seed: int, only: str = "") -> None:
        self.seed = seed
        self.saved = saved_fits(only)
        if not self.saved:
            raise SystemExit(f"nothing that is saved is called {only!r}; give a name such as 'gibbs checkpoint'")

    def good(self) -> Iterator[Input]:
        """Give all that is saved as it is, with all uses one by one: this compiles what workers need."""
        for saved in self.saved:
            for use in _uses(saved) if saved.kind == "model" else ("resume",):
                uses = (use,) if saved.kind == "model" else ()
                yield Input(f"{saved.group}, {use}", saved.fit, saved.kind, saved.files, uses)

    def make(self, number: int) -> Input:
        """Return input `number`."""
        random = Random(f"loaders {self.seed} {number}")
        saved = random.choice(self.saved)
        files = _changed(random, saved, self.saved)
        uses: tuple[str, ...] = ()
        if saved.kind == "model":
            possible = _uses(saved)
            rare = ("report", "command", "left_to_right")
            uses = tuple(
                use
                for use in random.sample(possible, min(len(possible), 3))
                if use not in rare or random.random() < 0.2
            )
            if "command" in uses and random.random() < 0.7:
                files = _with_memory(random, files)
        return Input(saved.group, saved.fit, saved.kind, files, uses)

    def attempt(self, given: Input, folder: Path) -> None:
        """Load a model and use it, or go on from a checkpoint."""
        attempt(given, folder)


def attempt(given: Input, folder: Path) -> None:
    """Load a model and use it, or go on from a checkpoint; raise Unsound if numbers are not finite."""
    place, fit = folder / "saved", FITS[given.fit]
    given.write(place)
    X = fit.documents()
    if given.kind == "model":
        model = stickbreak.load(place)
        for use in given.uses:
            _USES[use](model, X, folder)
    else:
        model = _small(fit, given.fit, _MORE_LAPS).fit(X, checkpoint=place, resume=True)
    _weights(model, X, folder)


# --- changes --------------------------------------------------------------------------------------------------------


def _changed(random: Random, saved: Saved, all_saved: list[Saved]) -> dict[str, bytes]:
    """Change the arrays, the settings, or both; mostly so that checksums and lists of arrays still agree."""
    files, choice = dict(saved.files), random.random()
    if choice < 0.5:
        head, arrays = _opened(saved)
        for _ in range(random.choice((1, 1, 1, 2, 3))):
            _change_arrays(random, arrays, all_saved)
        if random.random() < 0.1:
            head["meta"] = mutate_tree(random, head["meta"])
        files = _closed(head, arrays)
    elif choice < 0.8:
        head, arrays = _opened(saved)
        if random.random() < 0.85:
            head["meta"] = mutate_tree(random, head["meta"], random.choice((1, 1, 1, 2, 4)))
        else:
            head = mutate_tree(random, head)
        files[HEAD] = json.dumps(head).encode()
    elif choice < 0.87:
        files[ARRAYS] = mutate_safetensors(random, files[ARRAYS])
        files[HEAD] = _with_checksum(files)
    elif choice < 0.92:
        files[HEAD] = mutate_bytes(random, files[HEAD])
    elif choice < 0.94:
        name = random.choice((HEAD, ARRAYS))
        files[name] = mutate_bytes(random, files[name])
    elif choice < 0.95:
        del files[random.choice((HEAD, ARRAYS))]
    else:
        files = _mixed(random, saved, random.choice(all_saved))
    return files


def _change_arrays(random: Random, arrays: dict[str, np.ndarray], all_saved: list[Saved]) -> None:
    if not arrays:
        return
    name, choice = random.choice(list(arrays)), random.random()
    if choice < 0.8:
        arrays[name] = mutate_array(random, arrays[name])
    elif choice < 0.86:
        del arrays[name]
    elif choice < 0.9:
        arrays[name] = arrays[random.choice(list(arrays))]
    elif choice < 0.93:
        arrays[name + "x"] = arrays[name]
    else:
        _, others = _opened(random.choice(all_saved))
        if others:
            arrays[name] = others.get(name, random.choice(list(others.values())))


def _mixed(random: Random, one: Saved, other: Saved) -> dict[str, bytes]:
    """Join the arrays of one with settings of the other."""
    (head, arrays), (lent_head, lent) = _opened(one), _opened(other)
    choice = random.random()
    if choice < 0.3:
        head = {**head, "meta": lent_head["meta"]}
    elif choice < 0.5:
        arrays = lent
    elif choice < 0.8:
        key = random.choice(list(head["meta"]))
        head["meta"][key] = lent_head["meta"].get(key, random.choice(list(lent_head["meta"].values())))
    else:
        head["kind"] = lent_head["kind"]
    return _closed(head, arrays)


def _opened(saved: Saved) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    from safetensors.numpy import load

    arrays = load(saved.files[ARRAYS])  # in another order in every process
    return json.loads(saved.files[HEAD]), {name: arrays[name] for name in sorted(arrays)}


def _closed(head: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict[str, bytes]:
    from safetensors.numpy import save

    plain = {name: np.ascontiguousarray(array) for name, array in arrays.items() if array.dtype.kind in "biuf"}
    plain = {name: array.astype(array.dtype.newbyteorder("=")) for name, array in plain.items()}
    content = save(plain)
    head["arrays"] = {name: {"dtype": array.dtype.name, "shape": list(array.shape)} for name, array in plain.items()}
    head["checksum"] = zlib.crc32(content)
    return {HEAD: json.dumps(head).encode(), ARRAYS: content}


def _with_checksum(files: dict[str, bytes]) -> bytes:
    return json.dumps({**json.loads(files[HEAD]), "checksum": zlib.crc32(files[ARRAYS])}).encode()


def _with_memory(random: Random, files: dict[str, bytes]) -> dict[str, bytes]:
    """Return a model that remembers, perhaps damaged, how its documents were read."""
    settings = {"format": "jsonl", "text_field": "text", "name_field": "id"}
    known = [["settings", {"mapping": [[*item] for item in settings.items()]}], ["suffix", ".jsonl"]]
    try:
        head = json.loads(files[HEAD])
        head["meta"]["reading"] = json.loads(mutate_json(random, json.dumps({"mapping": known}).encode()))
    except (ValueError, TypeError, KeyError):  # another change has damaged it, or this one has
        return files
    return {**files, HEAD: json.dumps(head).encode()}


# --- uses -----------------------------------------------------------------------------------------------------------

Use = Callable[[Any, Any, Path], None]


def _uses(saved: Saved) -> list[str]:
    """Return what can be asked of a model of this kind."""
    cls, words = type(FITS[saved.fit].model()), FITS[saved.fit].data == "words"
    return [use for use in _USES if (use not in _METHODS or hasattr(cls, use)) and (words or use != "report")]


def _check(values: Any, what: str) -> None:
    dense = values.toarray() if hasattr(values, "toarray") else np.asarray(values)
    if not np.isfinite(dense).all():
        raise Unsound(f"{what} holds {dense[~np.isfinite(dense)].flat[0]}")


def _weights(model: Any, X: Any, folder: Path) -> None:
    found = model.transform(X) if hasattr(model, "transform") else model.predict_proba(X)
    _check(found, "the weights of documents")
    low = found.min()
    if low < 0:
        raise Unsound(f"a weight of {low}")


def _score(model: Any, X: Any, folder: Path) -> None:
    _check(model.score(X), "the score")


def _top_words(model: Any, X: Any, folder: Path) -> None:
    words = model.top_words(3)
    if len(words) != model.n_topics_ or not all(type(word) is str for row in words for word in row):
        raise Unsound("top_words does not give words for each topic")


def _attributes(model: Any, X: Any, folder: Path) -> None:
    for name in ("topic_weights_", "topic_word_", "rest_word_", "weights_", "means_", "covariances_"):
        if hasattr(type(model), name) or name in vars(model):
            _check(getattr(model, name), name)
    repr((model, model.trace_))


def _left_to_right(model: Any, X: Any, folder: Path) -> None:
    found = model.left_to_right(X[:2], n_particles=2)
    _check([found.printed, found.unbiased], "left_to_right")


def _continue_fit(model: Any, X: Any, folder: Path) -> None:
    model.continue_fit(X, n_laps=1)


def _partial_fit(model: Any, X: Any, folder: Path) -> None:
    model.partial_fit(X[:10])


def _save(model: Any, X: Any, folder: Path) -> None:
    model.save(folder / "again")
    stickbreak.load(folder / "again")


def _report(model: Any, X: Any, folder: Path) -> None:
    from stickbreak.report import build_report, render_html

    render_html(build_report(model, X))


def _command(model: Any, X: Any, folder: Path) -> None:
    """Ask the command line, which also takes what a model remembers of its documents."""
    from typer.testing import CliRunner

    from stickbreak.cli.app import app

    (folder / "texts.jsonl").write_text(_TEXTS, encoding="utf-8")
    place, texts = str(folder / "saved"), str(folder / "texts.jsonl")
    for words in (["topics", place], ["transform", place, texts], ["topics", place, "--json"]):
        done = CliRunner().invoke(app, words)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        if done.exit_code not in (0, 2):
            raise Unsound(f"stickbreak {words[0]} ends with exit code {done.exit_code}")


_METHODS = ("top_words", "left_to_right", "continue_fit", "partial_fit")
_USES: dict[str, Use] = {
    "score": _score,
    "top_words": _top_words,
    "attributes": _attributes,
    "left_to_right": _left_to_right,
    "continue_fit": _continue_fit,
    "partial_fit": _partial_fit,
    "save": _save,
    "report": _report,
    "command": _command,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this mode."""
    add_campaign_arguments(parser, inputs=5_000, what="saved")


def run(arguments: argparse.Namespace) -> int:
    """Try the inputs; print the table; return the number of failures."""
    return run_campaign("loaders", Loaders(arguments.seed, arguments.only), arguments)
