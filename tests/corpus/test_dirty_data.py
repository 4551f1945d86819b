"""Rows and bytes that cannot be read: refused by a sentence whose advice works, or left out, counted and told."""

import json

import pytest

from stickbreak import count_files
from stickbreak.corpus import TextOptions, open_corpus, read, read_texts, write_corpus
from stickbreak.exceptions import InputError, ReadError

ALL = TextOptions(min_df=1, max_df=1.0, stop_words=None)
GOOD = [f'{{"text": "bread and butter {n}"}}' for n in range(40)]

DIRTY = {
    "cut.jsonl": ("\n".join(GOOD) + '\n{"text": "dough and cru', 40, 1),
    "ragged.csv": ("id,text\n" + "".join(f"{n},bread{',x' * (n % 10 == 7)}\n" for n in range(40)), 36, 4),
    "short.csv": ("id,text,n\n1,bread,2\n2,butter\n3,salt,4\n", 2, 1),
    "quote.csv": ('id,text\n1,bread\n2,"butter\n3,salt\n4,oil\n', 3, 1),
    "inner.csv": ('id,text\n1,bread\n2,"butter" and jam\n3,"salt"\n', 2, 1),
    "kinds.jsonl": ("\n".join([*GOOD, "7", '{"text": 5}', '{"body": "x"}', "[1, 2]", *GOOD]) + "\n", 80, 4),
    "array.json": ('["bread", "butter", {"text": 7}, "salt"', 3, 2),
}


@pytest.mark.parametrize("name", DIRTY)
def test_rows_that_cannot_be_read_are_refused_or_left_out_and_told(tmp_path, caplog, name):
    content, n_good, n_bad = DIRTY[name]
    path = tmp_path / name
    path.write_text(content)
    for reader in (lambda **more: read(path, text=ALL, **more), lambda **more: counted(path, tmp_path, **more)):
        with pytest.raises(ReadError, match=r"bad_rows='skip'") as caught:
            reader()
        assert name in str(caught.value)
        assert "\n" not in str(caught.value)
        caplog.clear()
        corpus = reader(bad_rows="skip")
        assert corpus.n_documents == n_good
        (sentence,) = corpus.left_out
        assert f" {n_bad} (" in sentence
        assert name in sentence
        assert sentence in caplog.text
    assert len(read_texts(path, range(n_good), bad_rows="skip")) == n_good


def counted(path, folder, **more):
    return count_files(path, folder / "counts", text=ALL, overwrite=True, **more).open()


