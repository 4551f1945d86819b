"""Phrases of two words: which are found, and how they are joined."""

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

import stickbreak
from stickbreak.corpus import TextOptions, count_texts, open_corpus, read, write_corpus
from stickbreak.corpus.phrases import LEAST_COUNT, LEAST_SCORE, TokenSequences, _pair_counts, find_phrases, neighbours
from stickbreak.exceptions import InputError

PHRASES = TextOptions(phrases=True, min_df=1, max_df=1.0)
FILLERS = [f"{a}{b}{c}" for a in "bdfg" for b in "aeiou" for c in "klmn"]


def planted(seed=0, n=60):
    """Return texts of random words, with "new york" in most, and its two words alone in some."""
    rng = np.random.default_rng(seed)
    texts = []
    for d in range(n):
        words = rng.choice(FILLERS, 30).tolist()
        words.insert(7, "new york" if d % 3 else "york, new")
        texts.append(" ".join(words))
    return texts


def slow_phrases(texts):
    """Return the phrases by the equation, pair by pair."""
    tokens, pairs = Counter(), Counter()
    for text in texts:
        found = list(neighbours(text, None))
        tokens.update(word for word in found if word is not None)
        pairs.update(pair for pair in pairwise(found) if None not in pair and pair[0] != pair[1])
    N = sum(tokens.values())

    def score(pair):
        a, b = pair
        return math.log(pairs[pair] * N / (tokens[a] * tokens[b])) / -math.log(pairs[pair] / N)

    return sorted(pair for pair in pairs if pairs[pair] >= LEAST_COUNT and score(pair) >= LEAST_SCORE)


def sequences(texts):
    return TokenSequences.of(texts, lambda text: neighbours(text, None))


def test_planted_phrase_is_found_and_counted():
    corpus = count_texts(planted(), PHRASES)
    assert corpus.text_options.phrases == ("new york",)
    column = {word: corpus.counts[:, j].toarray().ravel().tolist() for j, word in enumerate(corpus.words)}
    assert column["new york"] == [int(d % 3 > 0) for d in range(60)]
    assert column["york"] == column["new"] == [int(d % 3 == 0) for d in range(60)]
    plain = count_texts(planted(), TextOptions(min_df=1, max_df=1.0))
    assert corpus.n_tokens == plain.n_tokens - 40


@pytest.mark.parametrize("seed", range(3))
def test_phrases_are_those_of_the_equation(seed):
    rng = np.random.default_rng(seed)
    texts = [" ".join(rng.choice(FILLERS[:12], 40, p=rng.dirichlet(np.full(12, 0.1)))) for _ in range(60)]
    texts += ["fan club fan club, fan club"] * 6 + ["club; fan" + " moss rock" * 2] * 9
    expected = slow_phrases(texts)
    assert {("fan", "club"), ("moss", "rock")} <= set(expected)
    joined = {tuple(word.split()) for word in sequences(texts).joined(expected).words if " " in word}
    assert find_phrases(sequences(texts), 1) == sorted(map(" ".join, joined))
    assert find_phrases(sequences(texts), 1, block=7) == sorted(map(" ".join, joined))


