from hypothesis import given
from hypothesis import strategies as st

from stickbreak.report.documents import best_passage, fetch_texts

PETS = frozenset({"cat", "dog", "fish"})


def test_passage_holds_the_most_different_words_of_the_topic():
    text = "cat " * 3 + "filler " * 60 + "A cat met a dog and a fish. " + "filler " * 60
    assert "cat met a dog and a fish." in best_passage(text, PETS, 60)


def test_passage_forgets_the_words_that_lie_before_it():
    text = "A cat met a dog. " + "filler " * 60 + "A fish. " + "filler " * 60
    assert best_passage(text, PETS, 60).startswith("A cat met a dog.")


@given(text=st.text(alphabet="cat dogfish. é日\n", max_size=400), length=st.integers(40, 120))
def test_passage_is_never_longer_than_asked(text, length):
    assert len(best_passage(text, PETS, length)) <= length + 1


def test_texts_come_from_a_sequence_or_a_function():
    assert fetch_texts(["a", "b", "c"], [2, 0], 3) == {2: "c", 0: "a"}
    assert fetch_texts(lambda rows: [f"t{r}" for r in rows], [2, 0], 3) == {2: "t2", 0: "t0"}
