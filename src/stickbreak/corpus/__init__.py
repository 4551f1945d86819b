"""What is modelled: Corpus and GroupedVectors, their readers and writers, batches, splits, synthetic data."""

from stickbreak.corpus.alignment import align
from stickbreak.corpus.batches import make_batches
from stickbreak.corpus.corpus import Corpus
from stickbreak.corpus.examples.generators import PlantedTopics, planted_hdp, planted_lda, planted_twins, toy_bars
from stickbreak.corpus.examples.planted_vectors import PlantedGaussians, planted_gaussians
from stickbreak.corpus.folder import open_corpus, write_corpus
from stickbreak.corpus.patch_shape import PatchShape, patch_basis
from stickbreak.corpus.reading.formats import FORMATS
from stickbreak.corpus.reading.limits import ReadLimits
from stickbreak.corpus.reading.patches import patches_of, read_patches
from stickbreak.corpus.reading.readers import read, read_texts
from stickbreak.corpus.reading.vector_sources import VECTOR_FORMATS, VectorTable, read_vectors
from stickbreak.corpus.stop_word_lists import languages, stop_words_of
from stickbreak.corpus.text import count_texts
from stickbreak.corpus.text_settings import TextOptions
from stickbreak.corpus.vector_folder import open_vectors, write_vectors
from stickbreak.corpus.vectors import GroupedVectors

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
    "planted_twins",
    "read",
    "read_patches",
    "read_texts",
    "read_vectors",
    "stop_words_of",
    "toy_bars",
    "write_corpus",
    "write_vectors",
]
