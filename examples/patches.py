"""Patches of images that share components: what a DP mixture and an HDP draw (Hughes, Kim and Sudderth 2015, Fig. 7).

Both are fitted to 8 x 8 patches of grey images, the mean of each patch removed. The picture has patches drawn from the
components with the largest weights: of the DP mixture, which has one weight for all images, and of the HDP for some of
the images, whose weights are their own. Then the components that the first image is made of, as the HDP sees them.

    python examples/patches.py IMAGES [--patches 1000] [--components 100] [--laps 30] [--images 3] [--plot patches.png]

Needs Pillow and matplotlib.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stickbreak import GaussianDPMixture, GaussianHDP, GroupedVectors
from stickbreak.corpus import patch_basis, read_patches

Array = NDArray[np.float64]

SIZE = 8
SIDE = 5  # patches of a component, in each direction


class Row(NamedTuple):
    """A row of the picture: where the weights come from, and the components with the largest of them."""

    name: str
    image: Array | None  # (height, width)
    components: list[tuple[float, Array]]  # weight, tile of patches


def tile(model: Any, component: int, seed: int = 0) -> Array:
    """Return SIDE x SIDE patches drawn from a component, side by side, with a line between them."""
    rng = np.random.default_rng((seed, component))
    drawn = model.likelihood_.sample(model.posterior_, component, SIDE**2, rng) @ patch_basis(SIZE).T
    out = np.full((SIDE * (SIZE + 1) - 1,) * 2, np.nan)
    for place, patch in enumerate(drawn):
        y, x = (SIZE + 1) * (place // SIDE), (SIZE + 1) * (place % SIDE)
        out[y : y + SIZE, x : x + SIZE] = patch.reshape(SIZE, SIZE)
    return out


def row(name: str, image: Array | None, model: Any, weights: Array, top: int) -> Row:
    """Return the components of the largest weights, the largest first."""
    order = np.argsort(-weights, kind="stable")[:top]
    return Row(name, image, [(float(weights[k]), tile(model, int(k))) for k in order])


def rows_of(
    mixture: GaussianDPMixture, hdp: GaussianHDP, groups: GroupedVectors, images: Sequence[Array], top: int
) -> list[Row]:
    """Return the rows: the mixture, the HDP over all images, and the HDP for each of the first images."""
    shown = hdp.transform(groups[: len(images)])
    return [
        row("DP mixture, all images", None, mixture, mixture.weights_, top),
        row("HDP, all images", None, hdp, hdp.weights_, top),
        *(row("HDP, this image", image, hdp, weights, top) for image, weights in zip(images, shown, strict=True)),
    ]


def draw(rows: Sequence[Row], file: Path) -> None:
    """Draw the rows; each tile has a scale of grey of its own."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    columns = 1 + max(len(row.components) for row in rows)
    figure, axes = plt.subplots(len(rows), columns, figsize=(1.9 * columns, 2.1 * len(rows)), squeeze=False)
    for line, (name, image, components) in zip(axes, rows, strict=True):
        for place in line:
            place.axis("off")
        line[0].set_title(name, fontsize=9)
        if image is not None:
            line[0].imshow(image, cmap="gray", vmin=0, vmax=1)
        for place, (weight, patches) in zip(line[1:], components, strict=False):
            most = float(np.nanquantile(np.abs(patches), 0.98))
            place.imshow(patches, cmap="gray", vmin=-most, vmax=most)
            place.set_title(f"{100 * weight:.1f} %", fontsize=9)
    figure.tight_layout()
    figure.savefig(file, dpi=100)
    plt.close(figure)


def read_grey(file: Path) -> Array:
    """Read an image as grey values from 0 to 1."""
    from PIL import Image

    with Image.open(file) as image:
        return np.asarray(image.convert("L"), dtype=np.float64) / 255


def main() -> None:
    """Fit both models and draw the picture."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("folder", type=Path, help="of images")
    parser.add_argument("--patches", type=int, default=1000, help="of each image")
    parser.add_argument("--components", type=int, default=100, help="to start with")
    parser.add_argument("--laps", type=int, default=30)
    parser.add_argument("--images", type=int, default=3, help="with a row of their own")
    parser.add_argument("--top", type=int, default=6, help="components of a row")
    parser.add_argument("--plot", type=Path, default=Path("patches.png"))
    options = parser.parse_args()
    files = sorted(file for file in options.folder.iterdir() if file.suffix.lower() in {".jpg", ".jpeg", ".png"})
    groups = read_patches(files, size=SIZE, n_patches=options.patches, mean="project")
    settings = {"n_components": options.components, "n_laps": options.laps, "likelihood": "zero_mean"}
    mixture = GaussianDPMixture(**settings, dtype="float32", random_state=0).fit(groups.values)
    hdp = GaussianHDP(**settings, dtype="float32", random_state=0).fit(groups)
    print(f"{groups.n_vectors:,} patches of {groups.n_groups} images")
    for name, model in (("DP mixture", mixture), ("HDP", hdp)):
        print(f"{name}: {model.n_components_} components, objective {model.objective_:.4f} nats per patch")
    draw(
        rows_of(mixture, hdp, groups, [read_grey(file) for file in files[: options.images]], options.top), options.plot
    )
    print(f"picture: {options.plot}")


if __name__ == "__main__":
    main()
