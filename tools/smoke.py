"""What an installed stickbreak must do: say its version, fit, save, load, write a report, run as a command.

It runs in an environment that holds nothing but the package and what that needs:

    python -I tools/smoke.py VERSION
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path


def main(version: str) -> None:
    """Try the package and the command; an exception or a failed assertion says what does not work."""
    import stickbreak

    inside = Path(sys.prefix).resolve()
    assert inside in Path(stickbreak.__file__).resolve().parents, f"{stickbreak.__file__} is not the installed package"
    assert stickbreak.__version__ == version, stickbreak.__version__
    command = Path(sys.executable).with_name("stickbreak")
    said = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout
    assert version in said, said

    corpus, _ = stickbreak.corpus.toy_bars(n_documents=50, seed=0)
    model = stickbreak.TopicModel(n_topics=10, n_laps=5, random_state=0).fit(corpus)
    with tempfile.TemporaryDirectory() as name:
        model.save(Path(name) / "bars")
        loaded = stickbreak.load(Path(name) / "bars", stickbreak.TopicModel)
        assert (loaded.transform(corpus) == model.transform(corpus)).all()
        texts = Path(name) / "texts.txt"
        texts.write_text("red green blue\nnorth south west\ntea milk water\n" * 20)
        out = Path(name) / "topics"
        arguments: list[str | Path] = ["fit", texts, "--out", out, "--topics", "3", "--laps", "3", "--quiet"]
        subprocess.run([command, *arguments], check=True, stdout=subprocess.DEVNULL)
        assert (out / "report.html").stat().st_size > 1_000_000, "the report lacks its program"
    print(f"stickbreak {version} fits, saves, loads and runs as a command")


if __name__ == "__main__":
    main(sys.argv[1])
