"""What a model with prevalence says of documents: effects, prediction by columns, files, and what it refuses."""

import signal
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import stickbreak
from stickbreak import TopicModel
from stickbreak.corpus import Corpus, TextOptions
from stickbreak.evaluation import evaluate
from stickbreak.exceptions import InputError, ModelFormatError
from stickbreak.topics import laps

TERMS = ["year", "source[T.b]", "source[T.c]"]
EFFECTS = np.array([[0.8, 0.0, 0.9], [-0.7, 0.8, 0.0], [0.0, -0.9, 0.0], [0.0, 0.0, -0.8], [0.0, 0.0, 0.0]])
SHORT: dict[str, Any] = {"n_topics": 5, "n_laps": 40, "random_state": 0}


def planted(n_documents: int, seed: int, n_tokens: int = 60) -> Corpus:
    """Return documents of five topics, with effects of a year (in units of its deviation) and of a source."""
    rng = np.random.default_rng(seed)
    phi = np.random.default_rng(0).dirichlet(np.full(40, 0.1), size=5)
    year, source = 2010 + rng.normal(0, 3.0, n_documents), rng.integers(3, size=n_documents)
    x = np.column_stack([(year - 2010) / 3.0, source == 1, source == 2])
    theta = np.array([rng.dirichlet(row) for row in 0.4 * np.exp(x @ EFFECTS.T)])
    counts = np.array([rng.multinomial(n_tokens, row) for row in theta @ phi])
    return Corpus.from_counts(counts, metadata={"year": year, "source": np.array(list("abc"))[source]})


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return planted(400, 1)


@pytest.fixture(scope="module")
def model(corpus: Corpus) -> TopicModel:
    return TopicModel(prevalence="year + source", **SHORT).fit(corpus)


def planted_numbers(model: TopicModel) -> list[int]:
    phi = np.random.default_rng(0).dirichlet(np.full(40, 0.1), size=5)
    return [int(np.abs(model.topic_word_ - row).sum(axis=1).argmin()) for row in phi]


def test_planted_effects_are_found(model: TopicModel, corpus: Corpus) -> None:
    table, places = model.prevalence_effects(), planted_numbers(model)
    assert sorted(places) == list(range(5))
    assert table["term"].unique().tolist() == TERMS
    deviation = np.std(corpus.metadata["year"].to_numpy())
    true = EFFECTS / [3.0, 1.0, 1.0]
    rows = [table[table["topic"] == k].set_index("term").loc[TERMS] for k in places]
    inside = [((row["low"] < own) & (own < row["high"])).to_numpy() for row, own in zip(rows, true, strict=True)]
    assert np.mean(inside) >= 0.8
    estimates = np.array([row["estimate"] for row in rows])
    assert np.abs((estimates - true) * [deviation, 1.0, 1.0]).max() < 0.6
    assert np.corrcoef(estimates[:, 0], true[:, 0])[0, 1] > 0.95
    assert model.prevalence_effects(topic=places[0])["term"].tolist() == TERMS


def test_columns_predict_words_where_they_matter_and_not_where_they_are_shuffled(
    model: TopicModel, corpus: Corpus
) -> None:
    new = planted(300, 2, n_tokens=8)
    plain = TopicModel(**SHORT).fit(corpus).score(new)
    assert model.score(new) > plain + 0.01
    order = np.random.default_rng(0).permutation(len(corpus))
    shuffled = Corpus.from_counts(corpus.counts, metadata=corpus.metadata.take(order))
    other = TopicModel(prevalence="year + source", **SHORT).fit(shuffled)
    assert other.score(new) == pytest.approx(plain, abs=0.01)
    assert (other.prevalence_effects()["p"] < 0.01).sum() <= 1


def test_documents_without_columns_or_values_get_the_mean_prior(model: TopicModel, corpus: Corpus, caplog: Any) -> None:
    empty = Corpus.from_counts(np.zeros((3, 40), int))
    np.testing.assert_allclose(model.transform(empty), np.tile(model.topic_weights_, (3, 1)))
    assert "mean prior" in caplog.text
    table = {"year": [2016.0, None, 2016.0], "source": ["a", "a", "new"]}
    with_columns = Corpus.from_counts(np.zeros((3, 40), int), metadata=table)
    found, k = model.transform(with_columns), planted_numbers(model)
    assert found[0, k[0]] > 2 * found[1, k[0]]
    np.testing.assert_allclose(found[1], found[2])
    a = np.exp(model.prevalence_weights_[:, 0])
    np.testing.assert_allclose(found[1], a / a.sum())
    few = model.transform(corpus, sparse=True, least=0.0).toarray()
    np.testing.assert_allclose(few, model.transform(corpus))
    assert model.topics_of(corpus[:5], n=1)["weight"].to_numpy() == pytest.approx(few[:5].max(axis=1))


