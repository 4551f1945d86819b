"""What a fit prints below its topics: a result, a note where something is not as it should be, the next command."""

import json
import shlex

import numpy as np
import pytest

import stickbreak
from stickbreak.corpus import read
from stickbreak.evaluation import document_completion, unigram_completion


@pytest.fixture
def quick(run, documents, tmp_path, fast):
    """Fit with some more options and return the lines that are printed."""

    def call(*options, given=documents):
        out = tmp_path / "m"
        return run("fit", given, "--out", out, "--force", "--no-report", *fast, *options).stdout.splitlines()

    return call


def line(lines, label):
    return next((one for one in lines if one.startswith(label)), None)


def test_the_result_compares_the_held_out_score_with_word_frequencies(quick, documents, tmp_path):
    train, held = read(documents).split(0.2, seed=1)
    found = line(quick("--held-out", "0.2"), "Fitted ")
    model = stickbreak.load(tmp_path / "m")
    halves = held.halves(seed=1)
    times = np.exp(document_completion(model, *halves).active - unigram_completion(train, *halves))
    assert found == (
        f"Fitted {model.n_topics_} topics in 72 documents; their number was set before the fit. Each held-out word is "
        f"guessed {times:.1f} times better than by its frequency alone."
    )


def test_the_next_command_runs_as_it_is_printed(run, quick, documents, tmp_path, monkeypatch):
    given = tmp_path / "my documents.jsonl"
    given.write_bytes(documents.read_bytes().replace(b"captain", b"capit\xe1n"))
    options = ["--encoding", "latin-1", "--name-field", "id", "--max-document-bytes", "5000"]
    command = line(quick(*options, given=given), "Next   ").split(": ", 1)[1]
    assert "--encoding" not in command  # the model remembers it
    assert "--max-document-bytes 5000" in command
    monkeypatch.chdir(tmp_path)
    run(*shlex.split(command)[1:])
    assert len((tmp_path / "weights.csv").read_text().splitlines()) == 91


def test_the_last_lines_show_which_topics_come_again_with_another_seed(run, documents, tmp_path, fast):
    page = tmp_path / "page.html"
    told = run("fit", documents, "--out", tmp_path / "m", *fast, "--random-state", "4", "--report", page)
    *_, again, compare = told.stdout.splitlines()
    page.unlink()
    assert again.startswith("       fit with another seed, which finds partly other topics: stickbreak fit ")
    assert compare.startswith("       then see which topics come again: stickbreak compare ")
    run(*shlex.split(again.split(": ", 1)[1])[1:])
    other = stickbreak.load(tmp_path / "m-seed-5")
    assert (other.random_state, stickbreak.load(tmp_path / "m").random_state) == (5, 4)
    assert not page.exists()  # it would be that of the second fit
    assert "are the same in b" in run(*shlex.split(compare.split(": ", 1)[1])[1:]).stdout


def test_as_many_topics_as_asked_are_printed_and_the_rest_is_counted(quick, run, tmp_path):
    lines = quick("--topics-shown", "2")
    n_topics = stickbreak.load(tmp_path / "m").n_topics_
    rest = f"and {n_topics - 2} more: stickbreak topics {tmp_path / 'm'} --all"
    assert lines[3] == rest
    assert run("topics", tmp_path / "m", "--topics-shown", "2").stdout.splitlines()[1:] == [*lines[1:3], rest]
    assert len(run("topics", tmp_path / "m", "--topics-shown", "2", "--all").stdout.splitlines()) == 1 + n_topics


def test_a_fit_with_dates_names_the_command_that_asks_over_time(run, quick, records, tmp_path):
    path = tmp_path / "dated.jsonl"
    path.write_text(
        "".join(json.dumps(record | {"day": f"20{10 + row}-05-01"}) + "\n" for row, record in enumerate(records))
    )
    for kept in (("--keep", "day"), ()):
        lines = quick(*kept, "--text", "text", given=path)
        (command,) = [one for one in lines if "see which topics grow: " in one]
        _, *words = shlex.split(command.split(": ", 1)[1])
        assert "by more than chance (p below" in run(*words).stdout
    assert not [one for one in quick() if "topics grow" in one]


def test_a_method_with_a_given_number_of_topics_offers_more_where_fewer_are_worse(run, quick, tmp_path):
    # three themes, and two topics: more of them predict better
    for method in ("lda", "topics"):
        lines = quick("--method", method, "--topics", "2", "--laps", "60")
        assert [one for one in lines if "try more topics (these 2 predict" in one]
    command = next(one for one in lines if "try more topics (these 2 predict" in one)
    _, *words = shlex.split(command.split(": ", 1)[1])
    assert "Fitted 4 topics in 90 documents; their number was set before the fit." in run(*words).stdout
