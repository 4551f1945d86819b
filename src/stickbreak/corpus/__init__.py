"""What is modelled: Corpus and GroupedVectors, their readers and writers, batches, splits, synthetic data."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stickbreak.corpus.alignment import align
    from stickbreak.corpus.batches import make_batches
    from stickbreak.corpus.corpus import Corpus
    from stickbreak.corpus.examples.generators import (
        PlantedGaussians,
        PlantedTopics,
        planted_gaussians,
        planted_hdp,
        planted_lda,
        toy_bars,
    )
    from stickbreak.corpus.folder import open_corpus, write_corpus
    from stickbreak.corpus.reading.files import ReadLimits
    from stickbreak.corpus.reading.formats import FORMATS
    from stickbreak.corpus.reading.patches import patches_of, read_patches
    from stickbreak.corpus.reading.readers import read, read_texts
    from stickbreak.corpus.reading.vectors import VECTOR_FORMATS, VectorTable, read_vectors
    from stickbreak.corpus.stop_word_lists import languages, stop_words_of
    from stickbreak.corpus.text import count_texts
    from stickbreak.corpus.text_settings import TextOptions
    from stickbreak.corpus.vector_folder import PatchShape, open_vectors, patch_basis, write_vectors
    from stickbreak.corpus.vectors import GroupedVectors

_HOMES = {  # modules, and what is public in them
    "alignment": "align",
    "batches": "make_batches",
    "corpus": "Corpus",
    "examples.generators": "PlantedGaussians PlantedTopics planted_gaussians planted_hdp planted_lda toy_bars",
    "folder": "open_corpus write_corpus",
    "reading.files": "ReadLimits",
    "reading.formats": "FORMATS",
    "reading.patches": "patches_of read_patches",
    "reading.readers": "read read_texts",
    "reading.vectors": "VECTOR_FORMATS VectorTable read_vectors",
    "stop_word_lists": "languages stop_words_of",
    "text": "count_texts",
    "text_settings": "TextOptions",
    "vector_folder": "PatchShape open_vectors patch_basis write_vectors",
    "vectors": "GroupedVectors",
}
_LAZY = {name: f"stickbreak.corpus.{home}" for home, names in _HOMES.items() for name in names.split()}

__all__ = [
    "FORMATS",
    "VECTOR_FORMATS",
    "Corpus",
    "GroupedVectors",
    "PatchShape",
    "PlantedGaussians",
    "PlantedTopics",
    "ReadLimits",
    "TextOptions",
    "VectorTable",
    "align",
    "count_texts",
    "languages",
    "make_batches",
    "open_corpus",
    "open_vectors",
    "patch_basis",
    "patches_of",
    "planted_gaussians",
    "planted_hdp",
    "planted_lda",
    "read",
    "read_patches",
    "read_texts",
    "read_vectors",
    "stop_words_of",
    "toy_bars",
    "write_corpus",
    "write_vectors",
]


# Type checkers do not see this function: to them every misspelt name would be one of the package.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Import what is asked for, and no more: a command that refuses a file does not wait for what counts texts."""
        if name in _LAZY:
            return getattr(importlib.import_module(_LAZY[name]), name)
        raise AttributeError(f"module 'stickbreak.corpus' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
