"""A fit whose tree is learned: topics of `TopicModel` are joined to a first tree, whose shape moves between passes."""

from __future__ import annotations

import signal
from typing import Any

import numpy as np

from stickbreak.backoff_tree.document_blocks import BlockJob, DocumentBlocks
from stickbreak.backoff_tree.laps import TreeLaps, TreeSettings
from stickbreak.backoff_tree.moves import (
    Groups,
    LeafSequences,
    ShapeSearch,
    groups_of,
    levels_of,
    shape_of_groups,
)
from stickbreak.backoff_tree.sampler import learn, leaves_of_documents, leaves_of_words
from stickbreak.corpus import Corpus
from stickbreak.corpus.tokens import written_out
from stickbreak.exceptions import InputError
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.loop import Callback, Stop
from stickbreak.numerics.arrays import Float, Int32
from stickbreak.numerics.streams import stream, stream_at
from stickbreak.storage.places import PathLike
from stickbreak.topics.estimator import TopicModel

CHEAPER = 10.0  # a join becomes a node if it costs at most a tenth of what the node above it costs
SAMPLE = 100_000  # tokens of documents, and of words, that judge shapes, about
DRAWN = 1 << 22  # weights of topics in tokens that are held at once


def groups_of_joins(linkage: Float, cheaper: float = CHEAPER) -> Groups:
    """Return the groups of topics that joins make: those that cost much less than the group above.  docs/math (T18)

    `linkage` (K - 1, 4): joins as `TopicPath.linkage` returns them.
    """
    K = len(linkage) + 1
    members: list[frozenset[int]] = [frozenset([k]) for k in range(K)]
    for a, b in linkage[:, :2].astype(int).tolist():
        members.append(members[a] | members[b])
    found, waiting = set(), [(2 * K - 2, float(linkage[-1, 2]))]
    while waiting:
        node, price = waiting.pop()
        for child in linkage[node - K, :2].astype(int).tolist():
            if child >= K:
                own = float(linkage[child - K, 2])
                if own * cheaper <= price:
                    found.add(members[child])
                waiting.append((child, own if own * cheaper <= price else price))
    return frozenset(found)


