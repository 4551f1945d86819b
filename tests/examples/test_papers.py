"""Every script of a table or figure of the papers runs with its small settings, judges its claims, and draws."""

import json
import shlex
from importlib import import_module
from pathlib import Path

import pytest
from examples.papers import (
    burkhardt_fig1,
    burkhardt_fig3,
    downey_fig3,
    downey_small,
    hughes_cost,
    hughes_fig6,
    hughes_fig7,
    hughes_gibbs,
    hughes_nyt,
    wang_fig4,
    wang_fig5,
)
from examples.papers import study as common

from benchmarks import claims

NAMES = [name for scripts in claims.SCRIPTS.values() for name in scripts]
FOLDER = Path(common.__file__).parent


def test_every_script_is_listed():
    assert sorted(NAMES) == sorted(path.stem for path in FOLDER.glob("[a-z]*.py") if path.stem != "study")


@pytest.mark.parametrize("name", NAMES)
def test_script_runs_quickly(name, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(common, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(common, "PICTURES", tmp_path)
    script = import_module(f"examples.papers.{name}")
    records = common.main(script.STUDY, script.__doc__, ["--quick", "--keep"])
    assert len(records) == len(script.STUDY.keys({**script.STUDY.paper, **script.STUDY.quick}))
    printed = capsys.readouterr().out
    assert printed.count("confirmed: ") == len(script.STUDY.claims)
    kept = json.loads((tmp_path / "results" / f"{name}.json").read_text(encoding="utf-8"))
    assert set(script.STUDY.quick) >= set(kept["changed"])
    assert (tmp_path / f"{name}.svg").exists() == (script.STUDY.draw is not None)


@pytest.mark.parametrize("name", NAMES)
def test_kept_result_is_of_the_claims_of_its_script(name):
    path = FOLDER / "results" / f"{name}.json"
    if path.exists():
        kept = json.loads(path.read_text(encoding="utf-8"))
        study = import_module(f"examples.papers.{name}").STUDY
        assert [claim["claim"] for claim in kept["claims"]] == [c.says for c in study.claims if not c.parts]
        assert {k: v for k, v in kept["settings"].items() if v != study.paper[k]} == kept["changed"]


@pytest.mark.parametrize("paper", claims.SCRIPTS)
def test_page_holds_the_kept_results(paper):
    page = Path(__file__).parents[2] / "benchmarks" / "tables" / f"claims-{paper}.md"
    assert page.read_text(encoding="utf-8") == claims.part(paper) + "\n"


def test_settings_are_changed_by_name():
    assert common.change({"runs": 20, "corpora": ["nips"]}, ['corpora=["kos"]', "runs=2"]) == {
        "runs": 2,
        "corpora": ["kos"],
    }
    with pytest.raises(SystemExit, match=r"^There is no setting 'run'; the settings are runs\.$"):
        common.change({"runs": 20}, ["run=2"])


def test_verdicts_are_said():
    study = common.Study(
        "none", {}, {}, "", lambda _: [], lambda key: key, lambda _: [],
        [
            common.Claim("a", "Fig. 1", lambda _, verdict=verdict: ("x", verdict))
            for verdict in (True, False, None, common.in_all([1, 1]), common.in_all([0, 1]), common.in_all([0, 0]))
        ],
    )  # fmt: skip
    said = [row["confirmed"] for row in common.judged(study, [])]
    assert said == ["yes", "no", "not decided", "yes", "in part", "no"]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_not_decided_names_a_command_that_would_decide_it(name):
    for row, claim in zip(claims.rows_of(name), import_module(f"examples.papers.{name}").STUDY.claims, strict=True):
        assert row["confirmed"] in ("yes", "no", "in part", "not decided")
        assert (row["confirmed"] == "not decided") == ("To decide: `python -m examples.papers." in row["why"])
        script, *words = claims.deciding(name, claim)
        common.change(import_module(f"examples.papers.{script}").STUDY.paper, words)


def test_commands_survive_a_shell():
    line = claims.command("wang_fig5", ['corpora=["ap","kos"]', "runs=1"])
    assert shlex.split(line)[-2:] == ['corpora=["ap","kos"]', "runs=1"]


def test_rows_of_parts_are_those_of_their_tables(tmp_path, monkeypatch):
    monkeypatch.setattr(common, "TABLES", tmp_path)
    (tmp_path / "a.md").write_text(
        "- day\n\n| x | y |\n| --- | --- |\n| 1 |  |\n\nText\n\n| z |\n| --- |\n| 2 |\n", "utf-8"
    )
    assert common.rows_of_parts(["a"]) == [{"x": "1", "y": ""}, {"z": "2"}]
    assert common.number("1,972 ± 50") == 1972


def test_few_methods_of_figure_6_are_judged(tmp_path):
    words = ["--quick", "--out", str(tmp_path / "runs.jsonl"), "--set"]
    for methods in ('["MOdm rand","crfSOfix"]', '["crfSOfix","SOfix"]', '["SOsm","Gibbs"]', '["MOdm anchors"]'):
        records = common.main(hughes_fig6.STUDY, None, [*words, f"methods={methods}"])
        assert len(records) == methods.count(",") + 1


def ends_of(method, score, topics):
    return {"corpus": "a", "K0": 100, "seed": 0, "method": method, "held-out": [score], "K": [topics]}


def test_a_loss_is_no_gain_of_merges_and_deletes():
    fixed = ends_of("MOfix rand", -7.0, 100)
    assert hughes_fig6.removes([fixed, ends_of("MOdm rand", -7.001, 50)])[1] is False
    assert hughes_fig6.removes([fixed, ends_of("MOdm rand", -6.999, 50)])[1] is True
    assert hughes_fig6.removes([fixed, ends_of("MOdm rand", -6.999, 95)])[1] is False
    run = {"corpus": "a", "K0": 9, "Gibbs": [100, -7.0], "MOfix": [100, -6.9]}
    assert [hughes_gibbs.removes([{**run, "MOdm": [50, score]}])[1] for score in (-6.95, -6.89)] == [False, True]


def test_a_loss_is_no_gain_of_moves_of_vectors():
    def rows(score, components):
        return [
            {"model": model, "moves": moves, "patches": "9", "passes": "8", "components": K, "held-out score": value}
            for model in hughes_fig7.MODELS
            for moves, K, value in (("moves", components, score), ("no moves", "100", "145.5527"))
        ]

    assert hughes_fig7.removed(rows("145.5470", "96"))[1] is False
    assert hughes_fig7.removed(rows("145.5600", "96"))[1] is True
    assert hughes_fig7.removed(rows("145.5600", "100"))[1] is False


def test_small_collections_do_not_decide_what_millions_of_documents_do():
    def run(documents, merges):
        trace = {"merge_accepted": [merges], "delete_accepted": [0], "restarts_tried": [10], "restarts_accepted": [3]}
        return {"documents": documents, "K0": 9, "K": [9], "trace": trace}

    assert hughes_nyt.none_accepted([run(89_200, 0)])[1] is None
    assert [hughes_nyt.none_accepted([run(1_800_000, n)])[1] for n in (0, 1)] == [True, False]
    assert hughes_nyt.restarts([run(1_800_000, 0)], low=0.7)[1] is False


def test_the_franchise_costs_more_only_where_it_takes_longer():
    def runs(direct, few, many):
        return [{"corpus": "a", "K": 9, "J": J, "last": s} for J, s in ((0, direct), (10, few), (40, many))]

    assert hughes_cost.costs_more(runs(1, 2, 8))[1] is True
    assert hughes_cost.costs_more(runs(3, 2, 8))[1] is False
    assert hughes_cost.costs_more(runs(1, 2, 3))[1] is False


def test_small_minibatches_hurt_the_mean_field_only_if_they_hurt_the_hybrid_less():
    def rows(mean_field, hybrid):
        return [
            {"corpus": "a", "documents of a minibatch": batch, "system": system, "per-word log-likelihood": str(score)}
            for system, small in (("gensim", mean_field), ("stickbreak", hybrid))
            for batch, score in (("10", small), ("1000", -7.0))
        ]

    found = [
        burkhardt_fig1.loses(rows(*pair))[1] for pair in ((-7.4, -7.1), (-7.05, -7.0), (-7.4, -7.39), (-6.9, -7.2))
    ]
    assert found == [True, False, False, False]


def test_sparse_sampling_that_is_ahead_at_once_was_not_behind():
    def runs(first, last):
        pair = {"sparse": [first, last], "dense": [-8.0, -7.5]}
        return [
            {"corpus": "a", "K": 9, "at": [1.0, 9.0], "system": f"{method}, {kind}", "scores": scores}
            for method in ("hybrid", "Gibbs")
            for kind, scores in pair.items()
        ]

    found = [burkhardt_fig3.behind_then_ahead(runs(*pair))[1] for pair in ((-8.1, -7.4), (-7.9, -7.4), (-8.1, -7.6))]
    assert found == [True, False, False]


def test_ten_times_a_trees_time_is_asked_of_many_topics():
    def runs(topics, seconds):
        trees = [{"system": s, "topics": topics, "seconds": 1.0} for s in ("wide", "tall")]
        return [*trees, {"system": "NestedHDP", "topics": topics, "seconds": seconds}]

    judge = downey_fig3.costlier("NestedHDP")
    assert [judge(runs(972, s))[1] for s in (1.7, 9.9, 10.1)] == [False, False, True]
    assert judge(runs(108, 50.0))[1] is None
    assert judge(runs(972, 1.0)[:2]) == (common.NOT_RUN, None)


def test_a_run_of_each_does_not_decide_between_tall_and_wide_trees():
    runs = [{"system": s, "topics": 9, "perplexity": p} for s, p in (("wide", 99.0), ("tall", 98.0))]
    assert downey_small.taller(runs)[1] is None
    assert downey_small.taller(runs * 3)[1] is True


def test_expansion_that_costs_memory_saves_only_in_part():
    shared = {"corpus": "reuters21578", "topics": "8,748"}
    rows = [
        {**shared, "system": f"wide, {name}", "peak memory, MiB": memory, "printed": printed}
        for name, memory, printed in (("random start", "367", "864 ± 20"), ("expansion", "384", "737 ± 15"))
    ] + [
        {**shared, "system": name, "shape": "wide", "mean pass, s": seconds}
        for name, seconds in (("random start", "3.82"), ("expansion", "2.74"))
    ]
    assert downey_small.expansion(rows)[1] == common.PART


def test_cost_that_noise_hides_is_not_decided():
    def runs(*more):
        return [{"fixed": None, "K": [1], "seconds": seconds} for extra in more for seconds in (1.0, 1.0 + extra)]

    assert wang_fig4.cheap(runs(0.12, 0.13, 0.11))[1] is False
    assert wang_fig4.cheap(runs(0.01, 0.02, 0.0))[1] is True
    assert wang_fig4.cheap(runs(-0.3, 0.3, 0.0))[1] is None
    assert wang_fig4.cheap(runs(0.0))[1] is None


def test_one_percent_of_moves_is_not_three():
    assert (
        wang_fig5.accepted([{"corpus": "a", "accepted": "1.1 %"}, {"corpus": "b", "accepted": "3.1 %"}])[1]
        == common.PART
    )


def test_a_loss_makes_split_merge_worse_and_one_pair_of_chains_decides_nothing():
    plain, moved = ({"corpus": "ap", "eta": 0.5, "at": [1.0, 9.0], "mode": [m, m]} for m in (-9.0, -9.001))
    assert wang_fig5.never_worse([plain, moved])[1] is None
    assert wang_fig5.never_worse([plain, moved] * 2)[1] is False
    assert wang_fig5.never_worse([moved, plain] * 2)[1] is True


def test_one_pair_of_chains_does_not_decide_whether_split_merge_is_sooner():
    plain, moved = ({"corpus": "ap", "eta": 0.5, "at": [1.0, 9.0], "mode": [mode, mode]} for mode in (-9.0, -8.0))
    assert wang_fig5.sometimes_faster([plain, moved])[1] is None
    assert wang_fig5.sometimes_faster([plain, moved] * 2)[1]
    assert wang_fig5.sometimes_faster([moved, plain] * 2)[1] is False
