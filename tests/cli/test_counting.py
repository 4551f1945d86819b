"""Stop words by language, phrases and tokenizers on the command line."""

import json

import stickbreak


def test_stop_words_of_languages_join(run, refuse, tmp_path, fast):
    path = tmp_path / "d.txt"
    path.write_text("der Hafen und the ship\nthe bread und das Schiff\nder Hafen, das Brot\n" * 9)
    words = tmp_path / "stop.txt"
    words.write_text("Brot")
    left = {"german": "bread brot hafen schiff ship the", f"german+english+{words}": "bread hafen schiff ship"}
    for given, vocabulary in left.items():
        options = ["--stop-words", given, "--max-df", "1.0", "--force"]
        run("fit", path, "--out", tmp_path / "m", "--no-report", *options, *fast)
        assert " ".join(stickbreak.load(tmp_path / "m").vocabulary_) == vocabulary
    assert "give a language (english, german, ...), none" in refuse(
        "fit", path, "--out", tmp_path / "n", "--stop-words", "klingon"
    )


def test_phrases_are_found_and_remembered(run, tmp_path, fast):
    path, words = tmp_path / "d.txt", "anchor bread crew deck eagle flag".split()
    texts = [f"{words[d % 6]} new york {words[d % 5]}, {words[d % 4]}" for d in range(30)]
    path.write_text("\n".join(texts))
    run("fit", path, "--out", tmp_path / "m", "--no-report", "--phrases", "--max-df", "1.0", *fast)
    model = stickbreak.load(tmp_path / "m")
    assert "new york" in model.vocabulary_
    assert model.text_options_.phrases == ("new york",)
    new = tmp_path / "new.txt"
    new.write_text("New York\nunknown York")
    found = json.loads(run("transform", tmp_path / "m", new, "--out", tmp_path / "w.csv", "--json").stdout)
    assert found["n_tokens"] == 1
    assert found["n_tokens_outside_vocabulary"] == 2


def test_tokenizer_is_named_again_for_new_texts(run, refuse, tmp_path, fast, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_words.py").write_text("def cut(text):\n    return text.split('-')\n")
    path = tmp_path / "d.txt"
    path.write_text("a-b-c d\nb-c d-e\ne-a-f\n" * 9)
    options = ["--tokenizer", "my_words:cut", "--max-df", "1.0", "--stop-words", "none"]
    said = run("fit", path, "--out", tmp_path / "m", "--no-report", *options, *fast).stdout
    assert "--out weights.csv --tokenizer my_words:cut" in said
    assert stickbreak.load(tmp_path / "m").vocabulary_ == ("a", "b", "c d", "e", "f")
    asked = ["transform", tmp_path / "m", path, "--out", tmp_path / "w.csv"]
    assert "cut into words by 'my_words:cut', which a saved model or corpus only names" in refuse(*asked)
    run(*asked, "--tokenizer", "my_words:cut")
    assert "--tokenizer is 'my_words:cat', which cannot be used" in refuse(*asked, "--tokenizer", "my_words:cat")


def test_tags_and_addresses_are_left_out_where_asked(run, refuse, tmp_path, fast):
    path = tmp_path / "d.txt"
    path.write_text("<b>anchor</b> harbour https://example.org/page crew\nbread oven flour\n" * 15)
    for text, words in (("html,urls", {"anchor", "harbour", "crew"}), ("none", {"anchor", "example", "page"})):
        options = ["--strip", text, "--max-df", "1.0", "--no-report", "--force"]
        run("fit", path, "--out", tmp_path / "m", *options, *fast)
        vocabulary = set(stickbreak.load(tmp_path / "m").vocabulary_)
        assert words <= vocabulary
        assert ("example" in vocabulary) is (text == "none")
    assert "strip is" in refuse("fit", path, "--out", tmp_path / "n", "--strip", "tags")