def first_topics(flat: TopicModel, job: BlockJob, rng: np.random.Generator) -> Int32:
    """Draw a topic for each token of a block, given its word and its document."""
    documents = job.documents.load()
    start, word = written_out(documents)
    weights, of_words = flat.active_weights(documents), np.ascontiguousarray(flat.topic_word_.T)
    document, z = np.repeat(np.arange(start.size - 1), np.diff(start)), np.empty(word.size, np.int32)
    size = max(1, DRAWN // flat.n_topics_)
    for begin in range(0, word.size, size):
        part = slice(begin, begin + size)
        sums = np.cumsum(weights[document[part]] * of_words[word[part]], axis=1)
        z[part] = (sums < rng.random((len(sums), 1)) * sums[:, -1:]).sum(axis=1)
    return z


class LearnedTreeLaps(TreeLaps):
    """A sampler whose tree changes its shape."""

    def __init__(
        self,
        corpus: Corpus,
        blocks: DocumentBlocks,
        settings: TreeSettings,
        seed: int,
        engine: Engine,
        scratch: PathLike | None,
    ) -> None:
        super().__init__(blocks, settings, seed, engine)
        self._corpus, self._scratch = corpus, scratch

    def begin(self, report: Callback, stop: Stop) -> None:
        """Find topics and join them: the first tree, and a first leaf of each token."""
        sampler = self.sampler

        def tell(event: dict[str, Any]) -> None:
            if "lap" in event:
                report({"stage": "init", "done": event["lap"], "total": event["n_laps"]})

        flat = TopicModel(random_state=sampler.seed, n_jobs=self._engine.n_threads, scratch=self._scratch)
        flat.fit(self._corpus, callback=tell)
        if flat.n_topics_ < 2:
            raise InputError(
                "the documents have 1 topic, but a tree has 2 leaves or more; give branching in another way."
            )
        groups = groups_of_joins(flat.find_path(self._corpus).linkage())
        if flat.stop_reason_.startswith("interrupted"):
            signal.raise_signal(signal.SIGINT)  # the fit of the tree ends, too
            stop()
        rng = stream(sampler.seed, "first leaves")
        sampler.blocks.put(first_topics(flat, job, rng) for job in sampler.blocks.jobs())
        shape, to = shape_of_groups(groups, flat.n_topics_)
        sampler.reshape(
            shape,
            to,
            *(np.full(shape.depth, delta.sum() / shape.depth) for delta in (sampler.delta_doc, sampler.delta_word)),
        )
        sampler.settled = True

    def _reshape(self) -> bool:
        """Make moves of the shape that raise the likelihood of the leaves.                           docs/math (T18)

        A level more is kept if they are more likely with it, by the discounts that are learned for it.
        """
        sampler, search_number = self.sampler, self.sampler.n_passes // self.settings.learn_every
        if not sampler.settled or search_number & (search_number - 1):  # ever more seldom: 0, 1, 2, 4, 8, ...
            return False
        rng = stream_at(sampler.seed, "moves of the shape", sampler.n_passes)
        before, former = sampler.shape.branching, (sampler.delta_doc, sampler.delta_word)
        search = self._search(*former, rng)
        search.move_nodes(rng)
        more = [with_a_level_more(delta) for delta in former]
        deeper = search.with_discounts(search.groups, *more)
        deeper.move_nodes(rng)
        if max(levels_of(deeper.groups).values(), default=0) < sampler.shape.depth:
            self._take_shape(search.groups, *former)
            return sampler.shape.branching != before
        to, likelihood = self._take_shape(deeper.groups, *more), dict(self._likelihood)
        for name in self.settings.learn:
            self._likelihood[name] = learn(sampler, name, self._engine)
        trial = self._search(sampler.delta_doc, sampler.delta_word, rng)
        trial.cut_nodes(rng)
        shallow = frozenset(frozenset(to[list(group)].tolist()) for group in search.groups)
        search = trial.with_discounts(shallow, *former)
        if search.objective < trial.objective:
            self._take_shape(trial.groups, sampler.delta_doc, sampler.delta_word)
        else:
            self._take_shape(search.groups, *former)
            self._likelihood = likelihood
        return sampler.shape.branching != before

    def _search(self, delta_doc: Float, delta_word: Float, rng: np.random.Generator) -> ShapeSearch:
        """Return the shape as it is, to be judged by a sample of the tokens."""
        sampler, engine = self.sampler, self._engine
        start, leaf = leaves_of_documents(sampler.blocks, SAMPLE, rng)
        word, leaf_of_word = leaves_of_words(*sampler.counts(engine), SAMPLE, rng)
        start_of_word = np.concatenate(([0], np.cumsum(np.bincount(word))))
        documents = LeafSequences.of(start, leaf, np.ones(sampler.shape.n_leaves), delta_doc, rng)
        words = LeafSequences.of(start_of_word, leaf_of_word, sampler.marginal(engine), delta_word, rng)
        return ShapeSearch(groups_of(sampler.shape), (documents, words))

    def _take_shape(self, groups: Groups, delta_doc: Float, delta_word: Float) -> Int32:
        """Take a shape, and the discounts of its levels; return the leaf there of each leaf before, (L,)."""
        shape, to = shape_of_groups(groups, self.sampler.shape.n_leaves)
        self.sampler.reshape(shape, to, delta_doc[: shape.depth].copy(), delta_word[: shape.depth].copy())
        return to


def with_a_level_more(delta: Float) -> Float:
    """Return discounts in which the last level shares its own with one more below.                  docs/math (T18)"""
    return np.append(delta[:-1], (delta[-1] / 2, delta[-1] / 2))
