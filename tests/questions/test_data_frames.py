"""A model that was fitted to a data frame is asked by the names of its columns."""

import numpy as np
import pandas as pd
import pyarrow as pa
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


def test_a_reader_that_can_be_read_once_is_as_good_as_its_table(frame):
    table = pa.Table.from_pandas(frame)
    reader = table.to_reader
    options = {"n_topics": 3, "n_laps": 5, "random_state": 0}
    labelled = [stickbreak.TopicModel(**options).fit(X, text="text", labels="kind") for X in (reader(), table)]
    assert labelled[0].label_names_ == ["food", "sea"]
    labelled[0].update(reader(), labels="kind")
    labelled[1].update(table, labels="kind")
    np.testing.assert_array_equal(labelled[0].components_, labelled[1].components_)
    one, other = (stickbreak.TopicModel(prevalence="day", **options).fit(X, text="text") for X in (reader(), table))
    np.testing.assert_array_equal(one.transform(reader()), other.transform(table))
    pd.testing.assert_frame_equal(one.topics_by(reader(), "kind"), other.topics_by(table, "kind"))
