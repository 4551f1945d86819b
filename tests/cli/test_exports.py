"""Exports as programs write them: from the file to topics with two commands and one option."""

import csv
import io
import json

import pytest

import stickbreak


def as_table(rows, delimiter):
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\r\n").writerows(rows)
    return text.getvalue()


def a_shop(folder, records):
    """Reviews with semicolons below three lines of a title, in an encoding of Windows."""
    rows = [["Review-ID", "Datum", "Sterne", "Bewertung"]]
    rows += [[i, "03.11.2025", 1 + i % 5, f'{one["text"]}; "schön"\nund gut'] for i, one in enumerate(records)]
    path = folder / "reviews.csv"
    path.write_bytes(("Export, shop 17\r\nCreated;28.11.2026 08:00\r\n\r\n" + as_table(rows, ";")).encode("cp1252"))
    return path, ["--encoding", "cp1252"]


def an_archive(folder, records):
    """Tweets: objects inside objects."""
    tweets = [
        {
            "tweet": {
                "id_str": str(i),
                "full_text": f"RT @a: {one['text']} https://t.co/x",
                "user": {"name": "a b c d e"},
            }
        }
        for i, one in enumerate(records)
    ]
    (folder / "tweets.json").write_text(json.dumps(tweets))
    return folder / "tweets.json", ["--text", "tweet.full_text"]


def a_service(folder, records):
    """An answer of a web service: the documents are a list inside one object."""
    answer = {"meta": {"count": len(records)}, "data": [{**one, "note": "one two three four five"} for one in records]}
    (folder / "answer.json").write_text(json.dumps(answer, indent=1))
    return folder / "answer.json", ["--text", "text"]


def excel(folder, records):
    """Text in UTF-16 with tabs, which Excel writes, as .csv."""
    rows = [["Ticket", "Opened", "Description"], *([i, "2025-01-02", one["text"]] for i, one in enumerate(records))]
    (folder / "tickets.csv").write_bytes(as_table(rows, "\t").encode("utf-16"))
    return folder / "tickets.csv", []


def a_survey(folder, records):
    """Numbers of respondents, numbers of boxes, and an answer that some left out."""
    rows = [["respondent", "Q1 (1-5)", "Q2. What could we improve?", "group"]]
    rows += [[f"R{i:03}", 1 + i % 5, "" if i % 9 == 8 else one["text"], "AB"[i % 2]] for i, one in enumerate(records)]
    (folder / "survey.csv").write_text(as_table(rows, ","))
    return folder / "survey.csv", []


def a_mailbox(folder, records):
    """Messages in folders of folders, some of another encoding, beside what a desktop leaves there."""
    for i, one in enumerate(records):
        place = folder / "mail" / f"box{i % 3}" / f"2024-{1 + i % 12:02}"
        place.mkdir(parents=True, exist_ok=True)
        body = f"From: a@example.org\nSubject: hello\n\n{one['text']}\n-- \ncafé\n"
        (place / f"{i}.txt").write_bytes(body.encode("latin-1" if i % 10 == 0 else "utf-8"))
    (folder / "mail" / ".DS_Store").write_bytes(b"\0\1")
    return folder / "mail", ["--encoding-errors", "replace"]


@pytest.mark.parametrize("export", [a_shop, an_archive, a_service, excel, a_survey, a_mailbox])
def test_export_is_fitted_with_one_option(run, records, tmp_path, monkeypatch, fast, export):
    monkeypatch.chdir(tmp_path)
    path, option = export(tmp_path, records)
    run("fit", path, *option, "--no-report", "--no-path", *fast)
    (folder,) = tmp_path.glob("*-topics")
    model = stickbreak.load(folder)
    assert set(model.vocabulary_) >= set("ship sail bread court judge".split())
    assert "schön" not in " ".join(model.top_words(3)[0])
    assert run("transform", folder, path, "--quiet").stdout.count("\n") == 1 + len(records)
