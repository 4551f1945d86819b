"""Word intrusion: the lists, answers of people and of a model, and the scores beside chance."""

import numpy as np
import pandas as pd
import pytest

from stickbreak.evaluation import answered_intrusion, intrusion_scores, word_intrusion
from stickbreak.exceptions import InputError, NoAnswer, ServerError


def planted(K=3):
    """K topics of four words of their own."""
    phi = np.full((K, 4 * K), 0.01)
    for k in range(K):
        phi[k, 4 * k : 4 * k + 4] = 1.0
    return phi, [f"w{i}" for i in range(4 * K)]


def test_an_intruder_is_a_top_word_elsewhere_and_rare_here():
    phi, words = planted()
    table = word_intrusion(phi, words, n_words=3, random_state=1)
    assert table["topic"].tolist() == [0, 1, 2]
    for k, row in enumerate(table.itertuples()):
        shown = row.words.split(", ")
        assert len(set(shown)) == 4
        assert row.intruder in shown
        own = [int(word[1:]) // 4 == k for word in shown]
        assert sum(own) == 3
        assert int(row.intruder[1:]) // 4 != k
    assert table.equals(word_intrusion(phi, words, n_words=3, random_state=1))
    places = {
        row.words.split(", ").index(row.intruder)
        for seed in range(20)
        for row in word_intrusion(phi, words, n_words=3, random_state=seed).itertuples()
    }
    assert places == {0, 1, 2, 3}


def sheet(**columns):
    return pd.DataFrame(
        {
            "topic": [0, 1, 2],
            "words": ["sea, oven, ship", "court, jury, sail", "Bread, bank, flour"],
            "intruder": ["oven", "sail", "bank"],
            **columns,
        }
    )


def test_scores_count_the_answers_of_all_people():
    table = intrusion_scores(sheet(answer=["Oven ", "jury", None], **{"answer of B": ["oven", "sail", "'bread"]}))
    assert table["topic"].tolist() == [0, 1, 2]
    assert table["right"].tolist() == [2, 1, 0]
    assert table["answers"].tolist() == [2, 2, 1]
    assert table["share_right"].tolist() == [1.0, 0.5, 0.0]
    np.testing.assert_allclose(table["chance"], 1 / 3)
    z = 1.96  # Wilson's interval of 1 right of 2
    middle, width = (0.5 + z**2 / 4) / (1 + z**2 / 2), z * np.sqrt(0.125 + z**2 / 16) / (1 + z**2 / 2)
    np.testing.assert_allclose(table.loc[1, ["low", "high"]].astype(float), [middle - width, middle + width])
    assert table.attrs["share_right"] == 0.5
    assert (table.attrs["n_answers"], table.attrs["n_empty"], table.attrs["n_unknown"]) == (5, 1, 0)
    assert table.attrs["low"] < 0.5 < table.attrs["high"]


def test_chance_answers_are_as_good_as_chance_and_all_right_is_above_it():
    rng = np.random.default_rng(0)
    phi, words = planted(40)
    lists = word_intrusion(phi, words, n_words=3)
    by_chance = pd.concat([lists.assign(answer=[rng.choice(w.split(", ")) for w in lists["words"]]) for _ in range(5)])
    whole = intrusion_scores(by_chance).attrs
    assert whole["low"] < whole["chance"] == 0.25 < whole["high"]
    right = intrusion_scores(lists.assign(answer=lists["intruder"])).attrs
    assert right["share_right"] == 1
    assert right["low"] > 0.9


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (sheet(), "no column 'answer'"),
        (sheet(answer="x").drop(columns="words"), "no column 'words'"),
        (sheet(answer=[None, "", " "]), "no row has an answer"),
        (sheet(answer="oven").assign(topic=["0", "one", "2"]), "the topic 'one'"),
        (sheet(answer="oven").assign(topic=[0, 1.5, 2]), "the topic 1.5"),
    ],
)
def test_a_sheet_that_cannot_be_scored_is_told(wrong, message):
    with pytest.raises(InputError, match=message):
        intrusion_scores(wrong)


def test_a_judge_sees_no_intruder_and_may_fail():
    def find(words):
        asked.append(words)
        if len(asked) == 1:
            raise NoAnswer("the model refused")
        if len(asked) == 3:
            raise ServerError("gone")
        return words[-1]

    asked = []
    found = answered_intrusion(pd.concat([sheet(), sheet()]), find)
    assert found["answer"].tolist() == ["", "sail", "", "", "", ""]
    assert found["reason"].tolist()[:3] == ["the model refused", "", "gone"]
    assert len(asked) == 3
    assert intrusion_scores(found)["topic"].tolist() == [1]

    def nobody(words):
        raise ServerError("gone")

    with pytest.raises(ServerError):
        answered_intrusion(sheet(), nobody)
