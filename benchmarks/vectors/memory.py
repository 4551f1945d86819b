"""The peak memory of two laps over a memory-mapped collection of image patches."""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from benchmarks.harness.machine import peak_mebibytes
from benchmarks.harness.processes import apart
from benchmarks.harness.records import Record
from benchmarks.harness.tables import table
from benchmarks.vectors.patches import MODELS, files, warmed
from stickbreak.corpus import open_vectors, read_patches


def write_patches(folder: str, n_patches: int) -> None:
    """Write this many patches of each training image."""
    read_patches(files()[0], mean="project", n_patches=n_patches, out=folder)


def memory(key: Record) -> Record:
    """Return the peak memory of two laps over patches that are memory-mapped, beside that before them."""
    for model_class in MODELS.values():
        warmed(model_class)
    groups = open_vectors(key["folder"])
    before, begin = peak_mebibytes(), time.process_time()
    model = MODELS[key["model"]](n_components=key["components"], likelihood="zero_mean", n_laps=2, dtype="float32")
    model.fit(groups if key["model"] == "HDP" else groups.values)
    return {
        "model": key["model"],
        "patches": f"{groups.n_vectors:,}",
        "values, MiB": f"{groups.values.nbytes / 2**20:.0f}",
        "peak before, MiB": f"{before:.0f}",
        "peak (mapped pages counted), MiB": f"{peak_mebibytes():.0f}",
        "processor seconds": f"{time.process_time() - begin:.0f}",
    }


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--patches", type=int, default=5_000_000)
    parser.add_argument("--components", type=int, default=100)


def run(options: argparse.Namespace) -> str:
    """Return the table."""
    with tempfile.TemporaryDirectory() as place:
        folder = str(Path(place) / "patches")
        apart(write_patches, folder, -(-options.patches // 150))
        keys = [{"model": model, "components": options.components, "folder": folder} for model in MODELS]
        return table([apart(memory, key) for key in keys])
