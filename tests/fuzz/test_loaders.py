"""Saved models and checkpoints changed by chance, and those that once failed: used with finite numbers, or refused."""

from pathlib import Path

import pytest

BROKEN = Path(__file__).parents[1] / "data" / "broken"
SAVED = sorted(folder.name for folder in BROKEN.iterdir() if (folder / "model").is_dir())


def test_saved_models_and_checkpoints_changed_by_chance_are_used_or_refused(fuzz):
    code, printed = fuzz("loaders", "--inputs", 100, "--seed", 0)
    assert code == 0, printed
    assert "loaders, seed 0: 100 inputs" in printed


@pytest.mark.parametrize("name", SAVED)
def test_model_that_once_failed_is_used_or_refused(broken, name):
    assert name in broken, f"{name} has no line of its own"
    assert not broken[name].startswith("FAILED"), broken[name]
