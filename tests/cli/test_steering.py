"""Seeds, labels and updates on the command line."""

import json

import numpy as np
import pytest

import stickbreak

FIT = ("--text", "text", "--laps", "12", "--random-state", "1", "--jobs", "1", "--no-report", "--quiet")


@pytest.fixture(scope="module")
def labelled(tmp_path_factory, records):
    """The documents with their themes as labels, in three ways."""
    path = tmp_path_factory.mktemp("labelled") / "labelled.jsonl"
    rows = []
    for number, record in enumerate(records):
        theme = record["id"].split("-")[0]
        several = [theme, "odd"] if number % 2 else [theme]
        rows.append({**record, "theme": theme, "list": several, "joined": ";".join(several)})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_seeds_of_a_file_name_the_first_topics(run, documents, tmp_path):
    toml, plain = tmp_path / "seeds.toml", tmp_path / "seeds.json"
    toml.write_text('water = ["ship", "sail"]\n"the law" = ["judge"]\n')
    plain.write_text('{"water": ["ship", "sail"], "the law": ["judge"]}')
    for file in (toml, plain):
        run(
            "fit", documents, "--out", tmp_path / file.stem, *FIT, "--seeds", file, "--set", "seed_tokens=30", "--force"
        )
        model = stickbreak.load(tmp_path / file.stem)
        assert model.labels_ == {0: "water", 1: "the law"}
        assert (model.seeds["water"], model.seed_tokens) == (["ship", "sail"], 30.0)
    told = json.loads(run("topics", tmp_path / "seeds", "--json").stdout)
    assert {topic.get("label") for topic in told["topics"]} >= {"water", "the law"}


@pytest.mark.parametrize("method", [("lda", "--topics", "12"), ("tree", "--set", "branching=3,4")])
def test_seeded_topics_are_printed_first_however_small(run, documents, tmp_path, method):
    (tmp_path / "seeds.toml").write_text('odd = ["anchor"]\nsoup = ["soup"]\n')
    options = ("--seeds", tmp_path / "seeds.toml", "--set", "seed_tokens=9999", "--laps", "3", "--topics-shown", "2")
    lines = run("fit", documents, "--out", tmp_path / "model", *FIT, "--method", *method, *options).stdout.splitlines()
    assert sorted(line.split("  ")[-1].split(":")[0] for line in lines[1:3]) == ["odd", "soup"]
    assert any(line.startswith("Fitted 12 topics") for line in lines)
    shown = stickbreak.load(tmp_path / "model").shown_topics(1, most=2)
    if method[0] == "tree":
        assert sorted(shown.numbers.tolist()) == sorted(stickbreak.load(tmp_path / "model").seed_leaves_)
        assert shown.shares[0] >= shown.shares[1]
    else:
        assert max(shown.shares[:2]) < max(shown.shares)
    seeded = sorted(stickbreak.load(tmp_path / "model").seed_topics_.values())
    largest = next(int(k) for k in stickbreak.load(tmp_path / "model").shown_topics(1).numbers if k not in seeded)
    run("label", tmp_path / "model", f"{seeded[0]}=storm", f"{largest}=odd")  # a seed of this name is elsewhere
    found = json.loads(run("topics", tmp_path / "model", "--json").stdout)["topics"]
    assert sorted(topic["id"] for topic in found[:2]) == seeded


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("seeds.toml", "water = [", "is not TOML"),
        ("seeds.json", "[1]", "give words by the name"),
        ("seeds.toml", 'water = "ship"\n', "give a list of words"),
        ("seeds.toml", 'water = ["xyz"]\n', "none of its words ('xyz')"),
    ],
)
def test_a_file_without_seeds_is_refused(refuse, documents, tmp_path, name, text, said):
    (tmp_path / name).write_text(text)
    assert said in refuse("fit", documents, "--out", tmp_path / "model", *FIT, "--seeds", tmp_path / name)
    assert not (tmp_path / "model").exists()


def test_labels_become_topics_and_are_predicted(run, labelled, tmp_path):
    for name, options in {"list": (), "joined": ("--label-separator", ";")}.items():
        run("fit", labelled, "--out", tmp_path / name, *FIT, "--labels", name, *options)
        model = stickbreak.load(tmp_path / name)
        assert model.label_names_ == ["kitchen", "law", "odd", "sea"]
    fit = ("fit", labelled, "--out", tmp_path / "theme", *FIT[:-1], "--labels", "theme", "--held-out", "0.2", "--json")
    result = run(*fit)
    assert "starting with" not in result.stderr
    assert json.loads(result.stdout)["n_topics_start"] == stickbreak.load(tmp_path / "theme").started_
    told = json.loads(run("ask", tmp_path / "theme", "predict-labels", labelled, "--quiet", "--json").stdout)["rows"]
    best = {row["document"]: row["label"] for row in reversed(told)}
    assert {(document.split("-")[0], label) for document, label in best.items()} == {
        (theme, theme) for theme in ("sea", "kitchen", "law")
    }
    every = run(
        "ask", tmp_path / "theme", "predict-labels", labelled, "--quiet", "--all-labels", "--csv"
    ).stdout.splitlines()
    assert len(every) == 1 + 3 * 90


