"""Every script of a table or figure of the papers runs with its small settings, judges its claims, and draws."""

import json
from importlib import import_module
from pathlib import Path

import pytest
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


@pytest.mark.parametrize("name", NAMES)
def test_what_is_not_decided_names_a_command_that_would_decide_it(name):
    for row, claim in zip(claims.rows_of(name), import_module(f"examples.papers.{name}").STUDY.claims, strict=True):
        assert row["confirmed"] in ("yes", "no", "in part", "not decided")
        assert (row["confirmed"] == "not decided") == ("To decide: `python -m examples.papers." in row["why"])
        script, *words = claims.deciding(name, claim)
        common.change(import_module(f"examples.papers.{script}").STUDY.paper, words)
