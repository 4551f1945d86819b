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

    Its module has `arguments(parser)` and `run(options)`, which returns Markdown. If what it writes into the pages is
    not just that, it has `write(options)` and the names of these PARTS as well.
    """

    module: str
    about: str
    # Whether it can write a part of the pages.
    writes: bool = True


FAMILIES: dict[str, dict[str, Command]] = {
    "Side by side": {
        "run": Command("side_by_side.run", "all systems on all corpora: quality, seconds, memory"),
        "cost": Command("side_by_side.cost", "what a pass costs each system, by topics, words, documents, threads"),
        "quick": Command("side_by_side.quick", "all systems for some seconds each: a couple of minutes", False),
        "report": Command("side_by_side.report", "write the pages from the runs made so far", False),
        "pages": Command("pages", "run every command that stands on the pages: many hours", False),
    },
    "Papers": {
        "claims": Command("claims", "the papers' claims: run the scripts of examples/papers, write the page"),
    },
    "Waiting": {
        "compiling": Command(
            "waiting.compiling", "the first fit beside the second, and what each kernel costs to compile"
        ),
        "serving": Command("waiting.serving", "a saved model: loading, one document, requests a second on one core"),
    },
    "Default": {
        "default": Command("topics.default", "the default on many kinds of collections: topics, scores, seconds"),
    },
    "Variational": {
        "starts": Command("variational.starts", "what each start gives: objective, topics, completion, seconds"),
        "any-start": Command("variational.any_start", "does the start matter: five starts, with births and without"),
        "bars": Command("variational.bars", "are the ten topics of toy bars found, and in which pass"),
        "moves": Command("variational.moves", "what each move, restart, schedule and start contributes: hours"),
        "schedules": Command("variational.schedules", "the stochastic schedule beside the memoized one"),
        "hyperparameters": Command("variational.hyperparameters", "each bound with each set of learned parameters"),
        "speed": Command("variational.speed", "seconds of a pass beside one of scikit-learn's batch LDA"),
        "threads": Command("variational.threads", "two threads beside one"),
        "local-cost": Command("variational.local_cost", "nanoseconds of the local step"),
        "memory": Command("variational.memory", "peak memory with many topics, words and batches"),
    },
    "Hybrid": {
        "hybrid-batches": Command("hybrid.batches", "beside gensim's HdpModel: minibatches and truncations"),
        "hybrid-families": Command("hybrid.families", "completion against processor seconds, beside the families"),
        "hybrid-peers": Command("hybrid.peers", "tokens a second beside tomotopy and gensim"),
        "hybrid-speed": Command("hybrid.speed", "nanoseconds of a token, sparse beside dense"),
        "hybrid-held-out": Command("hybrid.held_out", "what it predicts, by settings"),
        "hybrid-stream": Command("hybrid.stream", "rate and memory of a long stream"),
    },
    "Baselines": {
        "online": Command("baselines.online", "online methods of 2011 and 2012 beside gensim and the later families"),
        "hierarchies": Command("baselines.hierarchies", "Pachinko allocation and trees of topics beside tomotopy"),
    },
    "Samplers": {
        "twins": Command("samplers.twins", "do split-merge moves separate two topics that are hard to tell apart"),
        "agreement": Command("samplers.agreement", "do the representations agree, and what do shards change"),
        "bars-gibbs": Command("samplers.bars", "toy bars by Gibbs sampling, and with variational moves after it"),
        "split-merge": Command("samplers.split_merge", "log-likelihood against time with and without split-merge"),
        "sampler-settings": Command("samplers.settings", "which settings predict best"),
        "sampler-speed": Command("samplers.speed", "tokens a second and memory beside tomotopy"),
    },
    "LDA": {
        "lda-passes": Command("lda.passes", "nanoseconds of a token by the number of topics, beside tomotopy"),
        "lda-course": Command("lda.course", "completion after some seconds and after some passes, beside tomotopy"),
    },
    "Trees": {
        "tree-passes": Command("trees.passes", "seconds of a pass, by the number of leaves"),
        "tree-perplexity": Command("trees.perplexity", "perplexity and coherence beside LDA"),
        "tree-large": Command("trees.large", "100 million tokens and a million leaves: memory and seconds"),
    },
    "Large collections": {
        "large-count": Command("large.count", "texts to counts beside CountVectorizer"),
        "large-planted": Command("large.planted", "write a planted collection of 1.8 million documents", False),
        "large-workers": Command("large.workers", "a pass on one and two threads, one and two processes"),
        "large": Command("large.fits", "seconds, memory and completion of fits of large collections"),
    },
    "Vectors": {
        "vectors": Command("vectors.scores", "held-out score of image patches"),
        "vectors-peer": Command("vectors.peer", "seconds and score beside scikit-learn"),
        "vectors-peak": Command("vectors.peak", "share of the speed of matrix products that a pass reaches"),
        "vectors-memory": Command("vectors.memory", "peak memory of a memory-mapped collection"),
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
    parser.add_argument("--docs", type=Path, default=pages.DOCS, help="the folder of the pages")
    if hasattr(module, "write"):
        parser.add_argument("--write", action="store_true", help="write the generated parts of the pages")
    else:
        parser.add_argument(
            "--write", nargs="?", const=name, metavar="PART", help=f"write generated/PART.md of the pages ({name})"
        )
    return parser


def parse(words: Sequence[str]) -> tuple[ModuleType, argparse.Namespace]:
    """Return the module of a command line and its options; end if it names no command."""
    name, *rest = words
    if name not in COMMANDS:
        sys.exit(f"There is no benchmark {name!r}; python -m benchmarks --help lists them.")
    module = import_module(f"benchmarks.{COMMANDS[name].module}")
    return module, parser_of(name, module).parse_args(rest)


def parts(module: ModuleType, options: argparse.Namespace) -> tuple[str, ...]:
    """Return the names of the generated parts that a command line writes."""
    chosen = getattr(options, "write", None)
    if not chosen:
        return ()
    return module.PARTS if hasattr(module, "write") else (chosen,)


def main(words: Sequence[str]) -> int:
    """Run a command, print its Markdown, write its parts if that is wanted; return the exit code."""
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
    if parts(module, options):
        for path in write(module, options, text):
            sys.stderr.write(f"{path} written\n")
    return 0


def write(module: ModuleType, options: argparse.Namespace, text: str) -> list[Path]:
    """Write the parts of a command that has run, with where and with what it ran; return their files."""
    if hasattr(module, "write"):
        return module.write(options)
    return [pages.write(options.write, f"{setting([here()])}\n\n{text}", options.docs)]
