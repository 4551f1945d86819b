"""A step or a fit that breaks off leaves the model as it was, or says that it did not."""

import signal

import pytest

from stickbreak import HybridHDP
from stickbreak.exceptions import InputError
from stickbreak.hybrid import laps as steps
from stickbreak.initialization import start

from .fits import assert_same


def test_step_that_breaks_off_leaves_the_model_as_it_was(corpus, monkeypatch):
    parts = [corpus[begin : begin + 30] for begin in (0, 30, 60)]
    left, right = (HybridHDP(n_topics=6, init="random", total_documents=90, random_state=1) for _ in range(2))
    for model in (left, right):
        model.partial_fit(parts[0])

    def breaks_off(*given):
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(steps, "sample_all", breaks_off)
        with pytest.raises(MemoryError):
            left.partial_fit(parts[1])
    assert left.n_documents_seen_ == 30
    for part in parts[1:]:
        assert_same(left.partial_fit(part), right.partial_fit(part))


@pytest.mark.parametrize("where", ["take_step", "learn_from"])
def test_step_that_breaks_off_while_it_changes_the_model_is_told(corpus, monkeypatch, tmp_path, where):
    model = HybridHDP(n_topics=6, init="random", learn=("alpha",), random_state=1).partial_fit(corpus[:30])
    original = getattr(steps, where)

    def breaks_off(*given):
        original(*given)
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(steps, where, breaks_off)
        with pytest.raises(MemoryError):
            model.partial_fit(corpus[30:60])
    for go_on in (lambda: model.partial_fit(corpus[30:60]), lambda: model.save(tmp_path / "m")):
        with pytest.raises(InputError, match="failed while it changed"):
            go_on()
    assert model.fit(corpus).n_topics_ >= 1


@pytest.fixture
def ctrl_c():
    """Ctrl-C raises a KeyboardInterrupt, also where the tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
def test_interrupt_gives_up_the_start_of_a_stream(corpus, monkeypatch):
    """What follows from a start that was cut short is not what follows from the whole one."""
    left, right = (HybridHDP(n_topics=6, init_sweeps=4, total_documents=90, random_state=1) for _ in range(2))
    before = dict(left.__dict__)
    laps = start.TopicLaps

    def interrupted(*given, **named):
        signal.raise_signal(signal.SIGINT)
        return laps(*given, **named)

    with monkeypatch.context() as patch:
        patch.setattr(start, "TopicLaps", interrupted)
        with pytest.raises(KeyboardInterrupt):
            left.partial_fit(corpus[:30])
    assert left.__dict__ == before
    assert_same(left.partial_fit(corpus[:30]), right.partial_fit(corpus[:30]))