def test_threads_files_checkpoints_and_saved_models_change_no_bit(
    model: TopicModel, corpus: Corpus, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(laps, "PART", 1 << 13)

    def fitted(n_laps: int, **options: Any) -> TopicModel:
        given = {**SHORT, "n_laps": n_laps, "tolerance": None, **options.pop("parameters", {})}
        return TopicModel(prevalence="year + source", **given).fit(corpus, **options)

    events: list[dict[str, Any]] = []
    one = fitted(14, callback=events.append)
    assert [(event["done"], event["total"]) for event in events[14:]] == [(n, 120) for n in range(1, 121)]
    for n_laps in (11, 14):
        resumed = fitted(n_laps, checkpoint=tmp_path / "c", resume=True)
    fitted(11).save(tmp_path / "short")
    continued = stickbreak.load(tmp_path / "short").continue_fit(corpus, n_laps=3)
    threads = fitted(14, parameters={"n_jobs": 2, "scratch": tmp_path})
    for other in (resumed, continued, threads):
        for name in ("components_", "topic_prior_", "prevalence_weights_", "effects_"):
            np.testing.assert_array_equal(getattr(other, name), getattr(one, name))
    order = np.arange(len(corpus))[::-1]
    other = Corpus.from_counts(corpus.counts, metadata=corpus.metadata.take(order))
    with pytest.raises(InputError, match="columns"):
        one.continue_fit(other, n_laps=1)
    model.save(tmp_path / "m")
    loaded = stickbreak.load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.transform(corpus), model.transform(corpus))
    pd.testing.assert_frame_equal(loaded.prevalence_effects(), model.prevalence_effects())


@pytest.mark.parametrize("stage", ["pass", "effects"])
def test_an_interrupt_says_that_effects_are_lacking_and_a_fit_that_goes_on_draws_them(
    corpus: Corpus, monkeypatch: Any, stage: str
) -> None:
    monkeypatch.setattr(laps, "DRAWS", 10)

    def interrupt(event: dict[str, Any]) -> None:
        if stage == "pass" and event.get("lap") == 2:
            signal.raise_signal(signal.SIGINT)
        if event.get("stage") == stage:
            raise KeyboardInterrupt

    short = TopicModel(prevalence="year", n_topics=3, n_laps=5, random_state=0).fit(corpus, callback=interrupt)
    assert short.stop_reason_.endswith(" Its effects were not drawn, as it was interrupted.")
    assert ("alpha was not set" in short.stop_reason_) == (stage == "effects")
    bare = deepcopy(short)
    bare.forget_state()
    with pytest.raises(InputError, match="were drawn; fit it again"):
        bare.prevalence_effects()
    with pytest.raises(InputError, match=r"were drawn; call continue_fit\(X, n_laps=1\), which draws them"):
        short.prevalence_effects()
    assert len(short.continue_fit(corpus, n_laps=1).prevalence_effects()) == 3


def test_curves_and_functions_of_columns_come_back_from_a_file(corpus: Corpus, tmp_path: Path) -> None:
    formula = "bs(year, df=4) + C(source) + poly(year, 2)[0]"
    with pytest.raises(InputError, match="holds code"):
        TopicModel(prevalence=formula, **SHORT).fit(corpus)
    formula = "bs(year, df=4) + C(source)"
    model = TopicModel(prevalence=formula, n_topics=3, n_laps=11, random_state=0).fit(corpus)
    model.save(tmp_path / "m")
    loaded = stickbreak.load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.transform(corpus[:7]), model.transform(corpus)[:7])
    model._prevalence.memory["formula"] = "print(year)"
    model.save(tmp_path / "other")
    with pytest.raises(ModelFormatError, match="calls print"):
        stickbreak.load(tmp_path / "other")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("columns", None),
        ("columns", "year"),
        ("dates", ["year"]),
        ("dates", {"month": 0.0}),
        ("dates", {"year": "2010"}),
        ("terms", ["Intercept", "year"]),
        ("kinds", {}),
        ("kinds", {"year": "odd", "source": "odd"}),
        ("categories", {"dict": [["source", "a"]]}),
        ("categories", {"list": ["source"]}),
        ("transforms", None),
        ("transforms", {"odd": []}),
        ("formula", None),
    ],
)
def test_a_damaged_memory_of_terms_is_refused(model: TopicModel, tmp_path: Path, name: str, value: Any) -> None:
    damaged = deepcopy(model)
    if value is None:
        del damaged._prevalence.memory[name]
    else:
        damaged._prevalence.memory[name] = value
    damaged.save(tmp_path / "m")
    with pytest.raises(ModelFormatError):
        stickbreak.load(tmp_path / "m")


DATES = pd.date_range("2015-01-01", periods=80, freq="30D")


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """Return texts whose subject changes in the middle, with their dates and another column."""
    rng = np.random.default_rng(0)
    words = ["bread oven flour".split()] * 40 + ["ship sea sail".split()] * 40
    texts = [" ".join(rng.choice(own, 12)) for own in words]
    return pd.DataFrame({"text": texts, "date": DATES, "other": ["odd", "even"] * 40})


