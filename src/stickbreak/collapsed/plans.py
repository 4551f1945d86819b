"""How the topics of long and of short documents form by Gibbs sampling (math.md (C26), (C27))."""

from __future__ import annotations

import math
from dataclasses import dataclass

from stickbreak.collapsed.rules import Rules
from stickbreak.collapsed.walking import Documents, are_short

MOST = 1 << 23  # stored counts of a collection whose topics form like this
TIMES, APART = 2, 1.25  # as many topics of short documents are tried next; and at least, if they are the most


@dataclass(frozen=True, slots=True)
class Plan:
    """How the topics of some documents form."""

    least: int  # stored counts of a collection
    many: float  # topics at most, times the root of the stored counts
    passes: int  # of a trial
    parts: int  # of the documents and of the words, at most: threads sweep them
    forming: int | None = None  # passes of the topics that are taken, with those of the trial; None: all that there are
    settled: int = 0  # of these, before which a fit does not end by itself
    halvings: int = 1  # of each document set apart, which say whether a number of topics is better
    widens: bool = False  # whether words are seen in more dimensions where more topics are tried
    joins: bool = False  # whether documents set apart take part once the number of topics is chosen
    judges_alpha: bool = False  # whether documents set apart say what alpha is, or the draws do

    @property
    def lasts(self) -> bool:
        """Whether all passes of a fit are of this kind: so it is where documents are short."""
        return self.forming is None

    def numbers(self, shown: int, most: int) -> list[int]:
        """Return the numbers of topics that are tried, in their order.                     math.md (C26), (C27)

        Parameters
        ----------
        shown : int
            Topics that words show.
        most : int
            Topics at most, if words do not show more.
        """
        if not self.lasts:
            return sorted({shown, round(math.sqrt(shown * most)), max(shown, most)}, reverse=True)
        found = [shown]
        while TIMES * found[-1] < most:
            found.append(TIMES * found[-1])
        return [*found, most] if most >= APART * found[-1] else found

    def are_ordered(self, numbers: list[int]) -> bool:
        """Whether numbers of topics can be those of trials."""
        return sorted(set(numbers), reverse=not self.lasts) == numbers


# Few topics mix what long documents tell apart, so that the most are tried first. Short documents show most of their
# topics, which a fit has at once. Each part makes a word ready, which has few tokens there: so they have fewer parts.
OF_LONG = Plan(1 << 18, 0.35, 5, 4, forming=60)
OF_SHORT = Plan(1 << 14, 2.0, 20, 2, settled=120, halvings=4, widens=True, joins=True)
OF_MANY_SHORT = Plan(1 << 18, 2.0, 10, 2, settled=120, judges_alpha=True)


def plan_of(documents: Documents) -> Plan:
    """Return how the topics of some documents form."""
    if not are_short(documents.n_documents, documents.n_counts):
        return OF_LONG
    return OF_SHORT if documents.n_counts < OF_MANY_SHORT.least else OF_MANY_SHORT


def may_form(documents: Documents, rules: Rules) -> bool:
    """Return whether documents have enough stored counts, and not too many, and the rules leave their topics free."""
    plan = plan_of(documents)
    asked = plan.lasts and (rules.final_passes == "expected" or bool({*rules.learn} - {"alpha"}))
    return plan.least <= documents.n_counts <= MOST and not rules.steering.n_kept and not asked
