"""Functions of the user that cut texts into words."""

import json
import math

import pytest

import stickbreak
from stickbreak.corpus import TextOptions, count_texts
from stickbreak.corpus.words import tokenizer_of
from stickbreak.exceptions import InputError, ModelFormatError

ALL = {"stop_words": None, "min_df": 1, "max_df": 1.0}
CHINESE = ["我昨天去超市，买了面包。", "超市 卖 面包！"]
TEXTS = ["bread-butter salt", "salt ship-sail", "ship-sail storm", "butter jam-bread"] * 10


def two_by_two(text):
    """Cut a text into pieces of two characters."""
    return [text[i : i + 2] for i in range(0, len(text), 2)]


def by_hyphen(text):
    return text.replace(" ", "-").split("-")


class Method:
    def __call__(self, text):
        return text.split()


def test_tokenizer_says_what_a_word_is():
    corpus = count_texts(["abcdab", "ABef!?"], TextOptions(tokenizer=two_by_two, **ALL))
    assert corpus.words == ("ab", "cd", "ef")  # lower case first; "!?" has no letter
    assert corpus.counts.toarray().tolist() == [[2, 1, 0], [1, 0, 1]]
    left = count_texts(["abcdab"], TextOptions(tokenizer=two_by_two, stop_words=["CD"], min_df=1, max_df=1.0))
    assert left.words == ("ab",)
    pairs = count_texts(["abcd"], TextOptions(tokenizer=two_by_two, ngram_range=(1, 2), **ALL))
    assert pairs.words == ("ab", "ab cd", "cd")
    again = count_texts(["cdxxab"], corpus.text_options, vocabulary=corpus.words)
    assert again.counts.toarray().tolist() == [[1, 1, 0]]


def test_uncut_texts_are_not_warned_of_after_a_tokenizer(caplog):
    assert "面包" in count_texts(CHINESE, TextOptions(tokenizer=lambda text: ["超市", "面包", "，", " "], **ALL)).words
    assert caplog.records == []


@pytest.mark.parametrize("returned", ["bread", None, [1], 3])
def test_tokenizer_that_returns_no_words_is_told(returned):
    with pytest.raises(InputError, match="must return a list of words"):
        count_texts(["bread"], TextOptions(tokenizer=lambda text: returned, **ALL))


def test_model_names_its_tokenizer_and_asks_for_it(tmp_path):
    model = stickbreak.TopicModel(n_laps=2, random_state=0).fit(TEXTS, options=TextOptions(tokenizer=by_hyphen))
    model.save(tmp_path / "model")
    texts = json.loads((tmp_path / "model" / "model.json").read_text())["meta"]["texts"]
    assert texts["options"]["tokenizer"] == f"{__name__}:by_hyphen"
    loaded = stickbreak.load(tmp_path / "model")
    with pytest.raises(InputError, match=r"by '.*:by_hyphen', which a saved model or corpus only names; give the"):
        loaded.transform(["bread-salt"])
    assert loaded.top_words(3) == model.top_words(3)
    counts = count_texts(["bread-salt"], model.text_options_, vocabulary=model.vocabulary_)
    assert loaded.transform(counts).tolist() == model.transform(["bread-salt"]).tolist()
    given = stickbreak.load(tmp_path / "model", tokenizer=by_hyphen)
    assert given.transform(["bread-salt"]).tolist() == model.transform(["bread-salt"]).tolist()


def test_loading_never_runs_what_a_model_names(tmp_path):
    model = stickbreak.TopicModel(n_laps=1, random_state=0).fit(TEXTS)
    model.save(tmp_path / "model")
    file = tmp_path / "model" / "model.json"
    head = json.loads(file.read_text())
    head["meta"]["texts"]["options"]["tokenizer"] = "os:system"
    file.write_text(json.dumps(head))
    loaded = stickbreak.load(tmp_path / "model")
    with pytest.raises(InputError, match="by 'os:system', which a saved model or corpus only names"):
        loaded.transform([f"touch {tmp_path}/ran"])
    assert not (tmp_path / "ran").exists()
    head["meta"]["texts"]["options"]["tokenizer"] = 3
    file.write_text(json.dumps(head))
    with pytest.raises(ModelFormatError, match="damaged"):
        stickbreak.load(tmp_path / "model")


def test_tokenizer_for_a_model_without_one_is_refused(tmp_path):
    stickbreak.TopicModel(n_laps=1, random_state=0).fit(TEXTS).save(tmp_path / "model")
    with pytest.raises(InputError, match="was fitted without a tokenizer"):
        stickbreak.load(tmp_path / "model", tokenizer=by_hyphen)


def test_names_of_tokenizers():
    assert tokenizer_of("math:sqrt") is math.sqrt
    assert TextOptions(tokenizer=Method()).tokenizer_name == f"{__name__}:Method"
    assert TextOptions(tokenizer="jieba:lcut").tokenizer_name == "jieba:lcut"
    for name, why in {
        "math": "it has no colon",
        "math:nothing": "no attribute",
        "math:pi": "it is not a function",
    }.items():
        with pytest.raises(InputError, match=f"which cannot be used .*{why}"):
            tokenizer_of(name)


def test_a_tokenizer_that_is_not_installed_says_what_to_install():
    with pytest.raises(InputError, match=r"needs the module 'no_such_module', .* \(pip install no_such_module\)"):
        tokenizer_of("no_such_module.part:f")


@pytest.mark.parametrize("settings", [{"tokenizer": 3}, {"tokenizer": two_by_two, "token_pattern": "a"}])
def test_senseless_tokenizers_are_refused(settings):
    with pytest.raises(InputError, match="tokenizer"):
        TextOptions(**settings)
