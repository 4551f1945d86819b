"""What tests do to fits and jobs: a process that is killed."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from stickbreak.corpus import Corpus, write_corpus

CHILD = """
import sys
from stickbreak import {family}
from stickbreak.corpus import open_corpus
{family}(n_laps=10_000, random_state=0, scratch=sys.argv[2], **{settings}).fit(
    open_corpus(sys.argv[1]), checkpoint=sys.argv[3], callback=lambda row: print(row.get("lap", 0), flush=True)
)
"""


def killed_after_laps(n_laps: int, family: str, settings: dict[str, Any], corpus: Corpus, folder: Path) -> int:
    """Fit in another process from folder/corpus with folder/scratch and folder/checkpoint; kill it after some laps.

    Returns the laps in the checkpoint.
    """
    paths = [str(folder / name) for name in ("corpus", "scratch", "checkpoint")]
    write_corpus(corpus, paths[0])
    code = CHILD.format(family=family, settings=settings)
    with subprocess.Popen([sys.executable, "-c", code, *paths], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        while not int(child.stdout.readline()) >= n_laps:
            pass
        child.kill()
    assert list((folder / "scratch").iterdir())  # nobody was left to remove them
    laps = len(json.loads((folder / "checkpoint" / "model.json").read_text())["meta"]["trace"]["lap"])
    assert laps >= n_laps - 1  # the checkpoint of a lap is written after it is reported
    return laps


def die_once(marker: Path) -> None:
    """Kill this process, as a worker may die, unless another one has died here before."""
    try:
        marker.touch(exist_ok=False)
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)
