"""A chain whose documents stay where they are stored, and whose topics are in files: partially collapsed."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus.tokens import Tokens
from stickbreak.fitting.block_files import File, remove, write
from stickbreak.fitting.checkpoint import require
from stickbreak.initialization import Start
from stickbreak.numerics.arrays import Float, Int, Int32
from stickbreak.numerics.keys import key_of
from stickbreak.numerics.stirling import StirlingRatios
from stickbreak.sampling import visits
from stickbreak.sampling.blocks import JOBS_AT_ONCE, Blocks, Counted, Job, Labels, Moved, Task, Work, done, moved_of
from stickbreak.sampling.counts import labels_of
from stickbreak.sampling.direct import checked_weights, draw_weights
from stickbreak.sampling.in_memory import InMemory
from stickbreak.sampling.joint import TablePairs
from stickbreak.sampling.kernels import cells as kernels
from stickbreak.sampling.kernels.sides import Members
from stickbreak.sampling.kernels.subtopics import Pick
from stickbreak.sampling.labelled import LabelTables
from stickbreak.sampling.partially_collapsed import PartiallyCollapsed, draw_topics
from stickbreak.sampling.representation import Sweep
from stickbreak.sampling.requirements import RANDOM
from stickbreak.sampling.split_merge import Trials
from stickbreak.sampling.starts import DOCUMENT_ROUNDS, given_topics, random_start
from stickbreak.sampling.state import Concentrations, TopicCounts, WordTopics
from stickbreak.sampling.subtopics import Side, subtopic_trials, with_room
from stickbreak.storage.atomic import told_as_write_error

AHEAD = 1 << 20  # tokens of sub-topic trials that are gathered at once, unless a trial has more
PER_TOKEN, PER_PAIR = ("z",), ("topic", "n", "m")  # arrays of a checkpoint, beside size: an entry for each document


class InFiles:
    """`ChainState` of the partially collapsed representation, with the bits of that in memory.

    Parameters
    ----------
    blocks : Blocks
    """

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks
        self.n_words, self.n_tokens, self.lengths = blocks.n_words, blocks.n_tokens, blocks.lengths
        self._files: list[File | None] = [None] * len(blocks.blocks)
        self._labels = Labels.none(1)
        self._moved: Moved | None = None
        self._pairs: TablePairs
        self._beta: Float = np.ones(1)

    def begin(
        self, init: str | Start, n_topics: int, now: Concentrations, ratios: StirlingRatios, seed: int
    ) -> TopicCounts:
        """Take a start."""
        self._labels, self._moved = Labels.none(1), None
        for number in range(len(self._files)):
            self._replace(number, None)
        if isinstance(init, Start):
            beta, found = init.weights, np.zeros(init.weights.size, np.int64)
            rule = *given_topics(init, now, seed), DOCUMENT_ROUNDS
            for n in self.visit(visits.assigned, rule):
                found += n
        else:
            beta, found = self._drawn(random_start(seed), n_topics if init == RANDOM else 1)
        alive = np.flatnonzero(found)
        self._labels = Labels(beta.size, np.zeros(0, np.int32), labels_of(alive, beta.size))
        return self._with_tables(now.alpha * beta[alive], key_of(seed, 0, "tables"))

    def _drawn(self, rng: np.random.Generator, n_topics: int) -> tuple[Float, Int]:
        """Draw topics uniformly; return their weights and how many tokens each has."""
        found, stem = np.zeros(n_topics, np.int64), self._blocks.stem()
        for number, block in enumerate(self._blocks.blocks):
            z = rng.integers(n_topics, size=block.end - block.token, dtype=np.int32)
            found += np.bincount(z, minlength=n_topics)
            self._replace(number, write(f"{stem}-{number}", z))
        return np.full(n_topics, 1.0 / n_topics), found

    def sweep(self, counts: TopicCounts, sweep: Sweep) -> TopicCounts:
        """Draw the topics here, then on the workers the topic of every token and the tables."""
        sampled = draw_topics(counts.words, self._beta, sweep)
        keys = sweep.key("tokens"), sweep.key("tables")
        return self._count(visits.swept, (sampled, keys), counts.n_topics)

    def finish(self, counts: TopicCounts, now: Concentrations, rng: np.random.Generator) -> None:
        """Draw the corpus weights for the next sweep."""
        self._beta = draw_weights(counts, now.gamma, rng)

    def split_merge(self, counts: TopicCounts, sweep: Sweep, trials: int, scans: int) -> tuple[TopicCounts, Trials]:
        """Try to split and merge topics, by the tables of all documents, which are in memory for that time."""
        K, tokens = counts.n_topics, Tokens.from_corpus(self._blocks.source.load())
        here = InMemory(tokens, PartiallyCollapsed(tokens))
        here.restore({**self.arrays(), "beta": np.full(K + 1, 1.0 / (K + 1))}, K)
        found, made = here.split_merge(counts, sweep, trials, scans)
        if made.splits_accepted or made.merges_accepted:
            K = found.n_topics
            counts = self.restore({**here.arrays(), "beta": np.full(K + 1, 1.0 / (K + 1))}, K)
        return counts, made

    def subtopics(
        self, counts: TopicCounts, beta: Float, sweep: Sweep, trials: int, passes: int
    ) -> tuple[TopicCounts, Trials]:
        """Try to split topics into sub-topics and to merge topics: the tokens of those topics are read."""
        now, n_k, key = sweep.concentrations, with_room(counts, trials), int(sweep.key("sub-topics")) >> 1
        counts.words = roomy(counts.words, trials)
        _, beta, made = subtopic_trials(
            Gathered(self), self.n_tokens, counts, n_k, beta, now, trials=trials, passes=passes, key=key
        )
        if made.splits_accepted or made.merges_accepted:
            counts = self._with_tables(now.alpha * beta[:-1], sweep.key("tables of sub-topics"))
        return counts, made

    def pairs(self) -> TablePairs:
        """Return how often a topic of a document has n tokens at m tables."""
        return self._pairs

    def label_tables(self) -> LabelTables | None:
        """Return nothing: documents in files have no labels."""
        return None

    def topics(self) -> Int32:
        """Return the topic of each token, as an array that is read when it is used."""
        return self._listed(visits.topics, None, PER_TOKEN)["z"]

    def arrays(self) -> dict[str, NDArray]:
        """Return what the next sweeps depend on, as arrays that are read when they are used."""
        K = int(self._labels.label.max(initial=0)) + 1
        return {**self._listed(visits.packed_topics, K, ("size", *PER_TOKEN, *PER_PAIR)), "beta": self._beta}

    def _listed(self, work: Work, given: Any, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        """Return arrays that work finds in all blocks, one after another, as views of files that go with them."""
        stem = self._blocks.stem()
        paths = {name: f"{stem}-{name}" for name in names}
        with told_as_write_error(self._blocks.folder.path), contextlib.ExitStack() as files:
            handles = {name: files.enter_context(open(path, "wb")) for name, path in paths.items()}
            for part in self.visit(work, given):
                for name, array in part.items():
                    handles[name].write(np.ascontiguousarray(array, np.int32).data)
        found = {}
        for name, path in paths.items():
            found[name] = np.memmap(path, np.int32, "r") if os.path.getsize(path) else np.zeros(0, np.int32)
            with contextlib.suppress(OSError):  # where an open file can be removed; else it goes with the folder
                os.unlink(path)
        return found

    def restore(self, arrays: Mapping[str, NDArray], n_topics: int) -> TopicCounts:
        """Take up what `arrays` returned, block by block."""
        size, blocks, stem = arrays["size"], self._blocks.blocks, self._blocks.stem()
        require(arrays["z"].shape == (self.n_tokens,), "its topics of tokens do not fit")
        fits = size.shape == (self._blocks.n_documents,) and size.dtype == np.int32 and bool((size >= 0).all())
        require(fits, "its topics of documents do not fit")
        ends = np.concatenate(([0], np.cumsum(size, dtype=np.int64)))
        require(all(arrays[name].shape == (ends[-1],) for name in PER_PAIR), "its pairs do not fit")
        self._beta = checked_weights(arrays["beta"], n_topics)
        for number, block in enumerate(blocks):
            pairs = slice(ends[block.first], ends[block.last])
            part = {name: np.array(arrays[name][block.token : block.end]) for name in PER_TOKEN}
            part |= {name: np.array(arrays[name][pairs]) for name in PER_PAIR}
            part |= {"size": size[block.first : block.last], "beta": self._beta}
            stored = visits.checked(block.source.load(), part, n_topics)
            self._replace(number, write(f"{stem}-{number}", stored))
        self._labels, self._moved = Labels.none(n_topics), None
        counts = self._count(visits.counted, n_topics, n_topics)
        require(counts.n_topics == n_topics, "a topic has no token")
        return counts

    def visit(self, work: Work, given: Any = None) -> Iterator[Any]:
        """Do work with every block, by jobs; yield what is found, in order. To be exhausted."""
        blocks, labels, rewritten = self._blocks.blocks, self._labels, False
        task = Task(work, given, labels, 0 if self._moved is None else self._moved.topic)
        moved = moved_of(self._moved, blocks)
        for first in range(0, len(blocks), JOBS_AT_ONCE):
            numbers, stem = range(first, min(first + JOBS_AT_ONCE, len(blocks))), self._blocks.stem()
            jobs = [Job(blocks[b], self._files[b], moved[b], f"{stem}-{b}") for b in numbers]
            for b, (found, file) in zip(numbers, self._blocks.engine.run(done, jobs, task), strict=True):
                rewritten |= file != self._files[b]
                self._replace(b, file)
                yield found
        if rewritten:
            self._moved = None
            self._labels = Labels.none(max(int(labels.label.max(initial=0)), task.topic) + 1)

    def _replace(self, number: int, file: File | None) -> None:
        """Note the file of a block, and remove that in whose place it is."""
        old, self._files[number] = self._files[number], file
        if old != file:
            remove(old)

    def move(self, moved: Moved) -> None:
        """Give tokens another topic, as soon as their files are visited."""
        self._moved = moved

    def relabel(self, label: Int32) -> None:
        """Give topics new numbers, as soon as their files are visited."""
        self._labels = self._labels.then(label)

    def _with_tables(self, prior: Float, key: np.uint64) -> TopicCounts:
        """Draw the tables of all documents, given alpha beta_k (K,).                                   math.md (G5)"""
        return self._count(visits.tabled, (prior, key), prior.size)

    def _count(self, work: Work, given: Any, K: int) -> TopicCounts:
        """Do work that returns counts; give the topics that have tokens the numbers 0 .. K' - 1, and add up."""
        table = np.zeros((self.n_words, K), np.int32 if self.n_tokens < 2**31 else np.int64)
        parts: list[Counted] = []
        for part in self.visit(work, given):
            old = part.cells[1] < K
            kernels.add_cells(np.ascontiguousarray(part.cells[:, old]), table)
            cells = part.cells[:, ~old]
            cells[1] = part.new[cells[1] - K]
            parts.append(replace(part, cells=cells))
        new = np.unique(np.concatenate([part.new for part in parts]))
        n, m = np.zeros(K + new.size, np.int64), np.zeros(K + new.size, np.int64)
        for part in parts:
            place = np.concatenate((np.arange(K), K + np.searchsorted(new, part.new)))
            n[place] += part.n
            m[place] += part.m
        if new.size:
            cells = np.concatenate([part.cells for part in parts], axis=1)  # of new topics alone
            cells[1] = K + np.searchsorted(new, cells[1])
            table = np.concatenate((table, np.zeros((self.n_words, new.size), table.dtype)), axis=1)
            kernels.add_cells(np.ascontiguousarray(cells), table)
        self._pairs = TablePairs.together([part.pairs for part in parts])
        alive = np.flatnonzero(n)
        label = labels_of(alive, n.size)
        self._labels = Labels(K, new, label)
        return TopicCounts(alive.size, n[alive], m[alive], words_of(table, label))


