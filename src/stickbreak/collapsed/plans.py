"""How the topics of long and of short documents form by Gibbs sampling (math.md (C26) to (C28))."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from stickbreak.collapsed.rules import Rules
from stickbreak.collapsed.walking import Documents, are_short

MOST, MOST_OF_LONG = 1 << 23, 1 << 24  # stored counts of a collection whose topics form like this
TIMES, APART = 2, 1.25  # as many topics of short documents are tried next; and at least, if they are the most


@dataclass(frozen=True, slots=True)
class Plan:
    """How the topics of some documents form."""

    least: int  # stored counts of a collection
    many: float  # topics at most, times the root of the stored counts ...
    parts: int  # of the documents and of the words, at most: threads sweep them
    large: float = math.inf  # ... and fewer of more documents than this, by the fourth root of their ratio
    passes: int = 0  # of a trial; 0: the most topics are taken untried
    merging: tuple[int, ...] = ()  # passes after which topics that are alike become one, until two rounds merge none
    forming: int | None = None  # passes before those with shares; None: all passes of a fit are of this kind
    settled: int = 120  # of these, before which a fit does not end by itself
    halvings: int = 1  # of each document set apart, which say whether a number of topics is better
    widens: bool = False  # whether words are seen in more dimensions where more topics are tried
    joins: bool = False  # whether documents set apart take part once the number of topics is chosen
    judges_alpha: bool = False  # whether documents set apart say what alpha is, or the draws do

    @property
    def lasts(self) -> bool:
        """Whether all passes of a fit are of this kind."""
        return self.forming is None

    @property
    def tries(self) -> bool:
        """Whether numbers of topics are tried."""
        return self.passes > 0

    def most(self, n_documents: int, n_counts: int) -> int:
        """Return the most topics to begin with, of some documents with this number of stored counts."""
        return round(self.many * math.sqrt(n_counts) * min(1.0, (self.large / n_documents) ** 0.25))

    def numbers(self, shown: int, most: int) -> list[int]:
        """Return the numbers of topics that are tried, in their order.                     math.md (C26), (C27)

        Parameters
        ----------
        shown : int
            Topics that words show.
        most : int
            Topics at most, if words do not show more.
        """
        if not self.tries:
            return [max(shown, most)]
        found = [shown]
        while TIMES * found[-1] < most:
            found.append(TIMES * found[-1])
        return [*found, most] if most >= APART * found[-1] else found


# Few topics mix what long documents tell apart, so that they begin with many. Short documents show most of their
# topics, which a fit has at once. Each part makes a word ready, which has few tokens there: so they have fewer parts.
OF_LONG = Plan(1 << 13, 0.5, 4, large=1e4, merging=tuple(range(40, 121, 10)), settled=160, halvings=4, joins=True)
OF_SHORT = Plan(1 << 14, 2.0, 2, passes=20, halvings=4, widens=True, joins=True)
OF_MANY_SHORT = Plan(1 << 18, 2.0, 2, passes=10, judges_alpha=True)
BEFORE_SHARES = replace(OF_LONG, least=1 << 18, forming=60, joins=False)
# Words of short documents may show few of the topics: these begin with many as well, and say later which are alike.
OF_VAGUE = replace(OF_LONG, least=OF_SHORT.least, parts=OF_SHORT.parts, merging=tuple(range(80, 241, 20)))


def usual_course(n_documents: int, n_counts: int) -> tuple[int, bool]:
    """Return the most topics that a fit with its defaults begins with, and whether they form by Gibbs sampling."""
    short = are_short(n_documents, n_counts)
    plan, most = (OF_SHORT, MOST) if short else (OF_LONG, MOST_OF_LONG)
    return plan.most(n_documents, n_counts), n_counts <= most


def plan_of(documents: Documents, rules: Rules) -> Plan:
    """Return how the topics of some documents form."""
    if are_short(documents.n_documents, documents.n_counts):
        return OF_SHORT if documents.n_counts < OF_MANY_SHORT.least else OF_MANY_SHORT
    return BEFORE_SHARES if _asks_for_shares(rules) else OF_LONG


def may_form(documents: Documents, rules: Rules) -> bool:
    """Return whether documents have enough stored counts, and not too many, and the rules leave their topics free."""
    plan = plan_of(documents, rules)
    asked = plan.lasts and _asks_for_shares(rules)
    most = MOST if plan.tries else MOST_OF_LONG
    return plan.least <= documents.n_counts <= most and not rules.steering.n_kept and not asked


def _asks_for_shares(rules: Rules) -> bool:
    """Return whether what a fit is asked for follows from shares of tokens in topics, or passes with them learn it."""
    return rules.final_passes == "expected" or bool({*rules.learn} - {"alpha"})
