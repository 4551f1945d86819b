"""Labels of which no two are alike, and which of them stay."""

import numpy as np

from stickbreak.questions.labels import distinct_labels, kept_labels


def test_labels_grow_until_no_two_are_alike():
    words = [list("abcd"), list("abcd"), list("abce"), list("xy"), []]
    assert distinct_labels(words, [None] * 5, np.arange(5)) == (
        "a, b, c, d (0)",
        "a, b, c, d (1)",
        "a, b, c, e",
        "x, y",
        "(4)",
    )


def test_made_labels_are_unlike_given_ones():
    words = [list("abcd"), list("abcd"), list("pqrs")]
    found = distinct_labels(words, ["a, b, c", None, None], np.arange(3), {"a, b, c", "p, q, r"})
    assert found == ("a, b, c", "a, b, c, d", "p, q, r, s")


def test_labels_stay_with_topics_that_keep_their_number():
    before = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1]])
    after = np.array([[0.7, 0.1, 0.1, 0.1], [0.1, 0.1, 0.7, 0.1], [0.1, 0.7, 0.1, 0.1]])
    assert kept_labels({0: "a", 1: "b"}, before, after, np.arange(3)) == {0: "a"}
    assert kept_labels({0: "a", 2: "b"}, before, after, np.arange(3)) == {0: "a", 2: "b"}
