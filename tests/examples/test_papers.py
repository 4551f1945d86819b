"""Every script of a table or figure of the papers runs with its small settings, judges its claims, and draws."""

import json
import shlex
from importlib import import_module
from pathlib import Path

import pytest
from examples.papers import (
    hughes_fig6,
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


def test_one_pair_of_chains_does_not_decide_whether_split_merge_is_sooner():
    plain, moved = ({"corpus": "ap", "eta": 0.5, "at": [1.0, 9.0], "mode": [mode, mode]} for mode in (-9.0, -8.0))
    assert wang_fig5.sometimes_faster([plain, moved])[1] is None
    assert wang_fig5.sometimes_faster([plain, moved] * 2)[1]
    assert wang_fig5.sometimes_faster([moved, plain] * 2)[1] is False
