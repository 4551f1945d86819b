"""Scores of fitted models: document completion, left-to-right likelihood, coherence (docs/math (D4) to (D8))."""

from stickbreak.evaluation.coherence import coherence, coherence_of_words
from stickbreak.evaluation.evaluate import Evaluation, document_completion, evaluate, unigram_completion
from stickbreak.evaluation.intrusion import answered_intrusion, intrusion_scores, word_intrusion
from stickbreak.evaluation.measures import c_npmi, c_v, exclusivity, npmi, topic_diversity
from stickbreak.evaluation.topic_scores import per_word_likelihood, topic_scores
from stickbreak.prediction.completion import Completion
from stickbreak.prediction.left_to_right import LeftToRight, left_to_right

__all__ = [
    "Completion",
    "Evaluation",
    "LeftToRight",
    "answered_intrusion",
    "c_npmi",
    "c_v",
    "coherence",
    "coherence_of_words",
    "document_completion",
    "evaluate",
    "exclusivity",
    "intrusion_scores",
    "left_to_right",
    "npmi",
    "per_word_likelihood",
    "topic_diversity",
    "topic_scores",
    "unigram_completion",
    "word_intrusion",
]