def words_of(table: NDArray[np.integer], label: Int32) -> WordTopics:
    """Return the topics of each word from a table (W, numbers) and the new numbers."""
    size = np.zeros(table.shape[0], np.int32)
    kernels.count_entries(table, size)
    start = np.concatenate(([0], np.cumsum(size, dtype=np.int64)))
    words = WordTopics(start, size, np.zeros(start[-1], np.uint64))
    kernels.list_entries(table, label, words)
    return words


def roomy(words: WordTopics, room: int) -> WordTopics:
    """Return the topics of each word with room for some more."""
    shift = room * np.arange(words.start.size)
    entry = np.zeros(words.start[-1] + shift[-1], np.uint64)
    entry[np.arange(words.entry.size) + np.repeat(shift[:-1], words.size)] = words.entry
    return WordTopics(words.start + shift, words.size, entry)


class Gathered:
    """`TopicTokens` of documents in files: those of the topics of some trials, gathered in one visit.

    Parameters
    ----------
    state : InFiles
    """

    ahead = AHEAD

    def __init__(self, state: InFiles) -> None:
        self._state = state
        self._of: dict[int, list[tuple[Int, Int32, Int32]]] = {}  # tokens, their documents and words

    def gather(self, topics: Collection[int]) -> None:
        """Read the tokens of these topics."""
        wanted = np.array(sorted(topics), np.int32)
        self._of = {int(k): [] for k in wanted}
        for z, *columns in self._state.visit(visits.listed, wanted):
            edges = np.searchsorted(z, wanted), np.searchsorted(z, wanted, side="right")
            for k, a, b in zip(wanted.tolist(), *edges, strict=True):
                if a < b:
                    self._of[k].append(tuple(column[a:b] for column in columns))

    def members(self, picked: Pick) -> tuple[Members, Side]:
        """Return the tokens of the topics of a trial, and their sides."""
        columns = [self._column(int(picked.first))]
        if not picked.splits:
            columns.append(self._column(int(picked.second)))
        token, document, word = (np.concatenate(parts) for parts in zip(*columns, strict=True))
        side = np.zeros(token.size, np.int8)
        side[columns[0][0].size :] = 1
        order = np.argsort(token, kind="stable")
        token, document, word, side = token[order], document[order], word[order], side[order]
        begins = np.flatnonzero(np.diff(document, prepend=-1))
        bound = np.append(begins, token.size)
        return Members(token, word.astype(np.int64), bound, np.zeros(begins.size, np.bool_)), side

    def _column(self, k: int) -> list[NDArray[Any]]:
        return [np.concatenate(parts) for parts in zip(*self._of[k], strict=True)]

    def split(self, members: Members, side: Side, k: int, new: int) -> None:
        """Give side 1 of topic k the number `new`."""
        self._state.move(Moved(members.token[side == 1], new))

    def merge(self, label: Int32) -> None:
        """Give the topics new numbers."""
        self._state.relabel(label)
