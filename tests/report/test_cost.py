"""How often a report asks a model for the words of all topics, which costs as much as a pass."""

from stickbreak import TopicModel
from stickbreak.corpus import toy_bars
from stickbreak.model.topic_estimator import TopicEstimator
from stickbreak.report import build_report


def test_a_report_makes_the_words_of_all_topics_a_few_times(monkeypatch):
    corpus, _ = toy_bars(n_documents=50, seed=0)
    model = TopicModel(n_topics=10, n_laps=5, random_state=0).fit(corpus)
    asked, made = [], TopicEstimator.topic_word_.fget

    def counted(self):
        asked.append(self)
        return made(self)

    monkeypatch.setattr(TopicEstimator, "topic_word_", property(counted))
    build_report(model, corpus)
    assert 1 <= len(asked) <= 10
