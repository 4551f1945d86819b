import pytest
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


def test_passage_starts_at_its_sentence():
    text = "filler " * 40 + "ends. So the cat saw a dog. " + "filler " * 40
    assert best_passage(text, PETS, 60).startswith("… So the cat")


def test_passage_of_a_short_text_is_the_text_in_one_line():
    assert best_passage(" a\n cat\t sat ", PETS, 40) == "a cat sat"


def test_passage_without_a_word_of_the_topic_is_the_beginning():
    found = best_passage("once upon a time " * 30, PETS, 50)
    assert found.startswith("once upon")
    assert found.endswith("…")


@given(text=st.text(alphabet="cat dogfish. é日\n", max_size=400), length=st.integers(40, 120))
def test_passage_is_never_longer_than_asked(text, length):
    assert len(best_passage(text, PETS, length)) <= length + 1


def test_passage_of_one_endless_word_is_cut():
    assert len(best_passage("x" * 100_000, PETS, 80)) <= 81


def test_texts_come_from_a_sequence_or_a_function():
    assert fetch_texts(["a", "b", "c"], [2, 0], 3) == {2: "c", 0: "a"}
    assert fetch_texts(lambda rows: [f"t{r}" for r in rows], [2, 0], 3) == {2: "t2", 0: "t0"}


def test_texts_of_a_wrong_number_are_refused():
    with pytest.raises(ValueError, match="give one text for each document"):
        fetch_texts(["a"], [0], 2)
