import gzip
import json

import numpy as np
import pytest

import stickbreak
from stickbreak.cli.methods import METHODS, Method
from stickbreak.corpus import read, write_corpus

VARIATIONAL = ["--method", "variational"]


def test_results_go_to_stdout_and_messages_to_stderr(run, documents, tmp_path, fast):
    out = tmp_path / "model"
    result = run("fit", documents, "--out", out, "--held-out", "0.1", *fast)
    assert result.stdout.startswith("topic    share  words\n    ")
    wrote, next_ = (line for line in result.stdout.splitlines() if line.startswith(("Wrote  ", "Next   ")))
    assert "Fitted 5 topics" in result.stdout
    assert wrote == f"Wrote  {out}/report.html (open it in a browser) and {out} (the model)"
    assert next_.startswith("Next   ")
    assert "reading" in result.stderr
    assert "share  words" not in result.stderr
    assert sorted(entry.name for entry in out.iterdir()) == [
        "arrays.safetensors",
        "model.json",
        "report.html",
    ]
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize("quiet", [[], ["--quiet"]])
def test_a_held_out_score_that_cannot_be_is_told_also_to_the_quiet(run, tmp_path, fast, quiet):
    path = tmp_path / "short.txt"
    path.write_text("ship\nbread\n" * 10)
    result = run("fit", path, "--out", tmp_path / "m", "--held-out", "0.2", "--max-df", "1.0", "--json", *fast, *quiet)
    told = [line for line in result.stderr.splitlines() if "there is no held-out score" in line]
    assert len(told) == 1
    assert "nothing to complete" in told[0]
    assert not quiet or result.stderr.splitlines() == told
    assert json.loads(result.stdout)["held_out"] is None


def test_json_says_all_that_is_printed(run, documents, tmp_path, fast):
    out = tmp_path / "model"
    result = run("fit", documents, "--out", out, "--held-out", "9", "--json", *fast)
    found = json.loads(result.stdout)
    model = stickbreak.load(out)
    assert found["n_topics"] == model.n_topics_ == len(found["topics"])
    assert found["n_topics_start"] == 5
    assert (found["n_documents"], found["n_documents_fitted"]) == (90, 81)
    assert found["n_words"] == 30
    assert found["n_laps"] == model.n_laps_ <= 4
    assert found["stop_reason"] == model.stop_reason_
    assert found["objective"] == pytest.approx(float(model.trace_["objective"][-1]))
    assert found["held_out"]["n_documents"] == 9
    assert found["held_out"]["perplexity"] == pytest.approx(np.exp(-found["held_out"]["active"]))
    first = found["topics"][0]
    assert [w["word"] for w in first["words"]] == model.top_words(10)[first["id"]]
    assert (found["model"], found["report"]) == (str(out), str(out / "report.html"))


