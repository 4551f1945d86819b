"""The laps of a fit, as its run sees them: sweeps, learning, moves, checkpoints."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stickbreak.collapsed.cvb0 import add_up, given_start, sweep, with_random_topics
from stickbreak.collapsed.growing import grown
from stickbreak.collapsed.learning import FIRST_LAP, learn
from stickbreak.collapsed.moves import Made, Rounds
from stickbreak.collapsed.origins import ORIGINS
from stickbreak.collapsed.predictive import JUDGED, is_due, learn_drawn, says_alpha
from stickbreak.collapsed.rules import Rules
from stickbreak.collapsed.sampled import Ending, checked_weights, documents_apart, priors_from, rejoin
from stickbreak.collapsed.sampled_start import try_sampled_start
from stickbreak.collapsed.second_start import second_start_due, try_second_start
from stickbreak.collapsed.shards import ONE_DRAW, Aside
from stickbreak.collapsed.short_start import topics_of_short
from stickbreak.collapsed.state import CollapsedState, Priors, assembled
from stickbreak.collapsed.streaming import StepRules, Topics, joined
from stickbreak.collapsed.trial import Trial
from stickbreak.collapsed.trials import Forming
from stickbreak.collapsed.walking import Documents
from stickbreak.fitting.checkpoint import require, whole_number
from stickbreak.fitting.engine import Engine
from stickbreak.fitting.hyperparameters import opened
from stickbreak.fitting.laps import Callback, Lap, Packed, Stop
from stickbreak.fitting.loop import logger
from stickbreak.numerics.arrays import Float

JOIN = 3  # sweeps over documents that join topics which stay


class CollapsedLaps:
    """Sweeps over a collection: `run_fit` drives them.

    Gibbs sampling forms topics first, and mostly makes all passes. Else passes with rounds of moves come next, judged
    by tokens that are held out; then the last passes, with expected or sampled topics of each token.

    Parameters
    ----------
    documents : Documents
    rules : Rules
    engine : Engine
    """

    window = 10  # shares are rounded at random, so that the objective of one lap is noisy

    def __init__(self, documents: Documents, rules: Rules, engine: Engine) -> None:
        self.rules, self.priors = rules, rules.priors
        self.state: CollapsedState  # from the first sweep on
        self.forming: Forming | None = None  # before it, or in its place
        self._formed = 0  # passes that formed topics
        self.rounds = Rounds(rules.merge_laps, rules.births)
        self.ending = Ending(rules.final_passes)
        self.origin = "asked"  # where the topics come from, a key of ORIGINS
        self._documents, self._engine = documents, engine

    @property
    def columns(self) -> Collection[str]:
        """Columns of a trace of these laps, beyond those of every trace."""
        return columns_of(self.rules.priors)

    def begin(self, report: Callback, stop: Stop) -> None:
        """Put every stored count in topics: as given, as samples of the documents lead to, or at random.

        Where Gibbs sampling forms topics, laps do it.
        """
        counts, growing = self.rules.given, self._grows
        if growing:
            self._set_apart()
            self.forming = Forming.of(self._documents, self.rules, self._engine)
            if self.forming is not None:
                self.origin = "companions"
                return
            counts = self._rough_topics()
            if counts is None:
                counts = self._grown_topics(report, stop)
        drawn = growing and self.ending.kind == "sampled" and self.rounds.end == 0
        self._begin_with(counts, ONE_DRAW if drawn else self.rules.smallest)

    @property
    def _grows(self) -> bool:
        """Whether the number of topics is to be found."""
        return self.rules.given is None and self.rules.births and self.rules.merge_laps > 0

    def _set_apart(self) -> None:
        """Set documents apart, which judge the topics of the others."""
        self._documents.set_aside(Aside(apart=self.rules.apart, apart_seed=self.rules.seed), self._engine)

    def _begin_with(self, counts: Float | None, smallest: float) -> None:
        """Put every stored count in the topics that have its word; in random ones if there are none."""
        rules = self.rules
        if counts is None:
            self.state = with_random_topics(self._documents, rules.n_topics, rules.seed, self._engine, rules.steering)
        else:
            given = self._documents, counts, smallest, rules.seed, self._engine, rules.steering
            self.state = given_start(*given)
        self._hold_back()

    def _rough_topics(self) -> Float | None:
        """Return many topics of words beside a word, over which there are sampled passes alone; None if not due."""
        rules, counts = self.rules, topics_of_short(self._documents, self.rules, self._engine)
        if counts is not None:
            judged = rules.apart > 0 and "alpha" in rules.learn and says_alpha(self._documents)
            self.rounds.end, self.ending, self.origin = 0, Ending("sampled", JUDGED if judged else 0), "companions"
        return counts

    def _grown_topics(self, report: Callback, stop: Stop) -> Float | None:
        """Return the topics that samples of the documents lead to; None where there are too few documents."""
        found = grown(self._documents, self.rules, self._engine, report, stop)
        if found is None:
            return None
        if found.settled:
            self.rounds.end, self.priors = 0, found.priors
        if found.drawn:
            self.ending = Ending("sampled")
        return found.counts

    def laps(self, done: int) -> Iterator[Lap]:
        """Yield after every pass that forms topics, and after every sweep."""
        if self.forming is not None and self._engine.workers is not None:
            self._tell_of_idle_workers(self.forming)
        while self.forming is not None:
            if not self.forming.is_over:
                yield self._form(self.forming)
                continue
            counts, self.forming = self.forming.best.topics(), None
            self._begin_with(counts, self.rules.smallest)
        state, rules, engine = self.state, self.rules, self._engine
        while True:
            moving, made = state.n_sweeps < self.rounds.end, Made()
            if not moving:
                self.priors = self.ending.before(state, self.priors, rules.seed, engine)
                if self.ending.tried is not None:
                    lengths = state.documents.lengths(engine)
                    found = try_sampled_start(state, self.priors, self.ending, rules, lengths, engine)
                    self.priors = found or self.priors
                    self.origin = self.origin if found is None else "sampled"
                self.ending.join(state, engine)
            lengths = state.documents.lengths(engine)
            smallest = rules.smallest if moving else self.ending.smallest(rules.smallest)
            sweep(state, self.priors, smallest, rules.seed, engine)
            self._learn(lengths, moving=moving)
            if self.rounds.due(state.n_sweeps):
                made = self.rounds.play(state, self.priors, rules.max_topics, rules.held_back, rules.seed, engine)
            if state.n_sweeps == self.rounds.end:
                self._start_again(lengths, made)
            if not moving:
                self.ending.after(state)
            columns = columns_of(self.priors, made)
            yield Lap(state.log_p / (float(lengths.sum()) or 1.0), state.shown().size, self._early(), columns)

    def _tell_of_idle_workers(self, forming: Forming) -> None:
        """Log that topics form without the workers of a cluster."""
        logger.warning(
            "the workers of the cluster have no part in %s: topics of a collection of this size form in the threads of "
            "this process (n_jobs, --jobs)",
            "this fit" if forming.lasts else "the passes that form topics",
        )

    def _form(self, forming: Forming) -> Lap:
        """Form topics in a pass of Gibbs sampling.                                                    math.md (C26)"""
        forming.go_on()
        self._formed += 1
        best, made = forming.best, Made(forming.n_merged, forming.n_merged)
        return Lap(best.objective, best.n_topics, forming.is_early, columns_of(self._priors_of(best), made))

    def _priors_of(self, trial: Trial) -> Priors:
        """Return the priors of a trial: alpha as it was learned there, if it is learned."""
        return trial.priors if "alpha" in self.rules.learn else self.rules.priors

    def _learn(self, lengths: Float, *, moving: bool) -> None:
        """Learn the hyperparameters after a pass.                                    math.md (C5), (C6), (C7), (C24)"""
        state, rules, ending, engine = self.state, self.rules, self.ending, self._engine
        if moving or ending.kind == "expected":
            self.priors = learn(state, self.priors, rules.learn, lengths)
            return
        judges = None
        if self._is_judged():
            due = ending.keeps_apart and is_due(ending.passes + 1)
            judges = documents_apart(state, rules.seed, engine) if due else []
        given = rules, ending.passes + 1, judges, lengths, rules.seed, engine
        self.priors = learn_drawn(state, self.priors, *given)

    def _is_judged(self) -> bool:
        """Return whether documents set apart say what alpha of sampled passes is, in the first of them or before."""
        rules = self.rules
        sampled = rules.births and rules.merge_laps > 0 and self.rounds.end == 0
        judged = rules.final_passes == "auto" or sampled
        return rules.apart > 0 and judged and says_alpha(self.state.documents)

    def _start_again(self, lengths: Float, made: Made) -> None:
        """Try a second start after the last round, where splits have led to few topics."""
        rules, state = self.rules, self.state
        if second_start_due(state, rules, self._engine):
            found = try_second_start(state, self.priors, rules, lengths, self._engine)
            made.birth_tried += 1
            if found is not None:
                self.priors, self.origin = found, "second"
                made.birth_accepted += 1

    def _early(self) -> bool:
        """Return whether topics come and go, or what is learned has to settle."""
        lap, end = self.state.n_sweeps, self.rounds.end
        return lap <= max(end + 1, FIRST_LAP) or self.ending.early(self.window)

    def _hold_back(self) -> None:
        """Take tokens out that decide about moves and about the last passes."""
        lap, end, rules = self.state.n_sweeps, self.rounds.end, self.rules
        aside = Aside()
        if (end and self.ending.undecided) or 0 < self.ending.judged >= self.ending.passes:
            aside = replace(aside, apart=rules.apart, apart_seed=rules.seed)
        if end and (lap <= end or self.ending.undecided):  # they come back before the next pass
            aside = replace(aside, held=rules.held_back, held_seed=rules.seed, turn=self.rounds.turn(lap))
        self.state.set_aside(aside, self._engine)

    @property
    def are_sampled(self) -> bool:
        """Whether each token had one topic in the last passes."""
        return self.ending.sampled or (self.forming is not None and self.forming.lasts)

    def finish(self) -> Topics:
        """Return the topics with the counts of all tokens, summed again: those that any fit with these shares has."""
        if self.forming is not None:
            return self._finish_formed(self.forming)
        state, engine = self.state, self._engine
        self.priors = self.ending.leave(state, self.priors, engine)
        add_up(state, engine)
        self.ending.average(state)
        shown = state.shown()
        if state.documents.aside.held:
            rejoin(state, engine)
            add_up(state, engine)
        return Topics.of(state, shown, self.priors, state.documents.lengths(engine))

    def _finish_formed(self, forming: Forming) -> Topics:
        """Return the topics that Gibbs sampling formed, the mean of its passes; documents that are set apart join."""
        (counts, tables), rules, engine = forming.best.counts(), self.rules, self._engine
        self.priors = priors = self._priors_of(forming.best)
        if forming.has_all:
            self._documents.set_aside(Aside(), engine)
        lengths = self._documents.lengths(engine)
        topics = Topics(counts, 1.0, counts.sum(axis=0), tables, opened(priors.alpha, lengths))
        apart = self._documents.chosen(np.flatnonzero(lengths == 0.0))
        return joined(topics, apart, priors, StepRules(rules.smallest, JOIN, (), rules.seed), engine)

    def left_over(self) -> str:
        """Say what more topics or more passes would do, of a fit that has all it may have or ends early."""
        forming = self.forming
        if forming is not None and forming.lasts:
            if forming.is_trying:
                return " More topics were not tried yet: more passes may change their number."
            if forming.last_merging:
                return (
                    f" Topics that are alike become one until pass {forming.last_merging} at most: more passes may "
                    "change their number."
                )
            return self._told_full(self.rules.max_topics if forming.is_full else 0)
        if forming is not None and forming.is_over:
            return " Topics have formed; next they are split and merged: more passes may change their number."
        if forming is not None:
            last = self._formed + (forming.n_left or 0)
            return (
                f" Gibbs sampling forms topics until pass {last}; then they are split and merged: more passes "
                "may change their number."
            )
        return self._told_full(self.state.beta.size) + self._passes_left_over()

    def _told_full(self, n_topics: int) -> str:
        """Say that a fit has all the topics that it may have."""
        rules = self.rules
        if not n_topics >= rules.max_topics > rules.n_topics:
            return ""
        return f" The number of topics reached max_topics={rules.max_topics}: more may predict better."

    def _passes_left_over(self) -> str:
        """Say what more passes would do, of a fit that ends before the last ones have begun."""
        end = self._formed + self.rounds.end
        if self.state.n_sweeps < self.rounds.end:
            if self.rules.births:
                return f" Topics are split and merged until pass {end} at most: more passes may change their number."
            return f" Topics are merged until pass {end} at most: more passes may leave fewer topics."
        if self.ending.expected is not None:
            tried = f" Sampled passes were tried from pass {end + 1} on, and not yet compared:"
            return f"{tried} the topics are those of pass {end}."
        return ""

    def snapshot(self) -> Packed:
        """Return arrays and plain values that all further laps depend on."""
        if self.forming is not None:
            arrays, plain = self.forming.packed()
            return arrays, {**self.priors.packed(), **plain, "formed": self._formed, "origin": self.origin}
        state, priors = self.state, self.priors
        arrays = {**state.documents.packed(), "beta": state.beta, "tables": state.tables}
        values = {**priors.packed(), "n_sweeps": state.n_sweeps, "formed": self._formed}
        more, plain = self.ending.packed()
        labels = state.steering.labels
        if labels is not None:
            arrays |= {"labels.start": labels.start, "labels.topic": labels.topic}
        return {**arrays, **more}, {**values, **self.rounds.packed(), **plain, "origin": self.origin}

    def restore(self, arrays: Mapping[str, NDArray], values: Mapping[str, Any], done: int) -> None:
        """Take up what `snapshot` returned.

        Raises
        ------
        KeyError, ValueError
            If it cannot be of these documents.
        """
        self.priors = priors_from(values, self.rules.priors)
        self.origin = values.get("origin", "asked")  # checkpoints of before do not say it
        require(self.origin in ORIGINS, "its topics come from nowhere")
        forming = "n_judged" in values
        self._formed = whole_number("formed", values["formed"] if forming else values.get("formed", 0))  # older: none
        require(self._formed == done if forming else self._formed <= done, "its passes have formed no topics")
        if forming:
            self._restore_forming(arrays, values)
            return
        beta = arrays["beta"]
        K = max(1, min(beta.size, max(self.rules.n_topics, self.rules.max_topics)))
        beta, tables = checked_weights(arrays, K)
        self._documents.restore(arrays, K)
        require(beta.size >= self.rules.steering.n_kept, "topics that are kept are not there")
        self.state = assembled(self._documents, beta, self.rules.steering)
        self.state.tables = tables
        self.state.n_sweeps = whole_number("n_sweeps", values["n_sweeps"])
        self.rounds.restore(values)
        self.ending.restore(self.state, arrays, values, self.rules.priors)
        self._hold_back()

    def _restore_forming(self, arrays: Mapping[str, NDArray], values: Mapping[str, Any]) -> None:
        """Take up topics that are not yet formed."""
        require(self._grows, "the topics of this fit are given")
        self._set_apart()
        self.forming = Forming(self._documents, self.rules, self._engine)
        self.forming.restore(arrays, values)


def columns_of(priors: Priors, made: Made | None = None) -> dict[str, float]:
    """Return the columns of the trace that are the family's own."""
    return {**priors.packed(), **(made or Made()).columns()}
