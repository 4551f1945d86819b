from stickbreak.report.documents import best_passage

PETS = frozenset({"cat", "dog", "fish"})


def test_passage_holds_the_most_different_words_of_the_topic():
    text = "cat " * 3 + "filler " * 60 + "A cat met a dog and a fish. " + "filler " * 60
    assert "cat met a dog and a fish." in best_passage(text, PETS, 60)


def test_passage_forgets_the_words_that_lie_before_it():
    text = "A cat met a dog. " + "filler " * 60 + "A fish. " + "filler " * 60
    assert best_passage(text, PETS, 60).startswith("A cat met a dog.")
