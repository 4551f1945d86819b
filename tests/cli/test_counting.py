"""Stop words by language, phrases and tokenizers on the command line."""

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
