"""The commands of `python -m benchmarks`: a row for each, and what all have in common."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from benchmarks.harness import pages
from benchmarks.harness.machine import here, setting


class Command(NamedTuple):
    """A row of the list of commands.

    Its module has `arguments(parser)` and `run(options)`, which returns Markdown. If it writes more than that, it has
    `write(options)` as well.
    """

    module: str
    about: str
    # Whether it can write a table.
    writes: bool = True


FAMILIES: dict[str, dict[str, Command]] = {
    "Side by side": {
        "run": Command("side_by_side.run", "all systems on all corpora: quality, seconds, memory"),
        "cost": Command("side_by_side.cost", "what a pass costs each system, by topics, words, documents, threads"),
        "quick": Command("side_by_side.quick", "all systems for some seconds each: a couple of minutes"),
        "pages": Command("pages", "run every command that stands on the pages: many hours", False),
    },
    "Papers": {
        "claims": Command("claims", "the papers' claims: run the scripts of examples/papers, write the page"),
    },
    "Default": {
        "default": Command("topics.default", "the default on many kinds of collections: topics, scores, seconds"),
        "bursts": Command("topics.bursts", "the default with words that come again, beside without: scores, seconds"),
        "power-laws": Command(
            "topics.power_laws", "Pitman-Yor priors of words and of topics beside Dirichlet ones: completion"
        ),
        "layouts": Command("topics.layouts", "layouts of the map of documents: seconds, neighbours kept"),
    },
    "Variational": {
        "bars": Command("variational.bars", "are the ten topics of toy bars found, and in which pass"),
        "moves": Command("variational.moves", "what each move, restart, schedule and start contributes: hours"),
    },
    "Hybrid": {
        "hybrid-batches": Command("hybrid.batches", "beside gensim's HdpModel: minibatches and truncations"),
        "hybrid-speed": Command("hybrid.speed", "nanoseconds of a token, sparse beside dense"),
        "hybrid-stream": Command("hybrid.stream", "rate and memory of a long stream"),
    },
    "Samplers": {
        "twins": Command("samplers.twins", "do split-merge moves separate two topics that are hard to tell apart"),
        "agreement": Command("samplers.agreement", "do the representations agree"),
        "split-merge": Command("samplers.split_merge", "log-likelihood against time with and without split-merge"),
    },
    "Trees": {
        "tree-passes": Command("trees.passes", "seconds of a pass, by the number of leaves"),
        "tree-perplexity": Command("trees.perplexity", "perplexity and coherence beside LDA"),
        "tree-learned": Command("trees.learned", "trees whose shape is learned: planted ones, and beside other trees"),
    },
    "Large collections": {
        "large-count": Command("large.count", "texts to counts beside CountVectorizer"),
        "large-planted": Command("large.planted", "write a planted collection of 1.8 million documents", False),
        "large-workers": Command("large.workers", "a pass on one and two threads, one and two processes"),
        "large": Command("large.fits", "seconds, memory and completion of fits of large collections"),
    },
    "Saved models": {
        "serving": Command("waiting.serving", "a saved model: loading, one document, requests a second on one core"),
    },
    "Questions": {
        "effects": Command("questions.effects", "coverage of the intervals of `effects` on planted effects"),
        "prevalence": Command("questions.prevalence", "coverage of the intervals of `prevalence` on planted effects"),
        "prevalence-gain": Command(
            "questions.prevalence_gain", "what columns gain in prediction, beside tomotopy's DMR"
        ),
    },
    "Vectors": {
        "vectors": Command("vectors.scores", "held-out score of image patches"),
        "vectors-peer": Command("vectors.peer", "seconds and score beside scikit-learn"),
        "short-texts": Command("vectors.short_texts", "topics of short texts by words and by vectors, beside labels"),
    },
    "Sequences": {
        "sequences": Command("sequences.peers", "planted states from 1 and from 50, beside hmmlearn with their number"),
    },
}
COMMANDS = {name: command for family in FAMILIES.values() for name, command in family.items()}


def overview() -> str:
    """Return the help: a line for each command."""
    lines = ["usage: python -m benchmarks NAME [options]", "", "python -m benchmarks NAME --help lists the options."]
    width = max(map(len, COMMANDS))
    for family, commands in FAMILIES.items():
        lines += ["", f"{family}:", *(f"  {name:{width}}  {about}" for name, (_, about, _) in commands.items())]
    return "\n".join(lines)


def parser_of(name: str, module: ModuleType) -> argparse.ArgumentParser:
    """Return the parser of a command."""
    parser = argparse.ArgumentParser(
        prog=f"python -m benchmarks {name}",
        description=module.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.arguments(parser)
    if not COMMANDS[name].writes:
        return parser
    parser.add_argument("--tables", type=Path, default=pages.TABLES, help=f"the folder of tables ({pages.TABLES})")
    if hasattr(module, "write"):
        parser.add_argument("--write", action="store_true", help="write the tables")
    else:
        parser.add_argument("--write", nargs="?", const=name, metavar="NAME", help=f"write the table NAME ({name})")
    return parser


def parse(words: Sequence[str]) -> tuple[ModuleType, argparse.Namespace]:
    """Return the module of a command line and its options; end if it names no command."""
    name, *rest = words
    if name not in COMMANDS:
        sys.exit(f"There is no benchmark {name!r}; python -m benchmarks --help lists them.")
    module = import_module(f"benchmarks.{COMMANDS[name].module}")
    return module, parser_of(name, module).parse_args(rest)


def main(words: Sequence[str]) -> int:
    """Run a command, print its Markdown, write it if that is wanted; return the exit code."""
    if not words or words[0] in ("-h", "--help"):
        print(overview())
        return 0
    module, options = parse(words)
    try:
        text = module.run(options)
    except pages.Incomplete as error:
        print(error)
        return 1
    print(text)
    if getattr(options, "write", None):
        for path in write(module, options, text):
            sys.stderr.write(f"{path} written\n")
    return 0


def write(module: ModuleType, options: argparse.Namespace, text: str) -> list[Path]:
    """Write what a command that has run found, with where and with what it ran; return the files."""
    if hasattr(module, "write"):
        return module.write(options)
    return [pages.write(options.write, f"{setting([here()])}\n\n{text}", options.tables)]