def test_labels_of_sampled_topics_are_predicted(run, refuse, labelled, tmp_path):
    gibbs = ("--labels", "theme", "--method", "gibbs", "--topics", "3")
    (tmp_path / "broken.jsonl").write_text("{")
    said = refuse("fit", tmp_path / "broken.jsonl", "--out", tmp_path / "m", *FIT, *gibbs)  # before anything is read
    assert "set representation='partially-collapsed'" in said
    options = (*gibbs, "--set", "representation=partially-collapsed", "--checkpoint", tmp_path / "c")
    run("fit", labelled, "--out", tmp_path / "m", *FIT, *options)
    run("fit", labelled, "--out", tmp_path / "again", *FIT, *options, "--resume")
    told = json.loads(run("ask", tmp_path / "again", "predict-labels", labelled, "--quiet", "--json").stdout)["rows"]
    best = {row["document"]: row["label"] for row in reversed(told)}
    assert {(document.split("-")[0], label) for document, label in best.items()} == {
        (theme, theme) for theme in ("sea", "kitchen", "law")
    }
    assert "take a TopicModel" in refuse("update", tmp_path / "m", labelled, "--out", tmp_path / "n", "--quiet")


@pytest.mark.parametrize("method", ["variational", "hybrid"])
def test_update_takes_a_step_on_each_minibatch_of_models_of_streams(run, refuse, documents, tmp_path, method):
    run("fit", documents, "--out", tmp_path / "m", *FIT, "--method", method, "--topics", "3", "--laps", "2")
    new = tmp_path / "new.txt"
    new.write_text("ship sail captain wave comet star orbit\n" * 25)
    both = (tmp_path / "m", new, "--format", "lines", "--out")
    before, stream = stickbreak.load(tmp_path / "m"), ("--batch-size", "10", "--total-documents", "500")
    told = json.loads(run("update", *both, tmp_path / "on", *stream, "--quiet", "--json").stdout)
    after = stickbreak.load(tmp_path / "on")
    assert told["n_steps"] == after.n_steps_ == before.n_steps_ + 3
    assert (told["n_new_words"], after.total_documents) == (0, 500)
    assert not np.array_equal(before.topic_word_, after.topic_word_)
    run("evaluate", tmp_path / "on", documents)
    assert "has no path of joined topics" in refuse("reduce", tmp_path / "on", "--topics", "2", "--out", tmp_path / "r")
    grow = (*both, tmp_path / "grown", "--grow-vocabulary")
    if method == "hybrid":
        run("update", *grow)
        assert set(stickbreak.load(tmp_path / "grown").vocabulary_) - set(before.vocabulary_) == {
            "comet",
            "star",
            "orbit",
        }
        run("update", tmp_path / "grown", new, "--format", "lines", "--out", tmp_path / "again")
        assert stickbreak.load(tmp_path / "again").n_features_in_ == before.n_features_in_ + 3
    else:
        assert "update knows no --grow-vocabulary; leave it out" in refuse("update", *grow)
    assert "update knows no --checkpoint" in refuse("update", *both, tmp_path / "x", "--checkpoint", tmp_path / "c")


def test_update_writes_a_model_with_the_same_numbers_and_new_topics(run, refuse, model, documents, labelled, tmp_path):
    new = tmp_path / "new.jsonl"
    words = "comet star planet orbit moon telescope"
    rows = [{"id": f"new-{d}", "text": " ".join(words.split() * 5)} for d in range(40)]
    new.write_text(
        "".join(json.dumps(row) + "\n" for row in [*rows, *map(json.loads, documents.read_text().splitlines())])
    )
    before = stickbreak.load(model)
    run("label", model, "0=first")
    kept = ("--checkpoint", tmp_path / "checkpoint")
    told = json.loads(run("update", model, new, "--out", tmp_path / "later", "--quiet", "--json", *kept).stdout)
    resumed = run("update", model, new, "--out", tmp_path / "resumed", "--quiet", "--json", *kept, "--resume")
    assert {**json.loads(resumed.stdout), "model": told["model"]} == told
    assert "--resume needs a checkpoint" in refuse("update", model, new, "--out", tmp_path / "x", "--resume")
    after = stickbreak.load(tmp_path / "later")
    assert told["n_topics_before"] == before.n_topics_
    assert told["n_topics"] == after.n_topics_
    assert told["n_new_words"] == after.n_features_in_ - before.n_features_in_ == 6
    assert after.vocabulary_[: before.n_features_in_] == before.vocabulary_
    assert after.labels_ == {0: "first"}
    run("transform", tmp_path / "later", new, "--out", tmp_path / "weights.csv", "--quiet")
    run("evaluate", tmp_path / "later", documents)
    assert "exists" in refuse("update", model, new, "--out", tmp_path / "later", "--quiet")
    run("label", model, "0=")
