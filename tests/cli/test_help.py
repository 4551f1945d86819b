"""`stickbreak fit --help` fits one screen, and `--help-all` has every option by its subject."""

import pytest

from stickbreak.cli.groups import GROUPS, group_of
from stickbreak.cli.help import FIRST
from stickbreak.cli.methods import GROUPS_OF_METHODS, METHODS
from stickbreak.cli.model_options import model_options


@pytest.fixture
def printed(run, monkeypatch):
    """Return what a command prints on a terminal of 100 columns."""
    monkeypatch.setattr("typer.rich_utils.MAX_WIDTH", 100)
    return lambda *arguments: run(*arguments).stdout


def test_first_screen_has_56_lines_of_100_columns(printed):
    lines = printed("fit", "--help").strip().splitlines()
    assert len(lines) <= 56  # each method has a line or two, in four groups
    assert max(map(len, lines)) <= 100


def test_first_screen_has_what_most_people_need_and_leads_to_the_rest(printed):
    text = printed("fit", "--help")
    shown = {"--" + name.replace("_", "-") for name in FIRST if name != "input"}
    assert [option for option in sorted(shown) if option not in text] == []
    assert "--burn-in" not in text
    assert "--encoding" not in text


def test_first_screen_has_the_methods_in_groups_those_to_begin_with_first(printed):
    text = printed("fit", "--help")
    places = [text.index(f"{title}:") for title in GROUPS_OF_METHODS.values()]
    assert places == sorted(places)
    for name, method in METHODS.items():
        group = list(GROUPS_OF_METHODS).index(method.group)
        assert places[group] < text.index(f"{name}", places[0]) < [*places, len(text)][group + 1]


def test_all_options_stand_under_their_subject(printed):
    text = printed("fit", "--help-all")
    found = [line.split("─ ")[1].split(" ─")[0] for line in text.splitlines() if line.startswith("╭")]
    assert found == ["Arguments", "Options", *GROUPS]
    panels = dict(zip(found, text.split("╭─")[1:], strict=True))
    for option in model_options().values():
        assert f" {','.join(option.names)} " in panels[option.group]


def test_first_screen_takes_nothing_from_the_whole_help(run):
    before = run("fit", "--help-all").stdout
    run("fit", "--help")
    assert run("fit", "--help-all").stdout == before


def test_every_argument_has_a_help(printed):
    import inspect

    from stickbreak.cli.fit import fit

    for name, argument in inspect.signature(fit).parameters.items():
        assert name == "ctx" or argument.annotation.__metadata__[0].help, name


def test_a_parameter_of_no_group_is_about_inference():
    assert group_of("number_of_elves") == "Inference"
    assert group_of("delta_prior") == "Priors"
