"""How good a fitted model is: document completion and topic coherence (SPEC 5)."""

from stickbreak.evaluation.coherence import coherence
from stickbreak.evaluation.evaluate import Evaluation, evaluate
from stickbreak.inference.document_completion import Completion, document_completion

__all__ = ["Completion", "Evaluation", "coherence", "document_completion", "evaluate"]
