from stickbreak import VariationalHDP
from stickbreak.corpus import toy_bars


def test_fit_is_silent_unless_asked(capfd):
    corpus, _ = toy_bars(10, seed=0)
    model = VariationalHDP(n_topics=2, n_laps=2, init_sweeps=2, random_state=0)
    model.fit(corpus)
    assert capfd.readouterr() == ("", "")


def test_verbose_fit_shows_the_laps_on_standard_error_alone(capsys):
    corpus, _ = toy_bars(10, seed=0)
    VariationalHDP(n_topics=2, n_laps=2, init_sweeps=2, random_state=0, verbose=True).fit(corpus)
    out, err = capsys.readouterr()
    assert out == ""
    assert "nats per token" in err
    assert "2/2" in err
