from stickbreak.report import build_report

NASTY = ["</script><b>", "<!--<script>", "a&b", "\u2028x\u2029", "\ud800", 'say "no"']


def test_json_holds_no_character_that_ends_a_script(with_words):
    text = build_report(*with_words(NASTY)).to_json()
    assert text.isascii()
    assert not set("<>&") & set(text)
