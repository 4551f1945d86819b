"""What a command says when MODEL is something else: a family of no command, a checkpoint, a corpus, a file, a half."""

import shutil

import pytest

from stickbreak.corpus import read, write_corpus

COMMANDS = ("topics", "ask", "transform", "evaluate", "report")


def arguments(command, model, documents, folder):
    """A whole command line."""
    more = {"topics": [], "ask": ["tree"], "report": [documents, "--out", folder / "r.html"]}
    return [command, model, *more.get(command, [documents])]


@pytest.mark.parametrize(
    ("command", "what"),
    [
        *((command, "nothing") for command in COMMANDS),
        *(("topics", what) for what in ("a file", "an empty folder", "a corpus", "a checkpoint", "a half", "rubbish")),
    ],
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
