"""Every parameter of every estimator is an option of `fit`, or is named here with the reason why it is not."""

import pytest

from stickbreak.cli.methods import METHODS
from stickbreak.cli.model_options import OTHERWISE, model_options, parameters_of
from stickbreak.cli.wording import by_method
from stickbreak.exceptions import InputError

NOT_REACHABLE = {  # parameter -> methods, reason
    "total_documents": (
        [m for m in METHODS if m not in ("topics", "gibbs", "tree", "pachinko", "hierarchical-pachinko", "nested-crp")],
        "partial_fit, which no command calls",
    ),
    "grow_vocabulary": (["hybrid"], "partial_fit"),
    "init": (["gaussian-hdp", "gaussian-mixture"], "one start by name; arrays and models are for Python"),
}


AT_LEAST_TWO = {("split-merge-online", "gamma"), ("nested-crp", "levels")}  # whose least value is above 1


@pytest.mark.parametrize("method", METHODS)
def test_every_parameter_is_reachable_or_a_named_exception(method):
    every = set(METHODS[method].load()().get_params())
    reached = {option.parameters[method].name for option in model_options().values() if method in option.parameters}
    left_out = {name for name, (methods, _) in NOT_REACHABLE.items() if method in methods}
    assert every - reached == left_out | (OTHERWISE.keys() & every)


def test_an_option_belongs_to_one_parameter_of_a_method():
    keys = [(method, one.name) for option in model_options().values() for method, one in option.parameters.items()]
    assert len(keys) == len(set(keys))


def test_names_of_options_are_unique_and_none_is_taken_by_the_command(run):
    names = [name for option in model_options().values() for name in option.names]
    assert len(names) == len(set(names))
    assert not {"--seed", "--jobs", "--out", "--config", "--format"} & set(names)


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("topics", "n_topics"),
        ("laps", "n_laps"),
        ("split_merge", "split_merge_trials"),
        ("alpha_prior", "alpha_prior"),
        ("delete_documents", "delete_documents"),
    ],
)
def test_names_of_options_follow_the_parameters(key, name):
    assert name in {parameter.name for parameter in model_options()[key].parameters.values()}


def test_topics_and_components_are_one_option():
    assert parameters_of("gibbs", {"topics": "7"}) == {"n_topics": 7}
    assert parameters_of("gaussian-hdp", {"topics": "7"}) == {"n_components": 7}


def test_a_value_is_checked_by_the_estimator_of_the_method():
    assert parameters_of("topics", {"tolerance": "none"}) == {"tolerance": None}
    with pytest.raises(InputError, match="--tolerance is none; give a number from 0 up"):
        parameters_of("variational", {"tolerance": "none"})
    assert parameters_of("tree", {"alpha": "0.2,0.1"}) == {"alpha": (0.2, 0.1)}
    with pytest.raises(InputError, match=r"--alpha is 0\.2,0\.1; give a number from"):
        parameters_of("gibbs", {"alpha": "0.2,0.1"})


def test_help_tells_differences_by_method():
    text = model_options()["tolerance"].help
    assert "in nats per token" in text
    assert "With gaussian-hdp and gaussian-mixture: stop when" in text
    assert "none: never." in text
    assert "Default: 1e-05 for variational, gaussian-hdp and gaussian-mixture, 0.0001 for the others." in text
    methods = "topics, variational, gaussian-hdp, gaussian-mixture, hierarchical-pachinko, lda, nested-hdp"
    assert f"Method: {methods} or pachinko." in text


def test_help_names_options_and_not_parameters():
    assert "Default: half of --laps." in model_options()["burn_in"].help
    assert [key for key, option in model_options().items() if "`" in option.help] == []


def test_facts_are_told_by_method_with_the_commonest_last():
    assert by_method({"a": "1", "b": "1"}) == "1"
    assert by_method({"a": "1", "b": "2"}) == "1 for a, 2 for b"
    assert by_method({"a": "1", "b": "2", "c": "2", "d": "3"}) == "1 for a, 3 for d, 2 for the others"


@pytest.mark.parametrize("method", METHODS)
def test_every_option_sets_the_parameter_of_its_name(method):
    for key, option in model_options().items():
        if method in option.parameters:
            parameter = option.parameters[method]
            text = parameter.names[0] if parameter.names else "0.5,0.25" if parameter.kinds[0].several else "0.5"
            text = {"int": "1", "bool": "yes"}.get(parameter.kinds[0].type, text)
            text = "2" if (method, key) in AT_LEAST_TWO else text
            assert parameters_of(method, {key: text}) == {parameter.name: parameter.read("", text)}
