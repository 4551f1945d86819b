"""Evaluation of fitted models: document completion, left-to-right likelihood, coherence (math.md (D4) to (D6))."""

from stickbreak.evaluation.coherence import coherence, coherence_of_words
from stickbreak.evaluation.evaluate import Evaluation, evaluate
from stickbreak.evaluation.unigram import unigram_completion
from stickbreak.prediction.completion import Completion
from stickbreak.prediction.document_completion import document_completion
from stickbreak.prediction.left_to_right import LeftToRight, left_to_right

__all__ = [
    "Completion",
    "Evaluation",
    "LeftToRight",
    "coherence",
    "coherence_of_words",
    "document_completion",
    "evaluate",
    "left_to_right",
    "unigram_completion",
]
