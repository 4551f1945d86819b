"""`--set NAME=VALUE`: parameters of the estimators, of counting words and of reading files."""

import pytest

import stickbreak
from stickbreak.cli.methods import METHODS
from stickbreak.cli.settings import Settings, parameters_of, values_set
from stickbreak.exceptions import InputError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("alpha=0.5", 0.5),
        ("n_laps=7", 7),
        ("init=anchors", "anchors"),
        ("init='anchors'", "anchors"),
        ("branching=3,6,6", (3, 6, 6)),
        ("branching=[3, 6]", [3, 6]),
        ("moves=merge,birth", ("merge", "birth")),
        ("moves=merge,", ("merge",)),
        ("grow_vocabulary=true", True),
        ("grow_vocabulary=no", False),
        ("tolerance=None", None),
        ("tolerance=none", None),
        ("alpha=inf", float("inf")),
        ("token_pattern=[a-z]+", "[a-z]+"),
        ("token-pattern=a=b", "a=b"),
    ],
)
def test_values_are_those_of_python_and_words_need_no_quotes(text, value):
    (found,) = values_set([text]).values()
    assert found == value
    assert type(found) is type(value)


def test_the_lines_of_a_file_are_a_value(tmp_path):
    (tmp_path / "t.txt").write_text("\ufeffsky/stars\n\nsky / moon, full\n", encoding="utf-8")
    assert values_set([f"branching=@{tmp_path / 't.txt'}"]) == {"branching": ("sky/stars", "sky / moon, full")}
    with pytest.raises(InputError, match=r"none\.txt cannot be read"):
        values_set([f"branching=@{tmp_path / 'none.txt'}"])


@pytest.mark.parametrize("text", ["alpha", "=3", "3=alpha", ""])
def test_what_names_nothing_is_refused(text):
    with pytest.raises(InputError, match="give NAME=VALUE"):
        values_set([text])


@pytest.mark.parametrize("method", METHODS)
def test_every_parameter_of_every_method_can_be_set(method):
    values = {name: one.default for name, one in parameters_of(method).items()}
    assert values
    assert Settings.of(values, method).estimator == values


def test_a_word_alone_stands_for_a_sequence_of_it():
    found = Settings.of({"moves": "merge", "learn": ()}, "gaussian-hdp").estimator
    assert found == {"moves": ("merge",), "learn": ()}


@pytest.mark.parametrize(
    ("method", "name", "message"),
    [
        ("topics", "max_topic", "no parameter has this name; did you mean max_topics"),
        ("topics", "burn_in", "is for --method gibbs, but the method is topics"),
        ("topics", "zzz", "stickbreak fit --method topics --help-all lists all"),
        (None, "alpha", "no parameter has this name"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(method, name, message):
    with pytest.raises(InputError, match=message):
        Settings.of({name: 1}, method)


def test_help_all_has_every_method_and_the_parameters_of_one(run):
    text = " ".join(run("fit", "--method", "tree", "--help-all").stdout.split())
    assert all(f"{name}: {method.purpose}" in text for name, method in METHODS.items())
    defaults = stickbreak.BackoffTreeTopics().get_params()
    assert all(f"{name}={defaults[name]!r}" in text for name in parameters_of("tree"))
    assert "max_features" in text


@pytest.mark.parametrize(
    ("option", "advice"),
    [
        ("--burn-in", "a parameter is given by --set burn_in=VALUE"),
        ("--seed", "give --random-state"),
        ("--n-jobs", "give --jobs"),
    ],
)
def test_an_unknown_option_is_answered_with_what_takes_its_place(refuse, documents, tmp_path, option, advice):
    assert advice in refuse("fit", documents, "--out", tmp_path / "m", option, "3")


def test_a_pattern_of_words_keeps_its_commas():
    for text in (r"\w{2,}", r'"\w{2,}"'):
        assert values_set([f"token_pattern={text}"]) == {"token_pattern": r"\w{2,}"}
    assert values_set(["token_pattern=none"]) == {"token_pattern": None}
