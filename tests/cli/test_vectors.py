"""Vectors on the command line: fit, topics, transform, evaluate, report, and what they refuse."""

import csv
import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

import stickbreak
from stickbreak.corpus import planted_gaussians, read_vectors, write_vectors
from stickbreak.report import build_component_report

FAST = ["--topics", "8", "--laps", "20", "--random-state", "1", "--jobs", "1", "--quiet"]
HDP = ["--method", "gaussian-hdp", "--set", "likelihood=full", *FAST]
MIXTURE = ["--method", "gaussian-mixture", *FAST]


@pytest.fixture(scope="module")
def planted():
    return planted_gaussians(n_groups=20, n_vectors=30, n_components=3, seed=0)[0]


@pytest.fixture(scope="module")
def place(tmp_path_factory, planted):
    """The same vectors as a folder, an array and two tables."""
    folder = tmp_path_factory.mktemp("vectors")
    write_vectors(planted, folder / "folder")
    np.save(folder / "array.npy", planted.values)
    group = np.repeat([f"g{name}" for name in planted.group_names], planted.group_sizes)
    rows = [[g, *map(repr, map(float, x))] for g, x in zip(group, planted.values, strict=True)]
    with open(folder / "table.csv", "w", newline="") as file:
        csv.writer(file).writerows([["image", "left", "right"], *rows])
    import pyarrow as pa

    left, right = planted.values.T
    pq.write_table(pa.table({"image": group, "left": left, "right": right}), folder / "table.parquet")
    return folder


@pytest.fixture(scope="module")
def models(tmp_path_factory, place):
    """A model of groups and one of single vectors; not to be changed."""
    from typer.testing import CliRunner

    from stickbreak.cli.app import app

    out = tmp_path_factory.mktemp("models")
    table, array = [place / "table.csv", "--group-field", "image", *HDP], [place / "array.npy", *MIXTURE]
    for name, given in (("hdp", table), ("mixture", array)):
        words = ["fit", *map(str, given), "--out", str(out / name)]
        done = CliRunner().invoke(app, words, prog_name="stickbreak", catch_exceptions=False)
        assert done.exit_code == 0, done.stderr
    return out


def test_every_input_gives_the_same_fit(run, place, planted, tmp_path):
    for name, more in (
        ("folder", []), ("table.csv", ["--group-field", "image"]), ("table.parquet", ["--group-field", "image"]),
    ):  # fmt: skip
        run("fit", place / name, "--out", tmp_path / name, *HDP, *more, "--no-report")
        found = stickbreak.load(tmp_path / name)
        given = {name: found.get_params()[name] for name in ("n_components", "likelihood", "n_laps", "random_state")}
        direct = stickbreak.GaussianHDP(**given, n_jobs=1).fit(planted)
        np.testing.assert_array_equal(found.statistics_, direct.statistics_)
        assert given == {"n_components": 8, "likelihood": "full", "n_laps": 20, "random_state": 1}


def test_summary_says_what_was_found_and_where_it_is(run, place, tmp_path):
    out = tmp_path / "m"
    lines = run("fit", place / "folder", "--out", out, *HDP, "--held-out", "0.2").stdout.splitlines()
    assert lines[0].split() == ["component", "weight", "spread", "directions", "mean"]
    model = stickbreak.load(out)
    _, held = read_vectors(place / "folder").vectors.split(0.2, seed=1)
    assert lines[lines.index("") + 1] == (
        f"Found  3 components in 16 groups of 480 vectors. Held-out log density: {model.score(held):.4f} nats per "
        "vector; higher is better."
    )
    assert lines[-2].startswith(f"Wrote  {out / 'report.html'} ")
    assert lines[-1].startswith("Next   see the components of each group: stickbreak transform")
    assert run("topics", out).stdout.splitlines()[-1] == lines[lines.index("") + 1].partition(". ")[2]
    assert build_component_report(model, held).held_out == model.score(held)
    assert build_component_report(model, held, held_out=-9.0).held_out == -9.0


def test_json_of_a_fit(run, place, tmp_path):
    options = [*MIXTURE, "--held-out", "100", "--no-report", "--json"]
    found = json.loads(run("fit", place / "array.npy", "--out", tmp_path / "m", *options).stdout)
    model = stickbreak.load(tmp_path / "m")
    assert (found["n_vectors"], found["n_vectors_fitted"], found["dim"]) == (600, 500, 2)
    assert (found["method"], found["n_components_start"], found["n_components"]) == ("gaussian-mixture", 8, 3)
    assert found["objective"] == model.objective_
    assert found["held_out"]["nats_per_vector"] < 0
    assert "alpha" not in found
    best = found["components"][0]
    np.testing.assert_allclose(best["mean"], model.means_[best["id"]])
    np.testing.assert_allclose(best["spread"], np.sqrt(np.diagonal(model.covariances_[best["id"]])))
    assert sum(best["variance_shares"]) == pytest.approx(1)


def test_topics_are_the_coordinates_that_tell_components_apart(run, models):
    lines = run("topics", models / "hdp", "--words", "1").stdout.splitlines()
    model = stickbreak.load(models / "hdp")
    weights = [float(line.split()[1].rstrip("%")) for line in lines[1:]]
    assert weights == sorted(weights, reverse=True)
    assert len(lines) == 1 + model.n_components_
    centre = model.weights_ @ model.means_
    for line in lines[1:]:
        k = int(line.split()[0])
        far = np.abs(model.means_[k] - centre) / np.sqrt(np.diagonal(model.covariances_[k]))
        assert f"{('left', 'right')[far.argmax()]} {model.means_[k][far.argmax()]:.3g} ±" in line
    assert json.loads(run("topics", models / "mixture", "--json").stdout)["n_components"] == 3


