"""What is modelled: Corpus, its readers and writers, text to counts, batches, splits, synthetic data."""

from stickbreak.corpus.alignment import align
from stickbreak.corpus.batches import make_batches
from stickbreak.corpus.corpus import Corpus
from stickbreak.corpus.folder import open_corpus, write_corpus
from stickbreak.corpus.formats import FORMATS
from stickbreak.corpus.generators import PlantedTopics, planted_hdp, planted_lda, planted_twins, toy_bars
from stickbreak.corpus.readers import read, read_texts
from stickbreak.corpus.text import TextOptions, count_texts

__all__ = [
    "FORMATS",
    "Corpus",
    "PlantedTopics",
    "TextOptions",
    "align",
    "count_texts",
    "make_batches",
    "open_corpus",
    "planted_hdp",
    "planted_lda",
    "planted_twins",
    "read",
    "read_texts",
    "toy_bars",
    "write_corpus",
]
