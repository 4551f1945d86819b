"""Words as bytes beside the list of them."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stickbreak.corpus import encoded_words
from stickbreak.corpus.encoded_words import EncodedWords

WORDS = st.lists(st.text(st.sampled_from("abé語😀\u0301\0\n\ud800\udc00") | st.characters(), max_size=6), max_size=12)


@pytest.fixture(params=[1, 3, 1 << 16], autouse=True)
def at_once(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoded_words, "_AT_ONCE", request.param)


ANY_SIZE = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@ANY_SIZE
@given(WORDS)
def test_words_come_back_as_they_were(words):
    encoded = EncodedWords.of(words)
    assert encoded.content.tobytes() == "".join(words).encode("utf-8", "surrogatepass")
    assert len(encoded) == len(words)
    assert encoded.listed() == words
    assert encoded.lengths().tolist() == [len(word) for word in words]


@ANY_SIZE
@given(WORDS, st.integers(0, 3), st.integers(0, 3))
def test_arrow_has_the_same_words_also_of_a_slice(words, first, left_out):
    array = EncodedWords.of(words).arrow()
    array.validate(full=True)
    assert array.to_pylist() == [word.encode("utf-8", "surrogatepass") for word in words]
    last = max(first, len(words) - left_out)
    some = EncodedWords.of_arrow(array.slice(first, last - first))
    assert some.listed() == words[first:last]
    assert some.lengths().tolist() == [len(word) for word in words[first:last]]
    again = some.take(np.arange(len(some))[::-1])
    assert again.listed() == words[first:last][::-1]


@ANY_SIZE
@given(WORDS, st.data())
def test_some_words_are_taken_in_any_order(words, data):
    places = data.draw(st.lists(st.integers(0, len(words) - 1), max_size=12) if words else st.just([]))
    assert EncodedWords.of(words).take(np.array(places, np.int64)).listed() == [words[place] for place in places]
