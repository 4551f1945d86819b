"""What a type checker must know of the public face: it is checked by mypy and pyright, and never run.

An expected error has an `ignore` of its own: where it stops being an error, mypy reports the `ignore` as unused.
"""

from pathlib import Path
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import stickbreak
from stickbreak import (
    BackoffTreeTopics,
    Corpus,
    GaussianDPMixture,
    GaussianHDP,
    GibbsHDP,
    GroupedVectors,
    HybridHDP,
    TopicModel,
    VariationalHDP,
)
from stickbreak.evaluation import Evaluation, evaluate
from stickbreak.model.topic_estimator import TopicEstimator
from stickbreak.report import ReportData, build_report
from stickbreak.variational.vector_model import VectorModel


def a_fit_returns_its_own_class(corpus: Corpus, vectors: GroupedVectors, table: NDArray[np.float64]) -> None:
    assert_type(TopicModel().fit(corpus), TopicModel)
    assert_type(VariationalHDP().fit(corpus), VariationalHDP)
    assert_type(GibbsHDP().fit(corpus), GibbsHDP)
    assert_type(HybridHDP().fit(corpus), HybridHDP)
    assert_type(BackoffTreeTopics().fit(corpus), BackoffTreeTopics)
    assert_type(GaussianHDP().fit(vectors), GaussianHDP)
    assert_type(GaussianDPMixture().fit(table), GaussianDPMixture)


def what_follows_a_fit_keeps_the_class(model: HybridHDP, corpus: Corpus) -> None:
    assert_type(model.partial_fit(corpus).continue_fit(corpus, n_laps=1), HybridHDP)
    assert_type(model.set_params(n_topics=5), HybridHDP)


def a_subclass_of_your_own_keeps_its_class(corpus: Corpus) -> None:
    class Mine(TopicModel):
        pass

    assert_type(Mine().fit(corpus), Mine)


def a_fitted_model_has_typed_answers(model: TopicModel, corpus: Corpus) -> None:
    assert_type(model.transform(corpus), NDArray[np.float64])
    assert_type(model.fit_transform(corpus), NDArray[np.float64])
    assert_type(model.score(corpus), float)
    assert_type(model.n_topics_, int)
    assert_type(model.top_words(8), list[list[str]])
    assert_type(model.topic_word_, NDArray[np.float64])
    assert_type(model.trace_, dict[str, NDArray[Any]])
    assert_type(evaluate(model, corpus), Evaluation)
    assert_type(build_report(model, corpus), ReportData)


def a_mixture_has_typed_answers(model: GaussianDPMixture, table: NDArray[np.float64]) -> None:
    assert_type(model.predict(table), NDArray[np.int64])
    assert_type(model.fit_predict(table), NDArray[np.int64])
    assert_type(model.predict_proba(table), NDArray[np.float64])
    assert_type(model.means_, NDArray[np.float64])


def a_loaded_model_is_of_the_kind_that_was_asked_for(path: Path) -> None:
    assert_type(stickbreak.load(path, TopicModel), TopicModel)
    assert_type(stickbreak.load("bars", kind=GaussianHDP), GaussianHDP)
    assert_type(stickbreak.load(path), TopicEstimator | VectorModel)


def documents_are_typed() -> None:
    corpus, truth = stickbreak.corpus.toy_bars(seed=0)
    assert_type(corpus, Corpus)
    assert_type(truth.topic_word, NDArray[np.float64])
    assert_type(stickbreak.corpus.read("reviews.jsonl"), Corpus)
    assert_type(corpus[:10], Corpus)
    assert_type(stickbreak.__version__, str)


def mistakes_are_seen(path: Path, model: GaussianHDP) -> None:
    stickbreak.CollapsdHDP()  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
    TopicModel(topics=5)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    TopicModel(n_topics="5")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    stickbreak.load(path, dict)  # type: ignore[type-var]  # pyright: ignore[reportArgumentType]
    model.top_words(8)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
