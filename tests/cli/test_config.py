"""`fit --config FILE.toml`, and the file that every fit leaves beside its model."""

import tomllib
from pathlib import Path

import numpy as np
import pytest

import stickbreak
from stickbreak.cli.config import toml_lines
from stickbreak.storage.urls import UrlPath

AWKWARD = [
    "", "plain", 'quo"tes', "it's", "back\\slash", "C:\\new\\table", "line\nend", "return\r\n", "tab\t", "nul\x00",
    "\x7f\x1b[31m", "# no comment", "[table]", "a = 1", '"""', "été 漢字 😀", "\u2028\u202e\ufeff", " spaces ", "true",
]  # fmt: skip


@pytest.mark.parametrize("text", AWKWARD)
def test_any_text_comes_back_from_toml_as_it_was(text):
    assert tomllib.loads("".join(toml_lines({"text_field": text}))) == {"text-field": text}


@pytest.mark.parametrize(
    "value", [0, -3, 10**18, 0.1, 1e-05, 1e300, 1 / 15, float("inf"), True, False, (), ("a", 'b"'), (3, 6), (0.5, 1.0)]
)
def test_any_value_comes_back_from_toml_as_it_was(value):
    found = tomllib.loads("".join(toml_lines({"key": value})))["key"]
    assert found == (list(value) if isinstance(value, tuple) else value)
    assert type(found) is (list if isinstance(value, tuple) else type(value))


def test_a_path_that_is_not_unicode_is_left_out_with_a_remark():
    lines = "".join(toml_lines({"input": Path("caf\udce9.txt"), "seed": 1}))
    assert tomllib.loads(lines) == {"seed": 1}
    assert lines.startswith("# input is left out")


@pytest.mark.parametrize(
    ("url", "kept", "whole"),
    [
        ("s3://bucket/a.jsonl?region=eu-west-1", "s3://bucket/a.jsonl?region=eu-west-1", True),
        ("s3://KEY:SECRET@bucket/a?region=eu&token=SECRET", "s3://bucket/a?region=eu", False),
        ("gs://anonymous@bucket/a.jsonl", "gs://bucket/a.jsonl", False),
        ("memory://a/b", "memory://a/b", True),
    ],
)
def test_a_url_keeps_options_that_any_one_may_see_and_no_secret(url, kept, whole):
    lines = "".join(toml_lines({"input": UrlPath(url)}))
    assert tomllib.loads(lines) == {"input": kept}
    assert lines.startswith("# input had credentials or options") != whole
    assert "SECRET" not in lines


def test_every_fit_leaves_its_options_beside_the_model(run, documents, tmp_path):
    given = "--method variational --topics 6 --laps 2 --jobs 1 --quiet --no-report --held-out 0.2 --learn alpha,eta "
    given += "--moves none --tolerance 1e-3 --delete-documents all --min-df 2 --force"
    run("fit", documents, "--out", tmp_path / "m", *given.split())
    assert tomllib.loads((tmp_path / "m" / "fit.toml").read_text(encoding="utf-8")) == {
        "input": str(documents), "out": str(tmp_path / "m"), "method": "variational", "topics": 6, "laps": 2, "jobs": 1,
        "quiet": True, "no-report": True, "held-out": 0.2, "learn": ["alpha", "eta"], "moves": [], "tolerance": 0.001,
        "delete-documents": "all", "min-df": "2",
    }  # fmt: skip


def fingerprint(folder):
    """The bytes of everything that a fit decides: not its seconds."""
    model = stickbreak.load(folder)
    trace = [column.tobytes() for name, column in sorted(model.trace_.items()) if name != "seconds"]
    weights = getattr(model, "topic_weights_", None)
    fitted = (model.topic_word_, weights) if hasattr(model, "topic_word_") else (model.means_, model.weights_)
    return [
        *trace,
        *(array.tobytes() for array in map(np.asarray, fitted)),
        sorted(model.get_params().items(), key=str),
    ]


