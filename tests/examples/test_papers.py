"""Every script of a table or figure of the papers runs with its small settings, judges its claims, and draws."""

import json
from importlib import import_module
from pathlib import Path

import pytest
from examples.papers import study as common
from examples.papers import wang_fig5

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
        assert [claim["claim"] for claim in kept["claims"]] == [claim.says for claim in study.claims]
        assert {k: v for k, v in kept["settings"].items() if v != study.paper[k]} == kept["changed"]


@pytest.mark.parametrize("paper", claims.SCRIPTS)
def test_page_holds_the_kept_results(paper):
    page = Path(__file__).parents[2] / "docs" / "benchmarks" / "generated" / f"claims-{paper}.md"
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
    assert said == ["yes", "no", "undecided", "yes", "in part", "no"]


def test_one_pair_of_chains_does_not_decide_whether_split_merge_is_sooner():
    plain, moved = ({"corpus": "ap", "eta": 0.5, "at": [1.0, 9.0], "mode": [mode, mode]} for mode in (-9.0, -8.0))
    assert wang_fig5.sometimes_faster([plain, moved])[1] is None
    assert wang_fig5.sometimes_faster([plain, moved] * 2)[1]
    assert wang_fig5.sometimes_faster([moved, plain] * 2)[1] is False