def test_pairs_are_counted_alike_in_blocks_of_any_size():
    texts = sequences([*planted(n=20), "fan fan club"])
    frequent = np.ones(len(texts.words), bool)
    keys, counts = _pair_counts(texts, frequent, 1 << 20, 1 << 20)
    slow = Counter(
        (a, b) for a, b in pairwise(texts.ids.tolist()) if min(a, b) >= 0 and a != b
    )  # between texts there is a -1
    V = len(texts.words)
    assert {(key // V, key % V): n for key, n in zip(keys.tolist(), counts.tolist(), strict=True)} == slow
    for block in (1, 7, 100):
        for found, expected in zip(_pair_counts(texts, frequent, block, 1 << 20), (keys, counts), strict=True):
            np.testing.assert_array_equal(found, expected)


def test_rare_pairs_are_forgotten_where_there_are_too_many():
    texts = planted(n=200)
    assert find_phrases(sequences(texts), 1, block=500, most_pairs=200) == ["new york"]


def test_words_join_from_the_left_and_only_neighbours():
    options = TextOptions(phrases=["Fan club", "club fan", "fan fan"], min_df=1, max_df=1.0)
    for text, words in {
        "fan club fan club": {"fan club": 2},
        "club fan club": {"club fan": 1, "club": 1},
        "fan fan fan": {"fan fan": 1, "fan": 1},
        "fan-club FAN  club": {"fan club": 2},
        "fan, club. fan": {"fan": 2, "club": 1},
        "fan of club": {"fan": 1, "club": 1},  # a word that is too short stands between
        "fan the club": {"fan": 1, "club": 1},  # a stop word does
    }.items():
        corpus = count_texts([text], options)
        assert dict(zip(corpus.words, corpus.counts.toarray()[0].tolist(), strict=True)) == words
    assert count_texts(["fan", "club"], options).counts.toarray().tolist() == [[0, 1], [1, 0]]


def test_phrases_in_few_documents_are_left_apart():
    texts = [*planted(n=100), "moss rock " * 20]
    corpus = count_texts(texts, TextOptions(phrases=True, min_df=2, max_df=1.0))
    assert corpus.text_options.phrases == ("new york",)
    assert count_texts(texts, PHRASES).text_options.phrases == ("moss rock", "new york")


def test_phrases_with_other_patterns_and_tokenizers():
    pattern = TextOptions(phrases=True, min_df=1, max_df=1.0, token_pattern=r"\b(\w\w+)")
    cut = TextOptions(phrases=True, min_df=1, max_df=1.0, tokenizer=str.split)
    assert count_texts(planted(), pattern).text_options.phrases == ("new york",)
    assert "new york" in count_texts(planted(), cut).words


def test_model_counts_the_phrases_of_its_fit(tmp_path):
    model = stickbreak.TopicModel(n_laps=3, random_state=0).fit(planted(), options=PHRASES)
    assert "new york" in model.vocabulary_
    model.save(tmp_path / "model")
    loaded = stickbreak.load(tmp_path / "model")
    assert loaded.text_options_.phrases == ("new york",)
    counts = count_texts(["New York, york"], loaded.text_options_, vocabulary=loaded.vocabulary_)
    found = dict(zip(loaded.vocabulary_, counts.counts.toarray()[0].tolist(), strict=True))
    assert {word: n for word, n in found.items() if n} == {"new york": 1, "york": 1}
    assert loaded.transform(["New York"]).tolist() == model.transform(["New York"]).tolist()


def test_phrases_of_a_file_and_a_folder(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(planted()))
    corpus = read(path, text=PHRASES)
    assert corpus.text_options.phrases == ("new york",)
    assert (corpus.counts != count_texts(planted(), PHRASES).counts).nnz == 0
    write_corpus(corpus, tmp_path / "corpus")
    assert open_corpus(tmp_path / "corpus").text_options == corpus.text_options
    with pytest.raises(InputError, match="count_files does not hold; give a list of phrases"):
        stickbreak.count_files(path, tmp_path / "counts", text=PHRASES)
    done = stickbreak.count_files(path, tmp_path / "counts", text=corpus.text_options).open()
    assert done.words == corpus.words
    assert (done.counts != corpus.counts).nnz == 0


@pytest.mark.parametrize("phrases", ["new york", ["new"], ["a b c d e f"], 1, 6, 2.5, {"a b": 1}, [3]])
def test_senseless_phrases_are_refused(phrases):
    with pytest.raises(InputError, match="phrases is"):
        TextOptions(phrases=phrases)
    with pytest.raises(InputError, match="give one of them"):
        TextOptions(phrases=True, ngram_range=(1, 2))
    with pytest.raises(InputError, match="the vocabulary is given"):
        count_texts(planted(), PHRASES, vocabulary=["new york"])


def longer(seed=0, n=90):
    """Return texts with "new york", "new york times" and "times square garden club"."""
    rng = np.random.default_rng(seed)
    own = ["new york", "new york times", "times square garden club", "new, york: times"]
    return [" ".join([*rng.choice(FILLERS, 15), own[d % 4], *rng.choice(FILLERS, 15)]) for d in range(n)]


@pytest.mark.parametrize(
    ("longest", "found"),
    [
        (2, ("garden club", "new york", "times square")),
        (3, ("garden club", "new york", "new york times", "times square")),
        (4, ("new york", "new york times", "times square garden club")),
    ],
)
def test_longer_phrases_are_found_and_the_longest_counts(longest, found, tmp_path):
    texts = longer()
    options = TextOptions(phrases=longest, min_df=1, max_df=1.0)
    corpus = count_texts(texts, options)
    assert corpus.text_options.phrases == found
    column = dict(zip(corpus.words, corpus.counts.sum(axis=0).A1.tolist(), strict=True))
    assert column["new york"] == (46 if longest == 2 else 23)
    if longest > 2:
        assert column["new york times"] == 23
    again = count_texts(texts, corpus.text_options)
    assert again.words == corpus.words
    assert (again.counts != corpus.counts).nnz == 0
    write_corpus(corpus, tmp_path / "corpus")
    assert open_corpus(tmp_path / "corpus").text_options == corpus.text_options


def test_longest_phrase_is_joined_first_then_the_first():
    options = TextOptions(phrases=["fan club", "club moss rock", "moss rock", "rock fan"], min_df=1, max_df=1.0)
    for text, words in {
        "fan club moss rock": {"fan": 1, "club moss rock": 1},
        "moss rock fan club": {"moss rock": 1, "fan club": 1},
        "club moss, rock fan": {"club": 1, "moss": 1, "rock fan": 1},
        "club moss rock fan club": {"club moss rock": 1, "fan club": 1},
    }.items():
        corpus = count_texts([text], options)
        assert dict(zip(corpus.words, corpus.counts.toarray()[0].tolist(), strict=True)) == words
