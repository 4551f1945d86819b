"""A model that was fitted to a data frame is asked by the names of its columns."""

import pandas as pd
import pytest
from tests.contract.test_texts import TEXTS

import stickbreak
from stickbreak.corpus import count_texts


@pytest.fixture(scope="module")
def frame():
    days = pd.date_range("2020-01-01", periods=len(TEXTS), freq="30D")
    return pd.DataFrame({"text": TEXTS, "day": days, "kind": ["food", "sea"] * (len(TEXTS) // 2)})


@pytest.fixture(scope="module")
def model(frame):
    return stickbreak.TopicModel(n_laps=10, random_state=0).fit(frame, text="text")


def test_columns_of_the_frame_are_found_by_name(frame, model):
    corpus = count_texts(frame, text="text", keep="all")
    pd.testing.assert_frame_equal(model.topics_by(frame, "kind"), model.topics_by(corpus, "kind"))
    pd.testing.assert_frame_equal(
        model.topics_over_time(frame, "day", by="year"), model.topics_over_time(frame, frame["day"], by="year")
    )