@pytest.mark.parametrize(
    "options",
    [
        "--topics 5 --laps 4 --seed 3 --held-out 0.1 --alpha 0.30000000000000004 --learn alpha,eta",
        "--method variational --topics 5 --laps 2 --moves merge,birth --init documents --tolerance 1e-7",
        "--method gibbs --topics 5 --laps 4 --alpha-prior 2,0.1 --burn-in 1",
        "--method tree --branching 3,2,2 --laps 3 --alpha 0.3,0.2,0.1 --learn none",
    ],
)
def test_fit_is_repeated_to_the_same_bits_by_one_command(run, documents, tmp_path, monkeypatch, options):
    monkeypatch.chdir(tmp_path)
    run("fit", documents, "--out", "m", "--no-report", *options.split())
    run("fit", "--config", "m/fit.toml", "--out", "again")
    assert fingerprint("again") == fingerprint("m")
    run("fit", documents, "--out", "other", "--no-report", *options.split(), "--laps", "2", "--seed", "9")
    assert fingerprint("other") != fingerprint("m")


def test_fit_of_vectors_is_repeated_to_the_same_bits(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    values = np.random.default_rng(0).normal(size=(60, 2)).round(3)
    Path("v.csv").write_text("x,y,g\n" + "".join(f"{x},{y},{i % 6}\n" for i, (x, y) in enumerate(values)))
    options = (
        "--method gaussian-hdp --components 4 --laps 3 --likelihood diagonal --learn alpha,scale --seed 2 --no-report"
    )
    run("fit", "v.csv", "--out", "m", "--group-field", "g", *options.split())
    run("fit", "--config", "m/fit.toml", "--out", "again")
    assert fingerprint("again") == fingerprint("m")


def test_repeated_options_are_the_same_file(run, documents, tmp_path, fast):
    run("fit", documents, "--out", tmp_path / "m", "--no-report", "--learn", "none", *fast)
    run("fit", "--config", tmp_path / "m" / "fit.toml", "--force")
    first = (tmp_path / "m" / "fit.toml").read_bytes()
    run("fit", "--config", tmp_path / "m" / "fit.toml", "--force")
    assert (tmp_path / "m" / "fit.toml").read_bytes() == first


def test_a_repetition_replaces_no_model_unasked(run, refuse, documents, tmp_path, fast):
    run("fit", documents, "--out", tmp_path / "m", "--no-report", "--force", *fast)
    assert "already exists" in refuse("fit", "--config", tmp_path / "m" / "fit.toml")


def test_the_line_goes_before_the_file(run, documents, tmp_path, fast):
    config = tmp_path / "c.toml"
    config.write_text(f'input = "{documents}"\ntopics = 9\nlaps = 3\nseed = 4\n')
    run("fit", "--config", config, "--out", tmp_path / "m", "--topics", "5", "--no-report", "--quiet")
    model = stickbreak.load(tmp_path / "m")
    assert (model.n_topics, model.n_laps, model.random_state) == (5, 3, 4)
    assert tomllib.loads((tmp_path / "m" / "fit.toml").read_text())["topics"] == 5


@pytest.mark.parametrize(
    ("in_file", "on_line", "written"),
    [("no-report = true\n", ["--report", "r.html"], True), ('report = "r.html"\n', ["--no-report"], False)],
)
def test_a_report_on_the_line_goes_before_the_file(
    run, documents, tmp_path, monkeypatch, fast, in_file, on_line, written
):
    monkeypatch.chdir(tmp_path)
    Path("c.toml").write_text(in_file)
    run("fit", documents, "--config", "c.toml", "--out", "m", *on_line, *fast)
    assert Path("r.html").exists() == written
    run("fit", "--config", "m/fit.toml", "--out", "again")  # one of the two is in it


def test_an_option_of_two_names_is_read_by_either(refuse, documents, tmp_path):
    for name in ("topics", "components"):
        (tmp_path / "c.toml").write_text(f"{name} = 0\n")
        assert "--topics is 0" in refuse("fit", documents, "--config", tmp_path / "c.toml", "--out", tmp_path / "m")


def test_flags_and_names_are_read(run, documents, tmp_path):
    config = tmp_path / "c.toml"
    config.write_text(
        'quiet = true\nno-report = true\nmethod = "gibbs"\nlearn = []\ntopics = 4\nlaps = 3\nmin-df = 2\n'
    )
    assert run("fit", documents, "--config", config, "--out", tmp_path / "m").stderr == ""
    model = stickbreak.load(tmp_path / "m")
    assert (type(model).__name__, model.learn, model.n_topics) == ("GibbsHDP", (), 4)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("topcis = 5\n", "c.toml: 'topcis' is not an option of stickbreak fit; did you mean topics?"),
        ("text_field = 'a'\n", "c.toml: 'text_field' is not an option of stickbreak fit; did you mean text-field?"),
        ("zzz = 5\n", "c.toml: 'zzz' is not an option of stickbreak fit; stickbreak fit --help-all lists them"),
        ("config = 'c.toml'\n", "'config' is not an option"),
        ("[model]\ntopics = 5\n", "'model' is not an option"),
        ("topics = {a = 1}\n", "c.toml: topics is a dict; give a number, a text, or a list of either"),
        ("topics = 2020-01-01\n", "c.toml: topics is a date; give a number"),
        ("topics = 'many'\n", "--topics is many; give a whole number from 1 to 65,536"),
        ("topics = [1, 2]\n", "--topics is 1,2; give a whole number from 1 to 65,536"),
        ("seed = '1'\n", "c.toml: seed is '1'; give a whole number"),
        ("seed = true\n", "c.toml: seed is True; give a whole number"),
        ("seed = -1\n", "--seed"),
        ("quiet = 1\n", "c.toml: quiet is 1; give true or false"),
        ("held-out = 'half'\n", "c.toml: held-out is 'half'; give a number"),
        ("vocabulary = 3\n", "c.toml: vocabulary is 3; give a path as text"),
        ("stop-words = ['a']\n", "c.toml: stop-words is ['a']; give a text"),
        ("thin = 2\n", "--thin needs --method gibbs, but the method is topics"),
        ("method = 'luck'\n", "--method is 'luck'"),
        ("topics = \n", "c.toml is not a TOML file (Invalid value (at line 1, column 10)); write lines such as"),
    ],
)
def test_a_wrong_file_is_one_sentence(refuse, documents, tmp_path, text, words):
    config = tmp_path / "c.toml"
    config.write_text(text)
    assert words in refuse("fit", documents, "--config", config, "--out", tmp_path / "m")
    assert list(tmp_path.iterdir()) == [config]


def test_a_file_that_is_missing_or_not_text_is_one_sentence(refuse, documents, tmp_path):
    line = refuse("fit", documents, "--config", tmp_path / "no.toml", "--out", tmp_path / "m")
    assert "no.toml cannot be read (No such file or directory)" in line
    (tmp_path / "c.toml").write_bytes(b"\xff\xfe")
    assert "is not a TOML file" in refuse("fit", documents, "--config", tmp_path / "c.toml", "--out", tmp_path / "m")


def test_an_input_that_moved_is_told_with_what_to_do(run, refuse, records, tmp_path, monkeypatch, fast):
    monkeypatch.chdir(tmp_path)
    Path("d.txt").write_text("".join(record["text"] + "\n" for record in records))
    run("fit", "d.txt", "--out", "m", "--no-report", *fast)
    Path("d.txt").rename("moved.txt")
    line = refuse("fit", "--config", "m/fit.toml", "--out", "n")
    assert line.startswith("Error: d.txt, the input that m/fit.toml names, does not exist; run the command in the")
    assert line.endswith("or name the input: stickbreak fit INPUT --config m/fit.toml")
    run("fit", "moved.txt", "--config", "m/fit.toml", "--out", "n")
    assert fingerprint("n") == fingerprint("m")
