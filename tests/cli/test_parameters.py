"""What the command line knows of the estimators is what they say: ranges, names, defaults, and that None is taken."""

import inspect
import math

import pytest

from stickbreak.cli import stored
from stickbreak.cli.describe import describe
from stickbreak.cli.methods import METHODS
from stickbreak.cli.model_options import OTHERWISE, is_reachable
from stickbreak.cli.parameters import Kind, Parameter
from stickbreak.cli.stored import STORED, parameters_of_estimator, stored_text
from stickbreak.methods import estimator_of

NAMES = [method.estimator for method in METHODS.values()]


def test_stored_parameters_are_those_of_the_estimators():
    assert STORED.read_text(encoding="utf-8") == stored_text(), "run make cli-docs"


@pytest.mark.parametrize("name", NAMES)
def test_stored_parameters_are_read_as_they_were_described(name):
    assert list(parameters_of_estimator(name).values()) == list(describe(estimator_of(name)))


def test_an_estimator_that_is_not_stored_is_described_directly(monkeypatch):
    monkeypatch.setattr(stored, "_stored", dict)
    assert parameters_of_estimator("GibbsHDP")["thin"].kinds == (Kind("int", least=1),)


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_is_described_by_a_sentence(name):
    texts = {key: one.text for key, one in parameters_of_estimator(name).items() if is_reachable(one)}
    assert [key for key, text in texts.items() if not text.endswith(".") or len(text) > 130] == []
    assert [key for key, one in parameters_of_estimator(name).items() if is_reachable(one) and one.none == ""] == []


@pytest.mark.parametrize("name", NAMES)
def test_docstring_and_constraints_agree(name):
    constraints = estimator_of(name)._parameter_constraints
    for key, parameter in parameters_of_estimator(name).items():
        known = constraints[key]
        if known == "no_validation" or key in OTHERWISE:
            continue
        assert (parameter.none is not None) == (None in known), key
        options = {option for one in known if str(one).startswith("a str among") for option in one.options}
        assert not options or set(parameter.names) == options, key
        for kind in parameter.kinds:
            intervals = [one for one in known if hasattr(one, "closed")]
            if intervals and kind.type in ("int", "float"):
                assert kind.type == ("int" if intervals[0].type.__name__ == "Integral" else "float"), key


@pytest.mark.parametrize("name", NAMES)
def test_default_can_be_given(name):
    for parameter in parameters_of_estimator(name).values():
        if parameter.kinds and parameter.default is not None:
            default = parameter.default
            several = isinstance(default, tuple)
            text = ",".join(map(str, default)) or "none" if several else str(default)
            text = {"True": "yes", "False": "no"}.get(text, text)
            assert parameter.read("--x", text) == default


@pytest.mark.parametrize("name", NAMES)
def test_numbers_at_the_ends_of_a_range_are_taken_as_the_estimator_takes_them(name):
    constraints = estimator_of(name)._parameter_constraints
    for key, parameter in parameters_of_estimator(name).items():
        intervals = [one for one in constraints[key] if hasattr(one, "closed")]
        for kind in parameter.kinds if intervals else ():
            for end in (kind.least, kind.most):
                for step in (-1, 0, 1) if end is not None else ():
                    value = end + step * (1 if kind.type == "int" else end / 2 or 0.5)
                    taken = any(one.is_satisfied_by(value) for one in intervals)
                    assert takes(parameter, repr(value)) == taken, (key, value)


def takes(parameter: Parameter, text: str) -> bool:
    try:
        parameter.read("--x", text)
    except ValueError:
        return False
    return True


TOLERANCE = parameters_of_estimator("TopicModel")["tolerance"]
PRIOR = parameters_of_estimator("GibbsHDP")["alpha_prior"]
BRANCHING = parameters_of_estimator("BackoffTreeTopics")["branching"]
DELETE = parameters_of_estimator("VariationalHDP")["delete_documents"]
LEARN = parameters_of_estimator("VariationalHDP")["learn"]


@pytest.mark.parametrize(
    ("parameter", "text", "value"),
    [
        (TOLERANCE, "1e-3", 0.001),
        (TOLERANCE, "inf", math.inf),
        (TOLERANCE, "none", None),
        (DELETE, "all", None),
        (DELETE, "30", 30),
        (PRIOR, "2,0.5", (2.0, 0.5)),
        (BRANCHING, "tall", "tall"),
        (BRANCHING, "3, 6,6", (3, 6, 6)),
        (LEARN, "alpha, eta", ("alpha", "eta")),
        (LEARN, "none", ()),
    ],
)
def test_text_is_read_as_the_value(parameter, text, value):
    assert parameter.read("--x", text) == value


@pytest.mark.parametrize(
    ("parameter", "text", "sentence"),
    [
        (TOLERANCE, "nan", "--x is 'nan'; give a number from 0 up, or none"),
        (TOLERANCE, "all", "--x is 'all'; give a number from 0 up, or none"),
        (DELETE, "2.5", "--x is '2.5'; give a whole number from 1 up, or all"),
        (PRIOR, "2", "--x is 2; give 2 numbers, as 0.5,1.5"),
        (PRIOR, "1,2,3", "--x is 1,2,3; give 2 numbers, as 0.5,1.5"),
        (
            BRANCHING,
            "3,x",
            "--x is '3,x'; give wide or tall, or whole numbers, as 3,6,6, or a file with one path of names a line, "
            "as science/physics",
        ),
        (LEARN, "alpha;eta", "--x is 'alpha;eta'; give one or more of alpha, gamma or eta, as alpha,gamma, or none"),
        (parameters_of_estimator("TopicModel")["max_topics"], "0", "--x is 0; give a whole number from 1 to 65,536"),
    ],
)
def test_wrong_text_is_a_sentence_that_says_what_to_give(parameter, text, sentence):
    with pytest.raises(ValueError, match="give") as refused:
        parameter.read("--x", text)
    assert str(refused.value) == sentence


def test_defaults_are_those_of_the_signature():
    for name in NAMES:
        signature = inspect.signature(estimator_of(name)).parameters
        found = parameters_of_estimator(name)
        assert {key: one.default for key, one in found.items()} == {key: one.default for key, one in signature.items()}
