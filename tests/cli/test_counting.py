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


def test_stop_words_are_always_utf8(run, refuse, tmp_path, fast):
    path, words = tmp_path / "d.txt", tmp_path / "stop.txt"
    path.write_text("brot für schiff\n" * 9, encoding="latin-1")
    given = ["fit", path, "--out", tmp_path / "m", "--max-df", "1.0", "--encoding", "latin-1", "--stop-words", words]
    for encoding, wrong in (("latin-1", "line 1 is not UTF-8 (byte 0xfc)"), ("utf-16-le", "without a byte order mark")):
        words.write_text("für der die das", encoding=encoding)
        assert refuse(*given).endswith(f"{wrong}; save this file as UTF-8")
    words.write_text("für", encoding="utf-8")
    run(*given, "--no-report", *fast)
    assert stickbreak.load(tmp_path / "m").vocabulary_ == ("brot", "schiff")


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


def test_copies_are_dropped_where_asked(run, refuse, tmp_path, fast, caplog):
    path, words = tmp_path / "d.txt", "anchor bread crew deck eagle flag goal harbour".split()
    texts = [" ".join(words[(d + i) % 8] for i in (0, 1, 3, d % 5)) for d in range(20)]
    path.write_text("\n".join([*texts[:5], texts[0].upper(), *texts[5:], texts[3] + "!", texts[3]]))
    options = ["--min-df", "1", "--max-df", "1.0", *fast]
    run("fit", path, "--out", tmp_path / "all", "--no-report", *options)
    assert "keep one of each with --set copies=drop" in caplog.text
    run("fit", path, "--out", tmp_path / "m", "--set", "copies=drop", *options)
    assert "of 23 documents have the words of an earlier one and are left out" in caplog.text
    model = stickbreak.load(tmp_path / "m")
    assert "have the words of an earlier one" in model.left_out_[0]
    corpus = stickbreak.corpus.read(path, text=model.text_options_, vocabulary=model.vocabulary_)
    different = corpus.without_copies()
    assert model.left_out_ == different.left_out
    page = (tmp_path / "m" / "report.html").read_text()
    assert "have the words of an earlier one and are left out." in page
    told = run("transform", tmp_path / "m", path)
    assert len(told.stdout.splitlines()) == 1 + 23
    n_copies = 23 - len(different)
    assert f"23 documents; {n_copies} copies are counted here, and the fit left copies out" in told.stderr
    assert "copies are counted" not in run("transform", tmp_path / "all", path).stderr
    assert "give 'keep' or 'drop'" in refuse("fit", path, "--out", tmp_path / "x", "--set", "copies=no", *options)
    assert "--set copies=drop" in refuse("count", path, "--out", tmp_path / "c", "--set", "copies=drop")


def test_texts_of_a_fit_without_copies_are_those_of_its_documents(tmp_path):
    from stickbreak.cli.documents import Documents
    from stickbreak.corpus import TextOptions

    path = tmp_path / "d.txt"
    path.write_text("anchor crew\nbread flour\nANCHOR crew\ndeck flag\nbread, flour\nharbour\n")
    text = TextOptions(min_df=1, max_df=1.0)
    documents = Documents.read(path, {"copies": "drop"}, text=text)
    assert "".join(documents.texts([0, 1, 2, 3])) == "anchor crew\nbread flour\ndeck flag\nharbour\n"
    assert documents.texts([3]) == ["harbour\n"]
    assert "copies" not in documents.record["settings"]
