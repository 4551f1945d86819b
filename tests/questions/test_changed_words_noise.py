"""Noise passes the test of words no more often than it says: documents in bursts, topics that grow and shrink."""

from tests.questions.test_changed_words import collection

from stickbreak.questions.changed_words import words_over_time


def test_false_alarms_of_200_collections_without_a_shift_are_at_most_those_of_the_level():
    alarms = sum(len(words_over_time(*collection(seed, documents=150), "year")) > 0 for seed in range(200))
    assert alarms <= 10
