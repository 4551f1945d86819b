"""What a command says when MODEL is something else: a family of no command, a checkpoint, a corpus, a file, a half."""

import shutil

import pytest

from stickbreak.corpus import read, write_corpus

KINDS = ("nothing", "a file", "an empty folder", "a corpus", "a checkpoint", "a half", "rubbish")
COMMANDS = ("topics", "ask", "transform", "evaluate", "report")


def arguments(command, model, documents, folder):
    """A whole command line."""
    more = {"topics": [], "ask": ["tree"], "report": [documents, "--out", folder / "r.html"]}
    return [command, model, *more.get(command, [documents])]


@pytest.fixture
def without_the_default():
    """The table of methods lacks a row for the time of a test; afterwards its rows stand in their order again."""
    from stickbreak.cli.methods import METHODS

    rows = dict(METHODS)
    del METHODS["topics"]
    yield
    METHODS.clear()
    METHODS.update(rows)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.usefixtures("without_the_default")
def test_family_without_a_row_is_a_sentence_that_leads_to_python(refuse, model, documents, tmp_path, command):
    line = refuse(*arguments(command, model, documents, tmp_path))
    assert "holds a TopicModel, which the commands do not know" in line
    assert "stickbreak.load(" in line
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    "what", ["nothing", "a file", "an empty folder", "a corpus", "a checkpoint", "a half", "rubbish"]
)
def test_what_is_no_model_is_a_sentence(refuse, run, model, documents, fast, tmp_path, command, what):
    given = tmp_path / "given"
    if what == "a file":
        given.write_text("")
    elif what == "an empty folder":
        given.mkdir()
    elif what == "a corpus":
        write_corpus(read(documents), given)
    elif what == "a checkpoint":
        run("fit", documents, "--out", tmp_path / "m", "--checkpoint", given, "--no-report", *fast)
    elif what == "a half":
        shutil.copytree(model, given)
        (given / "arrays.safetensors").unlink()
    elif what == "rubbish":
        given.mkdir()
        (given / "model.json").write_bytes(b"\x00\xff{")
    line = refuse(*arguments(command, given, documents, tmp_path))
    assert str(given) in line
    assert not (tmp_path / "r.html").exists()


def test_tree_of_a_model_without_one_is_a_sentence(refuse, model):
    assert "do not form a tree" in refuse("ask", model, "tree")
