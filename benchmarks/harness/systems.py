"""The systems by their names on the command line, with the settings of a run: `topics:eta=0.05:max_topics=300`."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import NamedTuple

from benchmarks.harness import ours, peers
from benchmarks.harness.records import Record
from benchmarks.harness.units import System
from stickbreak.corpus import Corpus, planted_lda


class Kind(NamedTuple):
    """A row of the list of systems."""

    title: str
    make: Callable[[Corpus, Record], System]
    package: str = "stickbreak"

    @property
    def is_ours(self) -> bool:
        """Whether it belongs to this library."""
        return self.package == "stickbreak"


SYSTEMS = {
    "variational": Kind("variational", ours.Variational),
    "variational-stochastic": Kind("variational, stochastic", ours.VariationalStochastic),
    "topics": Kind("topics", ours.Default),
    "hybrid": Kind("hybrid", ours.Hybrid),
    "gibbs": Kind("Gibbs", ours.Gibbs),
    "tree": Kind("backoff tree", ours.BackoffTree),
    "lda": Kind("LDA", ours.LatentDirichlet),
    "online-hdp": Kind("online HDP", ours.OnlineFranchise),
    "split-merge-online": Kind("online split-merge HDP", ours.SplitMergeOnline),
    "pachinko": Kind("Pachinko", ours.PachinkoAllocation),
    "hierarchical-pachinko": Kind("hierarchical Pachinko", ours.HierarchicalPachinkoAllocation),
    "nested-crp": Kind("nested CRP", ours.NestedRestaurant),
    "nested-hdp": Kind("nested HDP", ours.NestedFranchise),
    "sklearn-batch": Kind("scikit-learn LDA, batch", peers.ScikitLearnBatch, "sklearn"),
    "sklearn-online": Kind("scikit-learn LDA, online", peers.ScikitLearnOnline, "sklearn"),
    "gensim-lda": Kind("gensim LDA", peers.GensimLDA, "gensim"),
    "gensim-hdp": Kind("gensim HDP", peers.GensimHDP, "gensim"),
    "tomotopy-lda": Kind("tomotopy LDA", peers.TomotopyLDA, "tomotopy"),
    "tomotopy-hdp": Kind("tomotopy HDP", peers.TomotopyHDP, "tomotopy"),
}


def parse(text: str) -> Record:
    """Return the system and the settings that `NAME:SETTING=VALUE:...` means, as parts of the key of a run."""
    name, *rest = text.split(":")
    if name not in SYSTEMS:
        sys.exit(f"There is no system {name!r}; give some of {', '.join(SYSTEMS)}.")
    settings = {}
    for part in rest:
        setting, equals, value = part.partition("=")
        if not equals:
            sys.exit(f"{part!r} in {text!r} is not a setting; write NAME:SETTING=VALUE, e.g. topics:eta=0.05.")
        settings[setting] = _value(value)
    return {"system": name, "settings": json.loads(json.dumps(settings))}


def _value(text: str) -> object:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def installed(systems: list[Record]) -> list[Record]:
    """Return those whose package is installed; say which are left out."""
    there = [chosen for chosen in systems if find_spec(SYSTEMS[chosen["system"]].package)]
    for chosen in systems:
        if chosen not in there:
            package = SYSTEMS[chosen["system"]].package
            sys.stderr.write(f"{chosen['system']} is left out: {package} is not installed.\n")
    return there


def title(record: Record) -> str:
    """Return how tables and plots call the system of a run."""
    settings = [f"{name}={value}" for name, value in record["settings"].items()]
    return ", ".join([SYSTEMS[record["system"]].title, *settings])


def make(corpus: Corpus, key: Record) -> System:
    """Return the system of a key, its documents read."""
    return SYSTEMS[key["system"]].make(corpus, key)


def warm_up(key: Record) -> None:
    """Let the system of a key work on a tiny collection: compilation is not on the clock."""
    tiny, _ = planted_lda(40, 30, n_topics=3, seed=0)
    units = 12 if key["system"] == "topics" else 4  # the default merges topics from pass 40 on
    system = make(tiny, {**key, "settings": key.get("settings", {}), "K": 4})
    for _, _ in zip(range(units), system.work(), strict=False):
        system.answer()
