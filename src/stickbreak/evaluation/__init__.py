"""How good a fitted model is: document completion and topic coherence (SPEC 5)."""

from stickbreak.evaluation.coherence import coherence
from stickbreak.evaluation.completion import Completion, document_completion
from stickbreak.evaluation.evaluate import Evaluation, evaluate

__all__ = ["Completion", "Evaluation", "coherence", "document_completion", "evaluate"]
