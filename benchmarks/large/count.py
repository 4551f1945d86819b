"""Texts to counts: `stickbreak count` by threads and by workers, beside scikit-learn's CountVectorizer.

Each in a process of its own, by the clock on the wall, with the peak memory of that process (workers have their own).
Words are compiled before. JSON lines in files of 16 MB; CountVectorizer gets the texts that Python's json reads.
"""

from __future__ import annotations

import argparse
import gzip
import json
import shutil
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import stickbreak
from benchmarks.harness.corpora import root
from benchmarks.harness.machine import PeakMemory
from benchmarks.harness.processes import apart
from benchmarks.harness.records import Record
from benchmarks.harness.tables import table
from stickbreak.corpus import count_texts

FILE_BYTES = 16_000_000
PATTERN = r"(?<![^\W_])[^\W\d_]{3,}(?![^\W_])"  # nearly our words: a regular expression knows no marks


def unpacked(path: Path, folder: Path, copies: int) -> int:
    """Write the lines of a file to files of about 16 MB, several times over; return their bytes."""
    size, number = 0, 0
    target = None
    for _ in range(copies):
        with gzip.open(path, "rb") if path.suffix == ".gz" else open(path, "rb") as source:
            for line in source:
                if target is None or target.tell() >= FILE_BYTES:
                    if target is not None:
                        target.close()
                    target = open(folder / f"{number:05d}.jsonl", "wb")
                    number += 1
                target.write(line)
                size += len(line)
    if target is not None:
        target.close()
    return size


def texts_of(folder: Path) -> Iterator[str]:
    """Give the texts as Python reads JSON lines."""
    for path in sorted(folder.glob("*.jsonl")):
        with open(path, encoding="utf-8") as file:
            for line in file:
                yield json.loads(line)["text"]


def measure(key: Record) -> Record:
    """Count once; return seconds and memory."""
    folder, out = Path(key["folder"]), Path(key["folder"]) / "counts"
    count_texts(["compile", "den Zähler"])
    peak, began, cpu = PeakMemory(), time.perf_counter(), time.process_time()
    if key["system"] == "CountVectorizer":
        from sklearn.feature_extraction.text import CountVectorizer

        counter = CountVectorizer(stop_words="english", min_df=5, max_df=0.5, token_pattern=PATTERN)
        n_words = counter.fit_transform(texts_of(folder)).shape[1]
        seconds = time.perf_counter() - began
    else:
        with stickbreak.cluster(key["workers"]) if key["workers"] else nullcontext():
            began = time.perf_counter()
            n_words = stickbreak.count_files(folder / "*.jsonl", out, n_jobs=key["threads"]).n_words
            seconds = time.perf_counter() - began
    peak.end()
    shutil.rmtree(out, ignore_errors=True)
    return {"seconds": seconds, "cpu": time.process_time() - cpu, "peak": peak.mebibytes, "words": n_words}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--texts", type=Path, help="JSON lines; default: package_summaries of STICKBREAK_DATA")
    parser.add_argument("--copies", type=int, default=1, help="how many times over")
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--workers", nargs="*", type=int, default=[2])
    parser.add_argument("--repeats", type=int, default=3, help="systems take turns; the table has the medians")


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    rows = []
    with TemporaryDirectory() as place:
        size = unpacked(options.texts or root() / "package_summaries" / "docs.jsonl.gz", Path(place), options.copies)
        own = [("count_files", n, 0) for n in options.threads] + [("count_files", 1, n) for n in options.workers]
        chosen = [("CountVectorizer", 1, 0), *own]
        keys = [{"folder": place, "system": name, "threads": n, "workers": w} for name, n, w in chosen]
        turns = [[apart(measure, key) for key in keys] for _ in range(options.repeats)]
        for number, key in enumerate(keys):
            found = {name: median(turn[number][name] for turn in turns) for name in turns[0][number]}
            rows.append(
                {
                    "system": key["system"],
                    "threads": key["threads"],
                    "worker processes": key["workers"] or "none",
                    "MB": f"{size / 1e6:.0f}",
                    "seconds": f"{found['seconds']:.1f}",
                    "times CountVectorizer": f"{median(t[0]['seconds'] / t[number]['seconds'] for t in turns):.1f}",
                    "MB/s": f"{size / 1e6 / found['seconds']:.1f}",
                    "processor seconds of the process": f"{found['cpu']:.1f}",
                    "its peak memory, MiB": f"{found['peak']:.0f}",
                    "words": f"{found['words']:,.0f}",
                }
            )
    return table(rows)
