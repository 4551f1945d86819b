import json

from stickbreak.report import build_report

NASTY = ["</script><b>", "<!--<script>", "a&b", "\u2028x\u2029", "\ud800", 'say "no"']


def test_json_holds_no_character_that_ends_a_script(with_words):
    text = build_report(*with_words(NASTY)).to_json()
    assert text.isascii()
    assert not set("<>&") & set(text)


def test_json_gives_back_the_words_unchanged(with_words):
    topics = json.loads(build_report(*with_words(NASTY), n_words=6).to_json())["topics"]
    assert {entry["word"] for topic in topics for entry in topic["words"]} == set(NASTY)