@pytest.fixture(scope="module")
def of_frame(frame: pd.DataFrame) -> TopicModel:
    model = TopicModel(n_topics=2, n_laps=30, random_state=0, prevalence="date")
    return model.fit(frame, text="text", options=TextOptions(min_df=1, max_df=1.0))


def test_data_frames_bring_their_columns_and_dates_are_years(frame: pd.DataFrame, of_frame: TopicModel) -> None:
    model, dates = deepcopy(of_frame), DATES
    assert model.prevalence_effects()["estimate"].max() > 0.3
    blank = pd.DataFrame({"text": ["", ""], "date": [dates[0], dates[-1]]})
    weights = model.transform(blank)
    assert np.abs(weights[0] - weights[1]).max() > 0.3
    continued = model.continue_fit(frame, n_laps=1)
    assert continued.n_laps_ > 1


def test_answers_about_a_data_frame_use_the_columns_of_prevalence(
    frame: pd.DataFrame, of_frame: TopicModel, caplog: Any
) -> None:
    short = frame.assign(text=frame["text"].str.split().str[:2].str.join(" "))
    options = {"options": of_frame.text_options_, "vocabulary": of_frame.vocabulary_}
    corpus = stickbreak.corpus.count_texts(short, text="text", keep="all", **options)
    for question in (
        lambda documents: of_frame.topics_by(documents, "other"),
        lambda documents: of_frame.topics_over_time(documents, "date", by="year"),
        lambda documents: of_frame.topic_trends(documents, "date"),
        lambda documents: of_frame.words_by(documents, "other"),
        lambda documents: of_frame.words_over_time(documents, "date", by="year"),
    ):
        pd.testing.assert_frame_equal(question(short), question(corpus))
    assert evaluate(of_frame, short).completion == evaluate(of_frame, corpus).completion
    assert "mean prior" not in caplog.text


def test_joined_topics_have_the_mean_effects_of_their_parts(model: TopicModel, corpus: Corpus) -> None:
    joined = model.joined([[0, 1]])
    assert len(joined.prevalence_effects()) == 4 * 3
    a = np.exp(model.prevalence_weights_[:2, 0])
    k = int(np.abs(joined.topic_word_ - a @ model.topic_word_[:2] / a.sum()).sum(axis=1).argmin())
    assert np.exp(joined.prevalence_weights_[k, 0]) == pytest.approx(a.sum())
    np.testing.assert_allclose(joined.prevalence_weights_[k, 1:], a @ model.prevalence_weights_[:2, 1:] / a.sum())
    assert joined.transform(corpus[:3]).shape == (3, 4)


def test_a_join_leaves_the_intervals_of_other_topics_as_they_were(model: TopicModel) -> None:
    twin = deepcopy(model)
    twin.effects_[2] = np.array([7.0, 3.0, 60.0, 9.0, 80.0])[:, None]
    joined = twin.joined([[1, 2]], drop=[3])
    freedom = {round(a, 9): n for a, n in zip(joined.topic_prior_.tolist(), joined.effects_[2, :, 0], strict=True)}
    a = twin.topic_prior_
    assert freedom == {round(a[1] + a[2], 9): 3.0, round(a[0], 9): 7.0, round(a[4], 9): 80.0}


def test_their_number_is_found_with_columns_too() -> None:
    documents = planted(500, 3)
    model = TopicModel(prevalence="year + source", random_state=0).fit(documents)
    assert 5 <= model.n_topics_ <= 7
    assert sorted(planted_numbers(model)) == sorted(set(planted_numbers(model)))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"prevalence": "year + month"}, "prevalence names 'month', but the documents have the columns"),
        ({"prevalence": "year +"}, "cannot be read"),
        ({"prevalence": "1"}, "names no column"),
        ({"prevalence": "year", "learn": ["eta"]}, "learned with alpha"),
        ({"prevalence": "year + I(2 * year)"}, "follow from each other"),
        ({"prevalence": "__import__(year)"}, "which calls __import__"),
    ],
)
def test_what_makes_no_sense_is_refused(corpus: Corpus, given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        TopicModel(**{**SHORT, **given}).fit(corpus)


def test_labels_and_updates_are_refused(model: TopicModel, corpus: Corpus) -> None:
    with pytest.raises(InputError, match="give one of them"):
        TopicModel(prevalence="year", **SHORT).fit(corpus, labels="source")
    with pytest.raises(InputError, match="cannot be updated"):
        model.update(corpus)
    with pytest.raises(InputError, match="cannot be updated"):
        deepcopy(model).set_params(prevalence=None).update(corpus)
    with pytest.raises(InputError, match="fitted without prevalence"):
        TopicModel(n_topics=2, n_laps=1).fit(corpus).prevalence_effects()