def test_the_held_out_documents_are_scored_and_not_fitted(run, documents, tmp_path, fast):
    from stickbreak.evaluation import document_completion

    out = tmp_path / "model"
    found = json.loads(run("fit", documents, "--out", out, "--held-out", "0.2", "--json", *fast).stdout)
    train, held = read(documents).split(0.2, seed=1)
    model = stickbreak.TopicModel(n_topics=5, n_laps=4, random_state=1).fit(train)
    assert np.array_equal(stickbreak.load(out).topic_word_, model.topic_word_)
    expected = document_completion(model, *held.halves(seed=1))
    assert found["held_out"]["active"] == pytest.approx(expected.active, rel=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_options_that_are_not_given_keep_the_estimators_defaults(run, documents, tmp_path, monkeypatch, method):
    given = documents
    if METHODS[method].data != "documents":
        given = tmp_path / "v.csv"
        given.write_text("group,x,y\na,1,2\na,3,4\nb,5,6\n")
    groups = ["--group-field", "group"] if given != documents else []
    if method == "vectors":
        given, groups = (
            tmp_path / "t.csv",
            ["--text", "text", "--vectors", "vector", "--min-df", "1", "--max-df", "1.0"],
        )
        given.write_text('text,vector\nbread and salt,"[1, 2]"\nships at sea,"[3, 4]"\n')

    class Stop(Exception):
        pass

    def estimator(**parameters):
        assert parameters == {"random_state": 0, "n_jobs": -1}
        raise Stop

    monkeypatch.setattr(Method, "load", lambda self: estimator)
    with pytest.raises(Stop):
        run("fit", given, "--out", tmp_path / "m", *([] if method == "topics" else ["--method", method]), *groups)


def test_text_options_change_the_vocabulary(run, documents, tmp_path, fast):
    words = tmp_path / "stop.txt"
    words.write_text("bread butter\n")
    options = ["--stop-words", words, "--set", "max_features=12", "--min-df", "0.05", "--set", "ngram_range=(1, 2)"]
    run("fit", documents, "--out", tmp_path / "m", "--no-report", *options, *fast)
    model = stickbreak.load(tmp_path / "m")
    vocabulary = model.vocabulary_
    assert len(vocabulary) == 12
    assert not {"bread", "butter"} & set(vocabulary)
    assert model.text_options_.ngram_range == (1, 2)
    assert model.transform(["a new text with soap"]).shape == (1, model.n_topics_)


def test_given_words_alone_are_counted(run, documents, tmp_path, fast):
    words = tmp_path / "words.txt"
    words.write_text("sail\nbread\nship\ncourt\n")
    run("fit", documents, "--out", tmp_path / "m", "--no-report", "--vocabulary", words, *fast)
    assert stickbreak.load(tmp_path / "m").vocabulary_ == ("sail", "bread", "ship", "court")


def test_an_existing_model_is_replaced_only_by_force(run, refuse, documents, tmp_path, fast):
    out = tmp_path / "model"
    run("fit", documents, "--out", out, "--no-report", *fast)
    before = (out / "model.json").read_text(encoding="utf-8")
    assert "already exists" in refuse("fit", documents, "--out", out, *fast)
    assert (out / "model.json").read_text(encoding="utf-8") == before
    run("fit", documents, "--out", out, "--force", "--no-report", *fast, "--laps", "3")
    assert (out / "model.json").read_text(encoding="utf-8") != before


def test_the_report_can_go_elsewhere_and_shows_texts(run, documents, tmp_path, fast):
    run("fit", documents, "--out", tmp_path / "model", "--report", tmp_path / "r.html", *fast)
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert '"snippet":"' in page
    assert not (tmp_path / "model" / "report.html").exists()


def test_resumed_fit_equals_the_uncut_one(run, documents, tmp_path, fast):
    checkpoint = tmp_path / "checkpoint"
    run("fit", documents, "--out", tmp_path / "whole", "--no-report", *fast)
    short = [*fast[:2], "--laps", "2", *fast[4:]]
    run("fit", documents, "--out", tmp_path / "cut", "--no-report", "--checkpoint", checkpoint, *short)
    arguments = ("fit", documents, "--out", tmp_path / "resumed", "--no-report", "--checkpoint", checkpoint)
    run(*arguments, "--resume", *fast)
    whole, cut, resumed = (stickbreak.load(tmp_path / name) for name in ("whole", "cut", "resumed"))
    assert np.array_equal(whole.topic_word_, resumed.topic_word_)
    assert resumed.trace_["seconds"][:2].tolist() == cut.trace_["seconds"].tolist()  # not computed again


def in_format(kind, folder, records, documents):
    """Write the documents in a format, with nothing but what belongs to it."""
    folder.mkdir()
    if kind == "csv.gz":
        lines = ["id,text\n", *(f"{r['id']},{r['text']}\n" for r in records)]
        path = folder / "d.csv.gz"
        path.write_bytes(gzip.compress("".join(lines).encode()))
        return path
    if kind == "folder":
        for record in records:
            (folder / f"{record['id']}.txt").write_text(record["text"])
        return folder
    corpus = read(documents)
    if kind == "corpus":
        write_corpus(corpus, folder / "c")
        return folder / "c"
    (folder / "vocab.d.txt").write_text("".join(word + "\n" for word in corpus.words))
    import scipy.sparse as sp

    sp.save_npz(folder / "d.npz", corpus.counts)
    return folder / "d.npz"


@pytest.mark.parametrize("kind", ["csv.gz", "folder", "corpus", "npz"])
def test_every_format_is_fitted_and_scored(run, documents, records, tmp_path, fast, kind):
    path = in_format(kind, tmp_path / "input", records, documents)
    run("fit", path, "--out", tmp_path / "m", *fast)
    found = json.loads(run("evaluate", tmp_path / "m", path, "--json").stdout)
    assert found["n_documents"] == 90
    assert found["n_tokens_outside_vocabulary"] == 0
    assert set(stickbreak.load(tmp_path / "m").vocabulary_) == set(read(documents).words)


GOOD = '{"text": "ship sail bread butter"}\n' * 3
BAD_INPUTS = {
    "missing file": (None, [], "does not exist"),
    "malformed line": (GOOD + "{oops\n", [], "line 4 is not valid JSON"),
    "no word left": (GOOD, ["--min-df", "1", "--set", "token_pattern=xyz"], "no word is left"),
    "no number": (GOOD, ["--min-df", "few"], "--min-df is 'few'"),
    "no stop words": (GOOD, ["--stop-words", "nowhere.txt"], "nowhere.txt cannot be read"),
    "negative alpha": (GOOD, ["--set", "alpha=-1"], "alpha"),
    "held-out share": (GOOD, ["--held-out", "0"], "--held-out is 0"),
    "parameter of another method": (GOOD, ["--set", "restarts=1"], "is for --method variational"),
    "resume from nowhere": (GOOD, ["--resume"], "--checkpoint"),
    "two reports": (GOOD, ["--report", "x.html", "--no-report"], "contradict"),
    "no place for the report": (GOOD, ["--report", "no/such/x.html"], "parent folder does not exist"),
}


@pytest.mark.parametrize(("content", "options", "words"), BAD_INPUTS.values(), ids=BAD_INPUTS)
def test_bad_input_is_one_sentence_and_writes_nothing(refuse, tmp_path, monkeypatch, content, options, words):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "d.jsonl"
    if content is not None:
        path.write_text(content)
    before = sorted(tmp_path.iterdir())
    assert words in refuse("fit", path, "--out", "m", "--topics", "2", "--laps", "2", *options)
    assert sorted(tmp_path.iterdir()) == before
