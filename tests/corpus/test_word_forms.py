"""One word, one spelling; what is left out of texts, and what is said about it."""

import pytest

from stickbreak.corpus import TextOptions, count_texts

ALL = TextOptions(min_df=1, max_df=1.0, stop_words=None)

SPELLINGS = [
    ("caf\u00e9teria", "cafe\u0301teria"),
    ("cooperation", "co\u00adopera\u00adtion"),
    ("notebook", "note\u2060book"),
    ("notebook", "note\u200bbook"),
    ("notebook", "note\u200dbook"),
    ("notebook", "\ufeffnotebook"),
    ("efficient", "e\ufb03cient"),
    ("workflow", "work\ufb02ow"),
    ("python", "\uff50\uff59\uff54\uff48\uff4f\uff4e"),
    ("session", "\u017fession"),
    (
        "mathematics",
        "\U0001d426\U0001d41a\U0001d42d\U0001d421\U0001d41e\U0001d426\U0001d41a\U0001d42d\U0001d422\U0001d41c\U0001d42c",
    ),
    ("d\u017eungla", "\u01c6ungla"),
    ("\u0633\u0644\u0627\u0645", "\ufeb3\ufefc\ufee1"),
    ("istanbul", "\u0130stanbul"),
]


@pytest.mark.parametrize("pair", SPELLINGS)
def test_two_spellings_are_one_word(pair):
    corpus = count_texts([*pair, "other"], ALL)
    assert corpus.words == tuple(sorted(["other", pair[0]]))
    assert count_texts([pair[1]], vocabulary=corpus.words).n_tokens == 1
    pattern = TextOptions(min_df=1, max_df=1.0, stop_words=None, token_pattern=r"\w{3,}", strip=None)
    assert count_texts([*pair, "other"], pattern).n_words == 2


def test_joiners_stay_where_scripts_need_them():
    word = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
    assert count_texts([word, "other"], ALL).words == ("other", word)
    assert count_texts(["\u0e20\u0e32\u0e29\u0e32\u200b\u0e44\u0e17\u0e22"], ALL).n_words == 2


def test_the_letter_i_of_turkish():
    options = TextOptions(min_df=1, max_df=1.0, stop_words="turkish")
    corpus = count_texts(["I\u015eIK", "\u0131\u015f\u0131k", "\u0130zmir", "izmir", "KIZ"], options)
    assert corpus.words == ("izmir", "k\u0131z", "\u0131\u015f\u0131k")
    assert corpus.document_lengths.tolist() == [1] * 5


LINK = '<p class="x"><a href="https://www.example.com/a?b=c">{}</a>'
PAGE = LINK + "&nbsp;&amp;caf&eacute; &lt;br /&gt; @user me@mail.org</p>"
NOISE = {"nbsp", "amp", "href", "class", "http", "https", "www", "com", "example", "user", "mail", "org", "eacute"}


def test_tags_and_addresses_of_web_texts_are_left_out_and_told(caplog):
    pages = [PAGE.format("bread 3 < 4 and > 2 butter")] * 5
    corpus = count_texts(pages, ALL)
    assert not NOISE & set(corpus.words)
    assert {"bread", "butter", "caf\u00e9"} <= set(corpus.words)
    assert corpus.text_options.strip == ("html", "urls")
    assert "--strip none" in caplog.text
    assert NOISE & set(count_texts(pages, TextOptions(min_df=1, max_df=1.0, strip=None)).words)
    assert not NOISE & set(
        count_texts(["bread", *pages], TextOptions(min_df=1, max_df=1.0, strip=["html", "urls"])).words
    )


def test_texts_without_tags_are_left_alone():
    text = "if a<b and c>d then mail me@home.org"
    assert "org" in count_texts([text] * 5, ALL).words


def test_short_words_and_digits_are_told(caplog):
    count_texts(["AI and 5G for covid19, the EU, bread"] * 5, TextOptions(max_df=1.0, min_df=1))
    assert "ai" in caplog.text
    assert "--set token_pattern='[^\\W_]{2,}'" in caplog.text
    counted = count_texts(["AI and 5G"] * 5, TextOptions(max_df=1.0, min_df=1, token_pattern=r"[^\W_]{2,}"))
    assert counted.words == ("5g", "ai")


def test_usual_texts_are_not_talked_about(caplog):
    count_texts(["It is what it is: we do go to bread and butter, as if by magic, or so they say."] * 5, ALL)
    count_texts(["Bread and butter from the baker in our old street, with 12 eggs"] * 5, TextOptions(max_df=1.0))
    assert "letters" not in caplog.text
