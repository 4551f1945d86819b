"""How many topics a fit has: trials of more say, or topics that are alike become one (math.md (C26) to (C28)).

Words of documents stand beside words of all their topics, so that co-occurrence may show fewer topics than there are.
Its corners are rough topics all the same, and Gibbs sampling forms them. Documents that are set apart say whether more
of them, or fewer, predict better. The passes of a fit do this, one by one, and mostly all of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stickbreak.collapsed.alike import fewer
from stickbreak.collapsed.aside import halved
from stickbreak.collapsed.companions import Companions, are_shown, dimensions_of, enough_dimensions, n_corners
from stickbreak.collapsed.growing import taking_part
from stickbreak.collapsed.plans import APART, OF_VAGUE, Plan, may_form, plan_of
from stickbreak.collapsed.predictive import is_due
from stickbreak.collapsed.requirements import check_formed
from stickbreak.collapsed.rules import Rules
from stickbreak.collapsed.shards import Shard
from stickbreak.collapsed.trial import Trial
from stickbreak.collapsed.walking import Documents
from stickbreak.corpus import Corpus
from stickbreak.fitting.checkpoint import is_table, require, whole_number
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.laps import Packed
from stickbreak.numerics.arrays import Float, Int
from stickbreak.numerics.pseudo_counts import total_of

MOST_TOKENS = 1 << 25  # of a collection, each of which has a topic
JUDGES = 20  # documents set apart, at least
QUIET = 2  # rounds in a row without a merge, after which there are no more
SURE, FEW = 1 << 14, 200  # stored counts of theirs that say which number of topics is better, and documents, at least
ENOUGH = 1 << 13  # stored counts of theirs that say what alpha is
ROOM = 1.25  # dimensions for each of the topics of long documents
PART = 1 << 18  # tokens of a part, at least: threads sweep these


@dataclass(frozen=True, slots=True)
class Compared:
    """A trial, and the log probability of the tokens held out of each document that is set apart."""

    trial: Trial
    scores: Float  # (D',)


class Forming:
    """Passes that form topics of the words beside as many words as predict best.           math.md (C26) to (C28)

    Parameters
    ----------
    documents : Documents
        Those that are set apart have no part in the topics, and judge them.
    rules : Rules
    engine : Engine
    """

    trial: Trial  # the one that passes go on with

    def __init__(self, documents: Documents, rules: Rules, engine: Engine) -> None:
        self._documents, self._rules, self._engine = documents, rules, engine
        self._corpus = documents.chosen(taking_part(documents, engine))
        self._found: Companions | None = None  # what was looked at last
        self._dimensions = 0  # of it
        self._numbers: list[int] = []  # topics of the trials, in their order
        self._n_judged = 0  # trials that have been compared
        self._n_quiet = 0  # rounds in a row, the last ones, that merged no topics
        self.n_merged = 0  # topics that became part of others after the last pass
        self.has_all = False  # whether documents set apart take part, too
        self._best: Compared | None = None
        self._follow(plan_of(documents, rules))

    def _follow(self, plan: Plan) -> None:
        """Let topics form by this plan, of which no pass has been made."""
        self._plan = plan
        self._halves: list[list[Shard]] | None = None  # of the documents set apart, in some ways, once they are asked

    @property
    def _judges(self) -> list[list[Shard]]:
        """Documents that are set apart, halved in some ways."""
        if self._halves is None:
            seeds = range(self._rules.seed, self._rules.seed + self._plan.halvings)
            ways = [self._documents.walk(self._engine, halved, seed).listed for seed in seeds]
            self._halves = [_some_of(list(shards), SURE, FEW) for shards in ways]
        return self._halves

    @classmethod
    def of(cls, documents: Documents, rules: Rules, engine: Engine) -> Forming | None:
        """Return what forms the topics of some documents, before its first pass.

        None where documents are few or very many, too few are set apart, counts are weights, or some topics are given;
        of short documents also where a fit asks for expected shares, or learns more than alpha.
        """
        if not may_form(documents, rules):
            return None
        forming = cls(documents, rules, engine)
        return forming if forming._is_suited() and forming._begin() else None

    def _is_suited(self) -> bool:
        """Return whether there are judges, and the tokens can have a topic each."""
        n_judges = self._documents.n_documents - self._corpus.n_documents
        corpus = self._all if self._plan.joins else self._corpus
        return n_judges >= JUDGES and corpus.n_tokens <= MOST_TOKENS and not (corpus.counts.data % 1.0).any()

    @property
    def _all(self) -> Corpus:
        """All documents."""
        return self._documents.chosen(np.arange(self._documents.n_documents))

    def _begin(self) -> bool:
        """Begin the first trial; return whether words show topics to begin with."""
        found = self._companions(0)
        if found is None:
            return False
        if self._plan.tries and not are_shown(found, self._documents.n_documents):
            self._follow(OF_VAGUE)
            found = self._companions(0)
            if found is None or not self._is_suited():  # all documents take part later
                return False
        most = min(self._many, found.n_words, n_corners(self._dimensions_for(self._many)))
        self._numbers = self._plan.numbers(min(found.n_shown, self._rules.max_topics), most)
        check_formed(self._documents.n_words, self._numbers[0])
        self.trial, self._n_judged = self._begun(), 0 if self._plan.tries else 1
        return True

    @property
    def _many(self) -> int:
        return min(self._plan.most(self._documents.n_documents, self._documents.n_counts), self._rules.max_topics)

    def _dimensions_for(self, n_topics: int) -> int:
        """Return in how many dimensions words are seen where a trial has this number of topics."""
        if not self._plan.tries:
            return round(ROOM * self._many)
        least = dimensions_of(self._documents.n_documents)
        return enough_dimensions(least, n_topics) if self._plan.widens else least

    def _companions(self, n_topics: int) -> Companions | None:
        """Return what stands beside the words of the documents; None where no word is in enough of them."""
        dimensions = self._dimensions_for(n_topics)
        if self._found is None or self._dimensions != dimensions:
            self._found = Companions.of(self._documents, dimensions, self._rules.seed, self._engine)
            self._dimensions = dimensions
        return self._found

    @property
    def is_over(self) -> bool:
        """Whether the topics are formed, and other passes follow."""
        return self.n_left == 0

    @property
    def lasts(self) -> bool:
        """Whether all passes of the fit are of this kind."""
        return self._plan.lasts

    @property
    def is_early(self) -> bool:
        """Whether topics have yet to form, so that the fit does not end by itself."""
        waits = self._plan.joins and not self.has_all
        return not self.lasts or self.is_trying or waits or self.trial.passes < self._plan.settled

    @property
    def is_trying(self) -> bool:
        """Whether another number of topics is to be tried, or is being tried."""
        return self._n_judged < len(self._numbers)

    @property
    def _is_merging(self) -> bool:
        """Whether topics that are alike may yet become one."""
        return self._n_quiet < QUIET and self.trial.passes < max(self._plan.merging, default=0)

    @property
    def last_merging(self) -> int:
        """The last pass after which topics that are alike may yet become one; 0 where they may not."""
        return self._plan.merging[-1] if self._is_merging else 0

    @property
    def is_full(self) -> bool:
        """Whether a larger number of topics was not tried because there may not be more."""
        if not self._plan.tries:
            return self.trial.weights.size >= self._rules.max_topics
        return not self.is_trying and APART * self._numbers[-1] > self._rules.max_topics

    @property
    def best(self) -> Trial:
        """The trial that predicted best, or the first one while it goes on."""
        return self.trial if self._best is None else self._best.trial

    @property
    def n_left(self) -> int | None:
        """Passes that are left; None: all."""
        return None if self._plan.forming is None else self._plan.forming - self.trial.passes

    def go_on(self) -> None:
        """Make a pass."""
        if self._plan.joins and not self.is_trying and not self._is_merging and not self.has_all:
            self._join()
        self.n_merged = 0
        self.trial.go_on()
        if self._judges_alpha and is_due(self.trial.passes):
            self.trial.judge_alpha(_some_of(self._judges[0], ENOUGH), self._rules.seed, self._engine)
        if self.is_trying and self.trial.passes == self._plan.passes:
            self._compare()
        if self._n_quiet < QUIET and self.trial.passes in self._plan.merging:
            self._merge()

    @property
    def _judges_alpha(self) -> bool:
        """Whether documents that are set apart say what alpha is."""
        return self._plan.judges_alpha and "alpha" in self._rules.learn

    def _begun(self) -> Trial:
        """Begin the next trial."""
        n_topics = self._numbers[self._n_judged]
        found = self._companions(n_topics)
        assert found is not None
        topics = found.topics(n_topics, self._rules.priors.eta)
        return self._trial_of(len(topics)).begin(topics)

    def _trial_of(self, n_topics: int) -> Trial:
        corpus = self._all if self.has_all else self._corpus
        n_parts = min(max(1, int(corpus.n_tokens) // PART), self._plan.parts)
        given = corpus, n_topics, self._rules.priors, self._rules.seed, n_parts, self._engine
        return Trial(*given, keeps_alpha=self._plan.judges_alpha or (self.lasts and "alpha" not in self._rules.learn))

    def _compare(self) -> None:
        """Let the documents set apart say whether this trial is better than the best of those before."""
        scores = [self.trial.scores(judges, self._rules.seed, self._engine) for judges in self._judges]
        now, best = Compared(self.trial, np.mean(scores, axis=0)), self._best
        is_better = best is None or float((now.scores - best.scores).sum()) > 0
        if is_better:
            self._n_judged += 1
        else:
            self._numbers = self._numbers[: self._n_judged]  # the last one is taken
        self._best = best = now if is_better or best is None else best
        if self._n_judged < len(self._numbers):
            self.trial = self._begun()
        else:
            self.trial, self._best, self._found = best.trial, None, None

    def _merge(self) -> None:
        """Let topics that are alike become one as far as documents set apart are predicted better.     math.md (C28)"""
        trial, kept, found = self.trial, self.trial.in_use, self._fewer()
        self._n_quiet = 0 if found is not None else self._n_quiet + 1
        if found is not None:
            part_of, K = np.full(trial.weights.size, -1), int(found.max()) + 1
            part_of[kept] = found
            self.trial, self.n_merged = self._trial_of(K).begin_with(trial, part_of), kept.size - K

    def _fewer(self) -> Int | None:
        """Return which of fewer topics each topic in use becomes part of; None where there should not be fewer."""
        judges, n_words = self.trial.judged_by(self._judges, self._engine), self._documents.n_words
        before = judges.scores(np.arange(self.trial.n_topics))
        eta = total_of(self._rules.priors.eta, n_words) / n_words
        return fewer(self.trial.in_topics(eta), lambda part_of: judges.scores(part_of) - before)

    def _join(self) -> None:
        """Let all documents take part, with the topics that were taken."""
        took_part = np.zeros(self._documents.n_documents, np.bool_)
        took_part[taking_part(self._documents, self._engine)] = True
        self.has_all = True
        self.trial = self._trial_of(self.trial.weights.size).begin_among(self.trial, took_part)

    def packed(self) -> Packed:
        """Return what the next passes depend on, as arrays and plain values."""
        arrays, values = _named("trial", self.trial.packed())
        if self._best is not None:
            more, plain = _named("best", self._best.trial.packed())
            arrays, values = {**arrays, **more, "best.scores": self._best.scores}, {**values, **plain}
        own = {"n_judged": self._n_judged, "numbers": list(self._numbers), "has_all": self.has_all}
        own |= {"n_quiet": self._n_quiet, "is_vague": self._plan is OF_VAGUE}
        return arrays, {**values, **own}

    def restore(self, arrays: Mapping[str, NDArray], values: Mapping[str, Any]) -> None:
        """Take up what `packed` returned.

        Raises
        ------
        KeyError, ValueError
            If it cannot be of these documents.
        """
        self._n_judged, numbers = whole_number("n_judged", values["n_judged"]), values["numbers"]
        require(isinstance(numbers, list) and bool(numbers), "it has no trials")
        self._numbers = [whole_number("number of topics", n) for n in numbers]
        most, ordered = self._rules.max_topics, sorted(set(self._numbers)) == self._numbers
        require(ordered and all(1 <= n <= most for n in self._numbers), "the topics of its trials cannot be")
        require(self._n_judged <= len(numbers), "it has compared too many trials")
        if values.get("is_vague", False):  # checkpoints of before do not say it, nor what follows
            require(self._plan.tries, "words show the topics of these documents")
            self._follow(OF_VAGUE)
        self.has_all = values.get("has_all", False)
        require(
            not self._plan.merging or "n_quiet" in values, "it is of an older version, whose topics formed otherwise"
        )
        self._n_quiet = whole_number("n_quiet", values.get("n_quiet", 0))
        require(self._n_quiet <= QUIET * bool(self._plan.merging), "it has other rounds of merges than it can have")
        require(self.has_all in (False, self._plan.joins and not self.is_trying), "its documents cannot take part")
        suited = may_form(self._documents, self._rules) and self._is_suited()
        require(suited, "Gibbs sampling forms no topics of these documents")
        self.trial, self._best = self._restored("trial", arrays, values), None
        least, last = self._bounds
        require(least <= self.trial.passes <= last, "its trial has made other passes than it can have")
        if 0 < self._n_judged < len(numbers):
            before, n_apart = arrays["best.scores"], sum(shard.indptr.size - 1 for shard in self._judges[0])
            require(is_table(before, n_apart), "the scores of its trial are not those of its documents")
            self._best = Compared(self._restored("best", arrays, values), before.copy())
            require(
                self._best.trial.passes == self._plan.passes, "its best trial has made other passes than it can have"
            )

    @property
    def _bounds(self) -> tuple[float, float]:
        """Passes that the present trial has made, at least and at most."""
        of_trial, merging = self._plan.passes, self._plan.merging
        if self.is_trying:
            return 0, of_trial - 1
        last = merging[-1] if merging else of_trial
        over = merging[QUIET - 1] if self._n_quiet == QUIET else last  # no more topics become one then, at the soonest
        if self.has_all:
            return over + 1, math.inf
        first = over if self._n_quiet == QUIET or not merging else 0
        return first, min(last if self._plan.joins else math.inf, self._plan.forming or math.inf)

    def _restored(self, name: str, arrays: Mapping[str, NDArray], values: Mapping[str, Any]) -> Trial:
        """Return a trial that was saved."""
        own, plain = _of_name(name, arrays), _of_name(name, values)
        n_topics = own["a"].size
        require(1 <= n_topics <= max(self._numbers), "it has trials of more topics than there can be")
        return self._trial_of(n_topics).restore(own, plain)


def _some_of(shards: list[Shard], n_counts: int, n_documents: int = 1) -> list[Shard]:
    """Return shards at equal steps, with about as many stored counts and documents or more; all if there are less."""
    counts, documents = sum(shard.word.size for shard in shards), sum(shard.indptr.size - 1 for shard in shards)
    return shards[:: max(1, min(counts // n_counts, documents // n_documents))]


def _named(name: str, packed: Packed) -> Packed:
    """Return what is packed under names that begin with this one."""
    arrays, values = packed
    return {f"{name}.{key}": part for key, part in arrays.items()}, {f"{name}.{k}": v for k, v in values.items()}


def _of_name(name: str, packed: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is packed under names that begin with this one."""
    return {key.removeprefix(f"{name}."): part for key, part in packed.items() if key.startswith(f"{name}.")}