def test_weights_of_groups_and_of_vectors(run, place, planted, models, tmp_path):
    run("transform", models / "hdp", place / "table.parquet", "--out", tmp_path / "w.npz", "--quiet")
    with np.load(tmp_path / "w.npz") as found:
        np.testing.assert_array_equal(found["weights"], stickbreak.load(models / "hdp").transform(planted))
        assert found["names"][3] == "g3"
    lines = run("transform", models / "mixture", place / "table.csv", "--group-field", "image", "--quiet").stdout
    rows = list(csv.reader(lines.splitlines()))
    assert rows[0] == ["vector", "component_0", "component_1", "component_2"]
    expected = stickbreak.load(models / "mixture").predict_proba(planted.values)
    np.testing.assert_array_equal(np.array(rows[1:], dtype=float)[:, 1:], expected)
    assert rows[-1][0] == "599"
    told = run("transform", models / "hdp", place / "folder", "--out", tmp_path / "w.parquet", "--json", "--quiet")
    wanted = {"n_groups": 20, "n_vectors": 600, "dim": 2, "n_components": 3, "out": str(tmp_path / "w.parquet")}
    assert json.loads(told.stdout) == wanted
    assert pq.read_table(tmp_path / "w.parquet").column_names[:2] == ["group", "component_0"]


def test_columns_are_found_by_their_names(run, place, models, tmp_path):
    lines = (place / "table.csv").read_text().splitlines()
    turned = [",".join([*line.split(",")[:0:-1], line.split(",")[0], "0"]) for line in lines]
    (tmp_path / "v.csv").write_text("\n".join([turned[0].removesuffix("0") + "more", *turned[1:]]))
    expected = run("transform", models / "hdp", place / "table.csv", "--quiet").stdout
    assert run("transform", models / "hdp", tmp_path / "v.csv", "--quiet").stdout == expected


def test_tables_are_read_with_the_options_of_the_fit(run, place, tmp_path):
    table, out = tmp_path / "t.table", tmp_path / "m"
    table.write_bytes((place / "table.csv").read_text().replace(",", "!").replace("left", "größe").encode("latin-1"))
    options = ["--format", "csv", "--delimiter", "!", "--encoding", "latin-1", "--group-field", "image"]
    run("fit", table, "--out", out, *options, *HDP)
    assert len(run("transform", out, table, "--quiet").stdout.splitlines()) == 21
    assert len(run("transform", out, place / "array.npy", "--quiet", code=2).stderr.splitlines()) == 1  # no groups


def test_scores_are_nats_per_vector(run, place, planted, models):
    for name, data in (("hdp", planted), ("mixture", planted.values)):
        score = stickbreak.load(models / name).score(data)
        assert f"score      {score:.4f} nats per vector" in run("evaluate", models / name, place / "folder").stdout
        found = json.loads(run("evaluate", models / name, place / "folder", "--json").stdout)
        assert (found["held_out"], found["unit"]) == (score, "nats per vector")


def test_folder_of_images_becomes_patches_again_and_again(run, tmp_path):
    folder = tmp_path / "images"
    folder.mkdir()
    for k in range(2):
        pixels = np.random.default_rng(k).integers(0, 255, (20, 20), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{k}.png")
    more = ["--method", "gaussian-hdp", "--patch-size", "4", "--patches", "50", *FAST, "--laps", "3"]
    run("fit", folder, "--out", tmp_path / "m", *more)
    assert stickbreak.load(tmp_path / "m").n_features_in_ == 15
    assert '"patch_size":4' in (tmp_path / "m" / "report.html").read_text(encoding="utf-8")
    printed = run("transform", tmp_path / "m", folder / "1.png")
    assert "1 group, 50 vectors of 15 numbers" in printed.stderr
    assert printed.stdout.splitlines()[1].startswith("1.png,")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--vocabulary", "w.txt"], "--vocabulary is for words, but this is a model of vectors; leave it out"),
        (["--min-df", "2"], "the options that turn text into counts (--stop-words, --min-df, ...) are for words"),
        (["--set", "eta=1"], "--set eta is for --method topics"),
        (["--format", "jsonl"], "'jsonl' holds no vectors; give --format NAME (in Python: format), one of npy"),
        (["--no-header"], "--header or --no-header is for words"),
    ],
)
def test_fit_refuses_what_means_nothing_to_vectors(refuse, place, tmp_path, options, words):
    assert words in refuse("fit", place / "folder", "--out", tmp_path / "m", *HDP, *options)
    assert not (tmp_path / "m").exists()


def test_vectors_of_another_length_are_a_sentence(refuse, models, tmp_path):
    np.save(tmp_path / "v.npy", np.zeros((4, 3)))
    for command in ("transform", "evaluate"):
        words = "has vectors of 3 numbers, but the model's have 2; give"
        assert words in refuse(command, models / "mixture", tmp_path / "v.npy")
    write_vectors(stickbreak.GroupedVectors.from_values(np.zeros((4, 3))), tmp_path / "v")
    for command, more in (("transform", []), ("evaluate", []), ("report", ["--out", tmp_path / "r.html"])):
        assert words in refuse(command, models / "hdp", tmp_path / "v", *more)


@pytest.mark.parametrize("option", [["--group-field", "id"], ["--patch-size", "8"], ["--patches", "9"]])
def test_words_refuse_what_is_about_vectors(refuse, documents, model, tmp_path, option):
    wanted = f"Error: {option[0]} is for vectors, but this is a model of words; leave it out"
    assert refuse("fit", documents, "--out", tmp_path / "m", *option) == wanted
    assert refuse("transform", model, documents, *option) == wanted
