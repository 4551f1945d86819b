"""What a reader asks of fitted topics: over time, by category, words, documents, likeness (docs/math (Q1) to (Q11)).

Each question is a function of a fitted model, and a method of every model of words with the same name. A module is
loaded when one of its functions is asked for.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stickbreak.questions.by_category import topics_by
    from stickbreak.questions.changed_words import words_by, words_over_time
    from stickbreak.questions.documents import documents_of, similar_documents, topics_of
    from stickbreak.questions.over_time import topic_trends, topics_over_time
    from stickbreak.questions.regression import effects
    from stickbreak.questions.table import topics_table
    from stickbreak.questions.words import search, word_topics, words_of

_MODULES = {
    "topics_by": "by_category",
    "documents_of": "documents",
    "effects": "regression",
    "similar_documents": "documents",
    "topics_of": "documents",
    "topic_trends": "over_time",
    "topics_over_time": "over_time",
    "topics_table": "table",
    "search": "words",
    "word_topics": "words",
    "words_by": "changed_words",
    "words_of": "words",
    "words_over_time": "changed_words",
}

__all__ = [
    "documents_of",
    "effects",
    "search",
    "similar_documents",
    "topic_trends",
    "topics_by",
    "topics_of",
    "topics_over_time",
    "topics_table",
    "word_topics",
    "words_by",
    "words_of",
    "words_over_time",
]


if not TYPE_CHECKING:  # to type checkers every misspelt name would be a question

    def __getattr__(name: str) -> Any:
        """Load the module of a question."""
        if name not in _MODULES:
            raise AttributeError(f"module 'stickbreak.questions' has no attribute {name!r}")
        return getattr(importlib.import_module(f"stickbreak.questions.{_MODULES[name]}"), name)