def test_only_the_row_that_is_wrong_is_left_out(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('id,text\n1,bread\n2,"butter\n3,salt\n4,"oil ""x"""\n5,jam\n')
    assert read_texts(path, range(4), bad_rows="skip") == ["bread", "salt", 'oil "x"', "jam"]


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.txt", "folder"])
def test_bytes_of_another_encoding_are_refused_or_replaced_and_told(tmp_path, caplog, name):
    lines = [f"bread caf\u00e9 {n}" for n in range(30)]
    if name == "folder":
        path = tmp_path / name
        path.mkdir()
        for number, line in enumerate(lines):
            content = line.encode()
            (path / f"{number:02}.txt").write_bytes(content.replace(b"bread", b"br\xe9ad") if number == 17 else content)
    else:
        path = tmp_path / name
        rows = [json.dumps({"text": line}, ensure_ascii=False) for line in lines] if name.endswith("jsonl") else lines
        body = "\n".join(["text", *rows] if name.endswith("csv") else rows) + "\n"
        path.write_bytes(body.encode().replace(b"bread caf\xc3\xa9 17", b"br\xe9ad caf\xc3\xa9 17"))
    with pytest.raises(ReadError, match=r"is not UTF-8 \(byte 0xe9\).*encoding_errors='replace'"):
        read(path, text=ALL)
    corpus = read(path, text=ALL, encoding_errors="replace")
    assert corpus.n_documents == 30
    assert corpus.words == ("bread", "caf\u00e9")
    assert "replaced: 1 (" in corpus.left_out[0]
    assert corpus.left_out[0] in caplog.text
    assert counted(path, tmp_path, encoding_errors="replace").left_out == corpus.left_out


def test_places_in_a_large_file_are_those_of_the_file(tmp_path, monkeypatch):
    import sys

    monkeypatch.setattr(sys.modules["stickbreak.counting.count_files"], "STEP", 200)
    lines = list(GOOD)
    lines[33] = "{"
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(ReadError, match="line 34 is not valid JSON"):
        counted(path, tmp_path)
    assert "line 34 " in counted(path, tmp_path, bad_rows="skip").left_out[0]
    table = tmp_path / "t.csv"
    table.write_text("id,text\n" + "".join(f"{n},bread{',x' * (n == 90)}\n" for n in range(120)))
    with pytest.raises(ReadError, match="line 92 has 3 fields"):
        counted(table, tmp_path)
    assert "line 92 " in counted(table, tmp_path, bad_rows="skip").left_out[0]


def test_what_was_left_out_stays_with_the_corpus(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join([*GOOD, "{"]) + "\n")
    corpus = read(path, text=ALL, bad_rows="skip")
    write_corpus(corpus, tmp_path / "c")
    assert open_corpus(tmp_path / "c").left_out == corpus.left_out == corpus[:3].left_out


def test_the_command_line_follows_its_own_advice(tmp_path, monkeypatch, capsys):
    from stickbreak.cli import main

    path = tmp_path / "t.csv"
    path.write_text("1,fresh bread\n2,butter,x\n3,s\ufffd\n" + "4,salt and bread\n" * 9)
    path.write_bytes(path.read_bytes().replace("\ufffd".encode(), b"\xe9"))
    words: list[str] = ["stickbreak", "count", str(path), "--out", str(tmp_path / "c"), "--no-header", "--text", "1"]
    for advice in ("--encoding-errors replace", "--bad-rows skip"):
        monkeypatch.setattr("sys.argv", list(words))
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code == 2
        assert advice in capsys.readouterr().err
        words += advice.split()
    monkeypatch.setattr("sys.argv", list(words))
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code in (0, None)
    assert open_corpus(tmp_path / "c").n_documents == 11


def test_copies_are_left_out_where_asked(tmp_path, caplog):
    path = tmp_path / "t.txt"
    path.write_text("bread flour\ndeck\nflour, bread\ndeck deck\nBREAD flour\n")
    assert len(read(path, text=ALL)) == 5
    corpus = read(path, text=ALL, copies="drop")
    assert corpus.counts.toarray().tolist() == read(path, text=ALL)[[0, 1, 3]].counts.toarray().tolist()
    (sentence,) = corpus.left_out
    assert sentence == "2 of 5 documents have the words of an earlier one and are left out"
    assert sentence in caplog.text
    write_corpus(read(path, text=ALL), tmp_path / "c")
    assert len(read(tmp_path / "c", copies="drop")) == 3
    with pytest.raises(InputError, match="copies is 'no'"):
        read(path, copies="no")


def test_files_in_utf8_that_are_read_in_another_encoding_are_told(tmp_path, caplog):
    text = "na\u00efve caf\u00e9 cr\u00e8me\n" * 3
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.txt").write_text(text, encoding="utf-8")
    (tmp_path / "t.txt").write_text(text, encoding="utf-8")
    (tmp_path / "t.jsonl").write_text('{"text": "caf\u00e9"}\n', encoding="utf-8")
    for path in (folder, tmp_path / "t.txt", tmp_path / "t.jsonl"):
        for encoding, told in (("cp1252", True), ("latin-1", True), ("utf-8", False)):
            caplog.clear()
            read(path, text=ALL, encoding=encoding)
            assert ("seems to be UTF-8, but is read in another encoding" in caplog.text) == told
    for encoding in ("latin-1", "cp1252", "utf-16"):
        (tmp_path / "own.txt").write_text(text, encoding=encoding)
        caplog.clear()
        read(tmp_path / "own.txt", text=ALL, encoding=encoding)
        assert not caplog.text
    (tmp_path / "marked.csv").write_text("text\n" + text, encoding="utf-8-sig")
    assert "caf\u00e9" in read(tmp_path / "marked.csv", text=ALL, encoding="cp1252").words
    (tmp_path / "plain.txt").write_text("bread\n")
    read(tmp_path / "plain.txt", text=ALL, encoding="latin-1")
    assert not caplog.text


def test_a_guess_is_told_once_for_the_files_of_a_folder(tmp_path, caplog):
    for year in (2020, 2021, 2022):
        part = tmp_path / "parts" / f"year={year}"
        part.mkdir(parents=True)
        (part / "a.csv").write_text("kind,body\nx,the bread that was baked in an oven\ny,a deck of a ship at sea\n")
    corpus = read(tmp_path / "parts", text=ALL, keep="all")
    assert len(corpus) == 6
    assert caplog.text.count("the text is taken from 'body'") == 1
    caplog.clear()
    for year in (2020, 2021, 2022):
        (tmp_path / "parts" / f"year={year}" / "a.csv").write_text("1,fresh bread of the day\n2,a deck of a ship\n")
    read(tmp_path / "parts", text=ALL)
    assert caplog.text.count("the first row looks like the others") == 1
