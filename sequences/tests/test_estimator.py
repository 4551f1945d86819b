"""Planted states from both starts; the face; checkpoints and saved models; input; pictures; the command line."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

import stickbreak
from stickbreak.cli.app import app
from stickbreak.exceptions import InputError, ModelFormatError
from stickbreak.likelihoods import DirichletMultinomial
from stickbreak.methods import estimator_of, methods
from stickbreak_sequences import Sequences, StickyHDPHMM, planted_states

SMALL = {"n_states": 6, "n_laps": 7, "tolerance": 0.0, "random_state": 0}


@pytest.mark.parametrize("kind", ["full", "symbols"])
@pytest.mark.parametrize("start", [1, 50])
def test_planted_states_are_found_from_one_and_from_fifty(kind, start):
    X, states = planted_states(kind, seed=2)
    model = StickyHDPHMM(n_states=start, random_state=0).fit(X)
    assert model.n_states_ == 5
    assert adjusted_rand_score(states, model.predict(X)) > 0.98
    assert model.converged_


def test_each_move_alone_does_its_work():
    X, _ = planted_states("full", n_states=3, n_sequences=6, length=100, seed=1)
    for move, start in (("merge", 12), ("delete", 8), ("birth", 1)):
        model = StickyHDPHMM(n_states=start, moves=(move,), n_laps=40, random_state=0).fit(X)
        changed = [change["n_topics"] for change in model.moves_ if change["move"] == move]
        assert changed, move
        assert changed[-1] == model.n_states_ != start


def test_a_sticky_model_predicts_lazy_sequences_better():
    X, _ = planted_states("symbols", n_states=4, n_sequences=12, length=30, stay=0.97, seed=4)
    train, held = X.split(0.25, seed=0)
    plain, sticky = (StickyHDPHMM(kappa=kappa, random_state=0).fit(train) for kappa in (0, 20))
    assert sticky.score(held) > plain.score(held) - 1e-3
    assert sticky.objective_ > plain.objective_


@pytest.mark.parametrize("kind", ["full", "symbols"])
def test_loaded_resumed_and_continued_fits_are_the_same(kind, tmp_path):
    X, _ = planted_states(kind, n_states=3, n_sequences=5, length=50, seed=0)
    longer = StickyHDPHMM(**{**SMALL, "n_laps": 10}, n_batches=2).fit(X)
    model = StickyHDPHMM(**SMALL, n_batches=2).fit(X, checkpoint=tmp_path / "cut")
    model.save(tmp_path / "model")
    loaded = stickbreak.load(tmp_path / "model")
    assert (loaded.transform(X) == model.transform(X)).all()
    assert loaded.symbols_ == model.symbols_
    resumed = StickyHDPHMM(**{**SMALL, "n_laps": 10}, n_batches=2).fit(X, checkpoint=tmp_path / "cut", resume=True)
    for other in (loaded.continue_fit(X, n_laps=3), resumed):
        assert (other.statistics_ == longer.statistics_).all()
        assert (other.move_counts_ == longer.move_counts_).all()
        assert (other.trace_["objective"] == longer.trace_["objective"]).all()


def test_the_number_of_threads_and_the_scratch_folder_change_no_bit(tmp_path):
    X, _ = planted_states("full", n_states=3, n_sequences=5, length=50, seed=0)
    one = StickyHDPHMM(**SMALL, n_batches=3, batches_at_once=2).fit(X)
    other = StickyHDPHMM(**SMALL, n_batches=3, batches_at_once=2, n_jobs=3, scratch=tmp_path).fit(X)
    assert (one.statistics_ == other.statistics_).all()


def test_a_damaged_file_is_refused(tmp_path):
    from safetensors.numpy import load_file, save_file

    X, _ = planted_states("symbols", n_states=2, n_sequences=3, length=30, seed=0)
    StickyHDPHMM(**SMALL).fit(X).save(tmp_path / "model")
    file = next(iter((tmp_path / "model").glob("*.safetensors")))
    arrays = load_file(file)
    save_file({**arrays, "move_counts_": -1.0 - arrays["move_counts_"]}, file)
    with pytest.raises(ModelFormatError):
        stickbreak.load(tmp_path / "model")


def test_probabilities_and_paths():
    X, _ = planted_states("full", n_states=3, n_sequences=4, length=40, seed=0)
    model = StickyHDPHMM(**SMALL).fit(X)
    share = model.transform(X)
    np.testing.assert_allclose(share.sum(axis=1), 1.0)
    assert (model.predict(X, path="marginal") == share.argmax(axis=1)).all()
    np.testing.assert_allclose(model.transition_.sum(axis=1), 1.0)
    np.testing.assert_allclose(model.start_.sum(), 1.0)
    assert model.means_.shape == (model.n_states_, 2)
    assert model.covariances_.shape == (model.n_states_, 2, 2)
    assert np.trace(model.transition_) / model.n_states_ > 0.8
    with pytest.raises(InputError, match="viterbi"):
        model.predict(X, path="best")


def test_the_score_of_symbols_is_that_of_their_probabilities():
    """Of a model with one state the score is the mean log of the probabilities of symbols."""
    X = Sequences.of([["a", "b", "a"], ["b", "a", "a"]])
    model = StickyHDPHMM(n_states=1, moves=(), n_laps=3, eta=0.5).fit(X)
    p = (np.array([4.0, 2.0]) + 0.5) / 7.0
    np.testing.assert_allclose(model.means_[0], p)
    np.testing.assert_allclose(model.score([["a", "b"]]), np.log(p).mean())
    np.testing.assert_allclose(model.score([["a", "never seen", None]]), np.log(p[0]))  # others do not count
    for nothing in ([["never seen"]], X[:0]):
        with pytest.raises(InputError, match="no step with an observation"):
            model.score(nothing)
    assert model.top_symbols(1) == [["a"]]


def test_all_ways_to_give_sequences_are_the_same():
    rng = np.random.default_rng(0)
    values, lengths, label = rng.normal(size=(30, 2)), [12, 0, 18], np.repeat(["b", "a"], [12, 18])
    arrays = [values[:12], values[12:12], values[12:]]
    frame = pd.DataFrame({"x": values[:, 0], "y": values[:, 1], "who": label, "when": np.tile(np.arange(30), 1)})
    shuffled = frame.sample(frac=1.0, random_state=0)
    whole = sparse.coo_array(np.eye(3)[[0, 2, 2, 1]])
    assert Sequences.of(whole, lengths=[3, 1]).lengths.tolist() == [3, 1]
    for given, options in ((arrays, {}), (values, {"lengths": lengths})):
        found = Sequences.of(given, **options)
        assert found.lengths.tolist() == lengths
        assert (found.steps == values).all()
    ordered = Sequences.of(shuffled, sequence="who", order="when")
    assert sorted(ordered.names) == ["a", "b"]
    assert (ordered[[ordered.names.index("b")]].steps == values[:12]).all()
    symbols = [np.array([0, 2, 2]), np.array([1])]
    as_counts = Sequences.of([sparse.csr_array(np.eye(3)[part]) for part in symbols])
    assert (Sequences.of(symbols).steps != as_counts.steps).nnz == 0
    texts = pd.DataFrame({"word": ["u", "v", "u"]})
    assert Sequences.of(texts).symbols == ("u", "v")


def test_states_come_in_the_order_of_the_rows_of_a_frame():
    X, _ = planted_states("full", n_states=3, n_sequences=4, length=30, seed=0)
    frame = pd.DataFrame(X.steps, columns=["x", "y"])
    frame["who"], frame["when"] = np.repeat(list("dbca"), 30), np.tile(np.arange(30), 4)
    model = StickyHDPHMM(**SMALL).fit(X)
    shuffled, columns = frame.sample(frac=1.0, random_state=0), {"sequence": "who", "order": "when"}
    for path in ("viterbi", "marginal"):
        states = pd.Series(model.predict(shuffled, path=path, **columns), shuffled.index).sort_index()
        assert states.tolist() == model.predict(X, path=path).tolist()
    of_frame = StickyHDPHMM(**SMALL).fit(shuffled, **columns)
    longer = StickyHDPHMM(**{**SMALL, "n_laps": SMALL["n_laps"] + 2}).fit(shuffled, **columns)
    of_frame.continue_fit(shuffled, n_laps=2, **columns)
    np.testing.assert_array_equal(of_frame.statistics_, longer.statistics_)
    share = pd.DataFrame(model.transform(shuffled, **columns), shuffled.index).sort_index()
    np.testing.assert_allclose(share, model.transform(X), atol=1e-12)


def test_columns_of_vectors_are_taken_by_their_names(tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 2)) * [1.0, 9.0], columns=["x", "y"])
    model = StickyHDPHMM(**SMALL).fit(frame)
    model.save(tmp_path / "model")
    model = stickbreak.load(tmp_path / "model")
    other = frame[["y", "x"]].assign(state="more")
    assert (model.transform(other) == model.transform(frame)).all()
    assert (model.transform(Sequences.of(frame[["y", "x"]])) == model.transform(frame)).all()
    with pytest.raises(InputError, match="'y', which is not a column"):
        model.transform(frame[["x"]])
    assert not hasattr(model.fit(frame.to_numpy()), "feature_names_in_")


def test_rows_are_ordered_by_numbers_and_dates_as_they_are_meant():
    frame = pd.DataFrame({"word": ["b", "a", "c"], "when": ["10", "9", "11"]})
    assert Sequences.of(frame, order="when").rows.tolist() == [1, 0, 2]
    dates = frame.assign(when=["2026-01-02T10:00", "2026-01-02", "2026-02-01"])
    assert Sequences.of(dates, order="when").rows.tolist() == [1, 0, 2]
    written = frame.assign(when=["02.01.2026", "01.01.2026", "01.02.2026"])
    assert Sequences.of(written, order="when", date_format="%d.%m.%Y").rows.tolist() == [1, 0, 2]
    with pytest.raises(InputError, match=r"'02.01.2026'.*--date-format"):
        Sequences.of(written, order="when")
    with pytest.raises(InputError, match="'2/1/2026', which is no number and no date"):
        Sequences.of(frame.assign(when=["2/1/2026", "10/1/2026", "3/1/2026"]), order="when")
    for missing in ([1.0, np.nan, 2.0], ["1", "", "2"], [None, "1", "2"]):
        with pytest.raises(InputError, match="rows without a value"):
            Sequences.of(frame.assign(when=missing), order="when")


def test_a_fit_begins_with_windows_of_all_batches():
    X, _ = planted_states("full", n_states=2, n_sequences=1, length=40, seed=0)
    empty = X.steps[:0]
    model = StickyHDPHMM(**SMALL, n_batches=3).fit([X.steps, empty, empty])
    assert model.n_states_ >= 1


@pytest.mark.parametrize(
    ("given", "symbols", "n"),
    [
        (["a", "b", "a"], ("a", "b"), 3),
        (np.array([1, 2, 1]), ("1", "2"), 3),
        (["abcab", "bca"], ("abcab", "bca"), 2),
        (pd.Series(["a", None]), ("a",), 2),
        ([["a", np.nan], ["b"]], ("a", "b"), 3),
        ([1, None, 10, 2], ("1", "2", "10"), 4),
        ([np.array([True, False]), np.array([1, 0])], ("0", "1", "False", "True"), 4),
        (pd.DataFrame({"page": pd.array(["a", None, "b"], dtype="string")}), ("a", "b"), 3),
    ],
)
def test_a_flat_row_is_a_sequence_of_symbols(given, symbols, n):
    found = Sequences.of(given)
    assert (found.symbols, found.n_steps) == (symbols, n)
    StickyHDPHMM(n_states=2, n_laps=2).fit(given)


@pytest.mark.parametrize(
    ("given", "options", "said"),
    [
        ([np.array([[0.0, np.nan]])], {}, "NaN"),
        ([np.array([0.5, 1.5])], {}, "not whole"),
        ([np.zeros((2, 2)), np.zeros((2, 3))], {}, "different lengths"),
        ([np.zeros((2, 2)), np.array([1, 2])], {}, "different kinds"),
        ([], {}, "no step"),
        ("text", {}, "list of arrays"),
        (np.zeros((3, 2)), {"lengths": [1, 1]}, "lengths"),
        (np.zeros((3, 2)), {"sequence": "x"}, "DataFrame"),
        (pd.DataFrame({"x": [1.0, 2.0]}), {"lengths": [1, 1]}, "lengths cut one array"),
        (pd.DataFrame({"x": [1.0]}), {"sequence": "who"}, "who"),
        (pd.DataFrame({"x": [1.0], "y": ["a"]}), {}, r"neither all numbers nor one of texts \(y\).*--group-field"),
        ([["a"], "b"], {}, "sequence 1 is not"),
        ([sparse.csr_array(-np.eye(2))], {}, "negative"),
    ],
)
def test_what_is_no_sequence_is_refused_in_a_sentence(given, options, said):
    with pytest.raises(InputError, match=said):
        StickyHDPHMM().fit(given, **options)


def test_parameters_that_do_not_suit_the_steps_are_refused():
    vectors, symbols = [np.zeros((3, 2))], [np.array([0, 1, 1])]
    for parameters, X in (
        ({"likelihood": "symbols"}, vectors),
        ({"likelihood": "diagonal"}, symbols),
        ({"learn": ("eta",)}, vectors),
        ({"learn": ("scale",)}, symbols),
        ({"learn": ("kappa",), "kappa": 0}, symbols),
        ({"moves": ("split",)}, symbols),
        ({"scratch": 5}, symbols),
        ({"likelihood": DirichletMultinomial(0.1, 3)}, symbols),
        ({"likelihood": DirichletMultinomial(np.full(2, 0.1), 2), "learn": ("eta",)}, symbols),
    ):
        with pytest.raises((InputError, ValueError)):
            StickyHDPHMM(**parameters).fit(X)
    drawn = [np.random.default_rng(0).normal(size=(9, 2))]
    for fitted, other, said in ((symbols, drawn, "states of symbols"), (drawn, symbols, "states of vectors")):
        model = StickyHDPHMM(n_states=2, n_laps=2).fit(fitted)
        with pytest.raises(InputError, match=said):
            model.transform(other)


def test_a_picture_has_a_row_for_each_sequence():
    X, _ = planted_states("symbols", n_states=3, n_sequences=4, length=30, seed=0)
    model = StickyHDPHMM(**SMALL).fit(X)
    picture = model.plot.states(X, most=3)
    (heat,) = picture.data
    assert np.array(heat.z).shape == (3, 30)
    assert np.array(heat.z).ravel().tolist() == model.predict(X[:3]).tolist()
    assert model.plot.trace("n_states").data


def test_the_method_is_known():
    assert methods()["hmm"].estimator == "StickyHDPHMM"
    assert estimator_of("StickyHDPHMM") is StickyHDPHMM


def run(*words, capsys):
    app(list(map(str, words)), standalone_mode=False)
    return capsys.readouterr().out


def test_the_command_line_fits_transforms_and_evaluates(tmp_path, capsys):
    X, states = planted_states("full", n_states=3, n_sequences=6, length=50, seed=0)
    frame = pd.DataFrame(X.steps, columns=["x", "y"])
    frame["who"], frame["when"] = np.repeat([f"s{d}" for d in range(6)], 50), np.tile(np.arange(100, 150), 6)
    frame["note"] = "not used"
    table = tmp_path / "steps.csv"
    frame.sample(frac=1.0, random_state=0).to_csv(table, index=False)
    options = ["--group-field", "who", "--dates", "when"]
    out = tmp_path / "model"
    fit = ["fit", table, "--method", "hmm", *options, "--keep", "x,y", "--set", "n_states=8", "--out", out, "--quiet"]
    told = json.loads(run(*fit, "--held-out", "0.2", "--json", capsys=capsys))
    assert told["n_states"] == 3
    assert np.isfinite(told["held_out"]["nats_per_step"])
    assert "plotly" in (out / "report.html").read_text(encoding="utf-8")
    score = json.loads(run("evaluate", out, table, "--json", capsys=capsys))
    assert score["unit"] == "nats per step"
    frame[["y", "when", "x", "who"]].sample(frac=1.0, random_state=1).to_csv(table, index=False)
    run("transform", out, table, "--out", tmp_path / "states.csv", capsys=capsys)
    weights = pd.read_csv(tmp_path / "states.csv")
    step = weights.iloc[:, 0].str.extract(r"s(\d)/1(\d+)").astype(int)
    assert len(weights) == 300
    found = weights.iloc[:, 1:].to_numpy().argmax(axis=1)
    assert adjusted_rand_score(states[step[0] * 50 + step[1]], found) > 0.98


def test_the_command_line_takes_a_column_of_symbols(tmp_path, capsys):
    table = tmp_path / "clicks.tsv"
    rows = [f"{who}\t{word}" for who in "ab" for word in ["home", "home", "cart", "pay"] * 10]
    table.write_text("\n".join(["who\tpage", *rows]), encoding="utf-8")
    told = run(
        "fit", table, "--method", "hmm", "--group-field", "who", "--text", "page", "--out", tmp_path / "model",
        "--quiet", "--set", "n_states=4", "--json", capsys=capsys,
    )  # fmt: skip
    shown = json.loads(told)["states"]
    assert {symbol for state in shown for symbol in state["symbols"]} == {"home", "cart", "pay"}
    fit = ["fit", str(table), "--method", "hmm", "--text", "none", "--out", str(tmp_path / "other")]
    assert app(fit, standalone_mode=False) != 0
    assert "no column 'none'" in capsys.readouterr().err


def test_symbols_keep_their_names_from_file_to_file(tmp_path, capsys):
    rows = [(who, code) for who in "ab" for code in ["01", "1", "NA", "None", ""] * 8]
    table = tmp_path / "codes.csv"
    table.write_text("\n".join(["who;code", *map(";".join, rows)]), encoding="utf-8")
    fit = ["fit", table, "--method", "hmm", "--group-field", "who", "--delimiter", "semicolon", "--set", "n_states=2"]
    run(*fit, "--out", tmp_path / "model", "--quiet", capsys=capsys)
    model = stickbreak.load(tmp_path / "model")
    assert model.symbols_ == ("01", "1", "NA", "None")
    lines = [{"who": "a", "code": 1}, {"who": "a", "code": None}, {"who": "a", "code": 2}, {"who": "a", "code": "01"}]
    (tmp_path / "codes.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    frame = pd.DataFrame({"who": "a", "code": pd.array([1, None, 2, 1], dtype="Int64")})
    frame.to_parquet(tmp_path / "codes.parquet")
    (tmp_path / "new.csv").write_text("who;code\na;1\na;2\na;01\n", encoding="utf-8")
    for name in ("codes.jsonl", "codes.parquet", "new.csv"):
        told = json.loads(run("evaluate", tmp_path / "model", tmp_path / name, "--json", capsys=capsys))
        assert told["n_symbols_outside"] == 1, name
    app(["evaluate", str(tmp_path / "model"), str(tmp_path / "new.csv")], standalone_mode=False)
    assert "1 symbol is not in the model" in capsys.readouterr().out


def test_a_date_of_a_parquet_file_is_no_coordinate(tmp_path, capsys):
    frame = pd.DataFrame({"x": np.linspace(0, 1, 20), "when": pd.date_range("2026-01-01", periods=20)})
    frame.to_parquet(tmp_path / "steps.parquet")
    fit = ["fit", str(tmp_path / "steps.parquet"), "--method", "hmm", "--out", str(tmp_path / "model")]
    assert app(fit, standalone_mode=False) != 0
    assert "neither all numbers nor one of texts (when)" in capsys.readouterr().err
    run(*fit, "--dates", "when", "--set", "n_states=2", "--quiet", capsys=capsys)
    told = run("transform", tmp_path / "model", tmp_path / "steps.parquet", "--quiet", capsys=capsys)
    assert "0/2026-01-20 00:00:00" in told
    assert app(["transform", *fit[-1:], fit[1], "--text", "x"], standalone_mode=False) != 0
    assert "states of vectors, but these are sequences of symbols" in capsys.readouterr().err


def test_the_command_line_tells_the_coordinates_before_a_fit(tmp_path, capsys):
    table = tmp_path / "steps.csv"
    pd.DataFrame({"id": range(20), "x": np.linspace(0, 1, 20)}).to_csv(table, index=False)
    fit = ["fit", str(table), "--method", "hmm", "--set", "n_states=2", "--out", str(tmp_path / "model")]
    app(fit, standalone_mode=False)
    told = capsys.readouterr()
    assert "20 steps of 'id', 'x'" in told.out + told.err
