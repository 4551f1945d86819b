"""Denoising grey images by a mixture of patches: expected patch log likelihood (EPLL; Zoran and Weiss, ICCV 2011).

A mixture of Gaussians of mean zero is fitted to clean 8 x 8 patches, their own means removed; its number of
components is found by the fit. A noisy image is then denoised by half quadratic splitting: every patch of the present
estimate is replaced by its most probable clean version (the Wiener filter of the component that explains it best), and
the estimate becomes the weighted mean of the noisy image and of all these overlapping patches; five times, with growing
trust in the patches.

    python examples/denoise.py IMAGES [--sigma 15 25 50] [--images 10] [--fitted FOLDER] [--plot PICTURE]

IMAGES is a folder; a quarter of its images is held out, and the first `--images` of these are denoised. The table has
the mean PSNR (in decibels, more is better) of the noisy images, of total variation and non-local means of scikit-image,
with their parameters chosen on training images, and of EPLL. Needs Pillow and scikit-image; `--plot` needs matplotlib.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

import stickbreak
from stickbreak.corpus import patch_basis, patches_of, read_patches
from stickbreak.fitting.engine import one_blas_thread

Image = NDArray[np.float32]  # (height, width), from 0 (black) to 1 (white)

BETAS = (1, 4, 8, 16, 32)  # trust in the patches at each step, in units of 1 / sigma^2
SIZE = 8
BLOCK = 4096  # patches that are filtered together


@dataclass(frozen=True)
class PatchPrior:
    """A mixture of zero-mean Gaussians of patches, in coordinates of the basis of patches without their mean.

    Attributes
    ----------
    log_weights : ndarray of shape (K,)
    variances : ndarray of shape (K, dim)
        Eigenvalues of the covariances.
    axes : ndarray of shape (K, dim, dim)
        Their eigenvectors, in columns.
    size : int
        Side of a patch; dim = size^2 - 1.
    """

    log_weights: NDArray[np.float32]
    variances: NDArray[np.float32]
    axes: NDArray[np.float32]
    size: int

    @classmethod
    def of(cls, model: Any, size: int = SIZE) -> Self:
        """Take weights and covariances of a fitted model of `read_patches(..., mean="project")`."""
        variances, axes = np.linalg.eigh(model.covariances_)
        single = np.float32
        return cls(np.log(model.weights_).astype(single), variances.astype(single), axes.astype(single), size)

    def explained(self, coordinates: NDArray[np.float32], noise: float) -> NDArray[np.float32]:
        """Return log w_k + log Normal(x_n; 0, Sigma_k + noise I), up to a constant, (n, K)."""
        scores = np.empty((len(coordinates), self.log_weights.size), np.float32)
        for k, (variances, axes) in enumerate(zip(self.variances, self.axes, strict=True)):
            total = variances + np.float32(noise)
            white = coordinates @ (axes / np.sqrt(total))
            scores[:, k] = self.log_weights[k] - (np.log(total).sum() + np.einsum("nd,nd->n", white, white)) / 2
        return scores

    def filtered(self, coordinates: NDArray[np.float32], noise: float) -> NDArray[np.float32]:
        """Return the most probable clean patches under the component that explains each noisy one best, (n, dim)."""
        out = np.empty_like(coordinates)
        for start in range(0, len(coordinates), BLOCK):
            block = coordinates[start : start + BLOCK]
            best = self.explained(block, noise).argmax(axis=1)
            for k in np.unique(best):
                chosen = best == k
                gain = self.variances[k] / (self.variances[k] + np.float32(noise))
                out[start : start + BLOCK][chosen] = block[chosen] @ self.axes[k] * gain @ self.axes[k].T
        return out


def averaged(patches: NDArray[np.float32], shape: tuple[int, int], size: int) -> tuple[Image, Image]:
    """Add overlapping patches up at their places; return the sum, and how many patches cover each pixel."""
    height, width = shape[0] - size + 1, shape[1] - size + 1
    cube = patches.reshape(height, width, size, size)
    total, cover = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    for row in range(size):
        for column in range(size):
            total[row : row + height, column : column + width] += cube[:, :, row, column]
            cover[row : row + height, column : column + width] += 1
    return total, cover


def denoised(noisy: Image, sigma: float, prior: PatchPrior, betas: Sequence[float] = BETAS) -> Image:
    """Denoise an image by EPLL.

    Parameters
    ----------
    noisy : ndarray of shape (height, width)
    sigma : float
        Standard deviation of the noise, in the units of the image.
    prior : PatchPrior
    betas : sequence of float
        A step of half quadratic splitting for each, in units of 1 / sigma^2.

    Returns
    -------
    ndarray of shape (height, width)
    """
    basis, size = patch_basis(prior.size).astype(np.float32), prior.size
    estimate = noisy.astype(np.float32)
    for beta in betas:
        patches = patches_of(estimate, size, mean="keep")
        means = patches.mean(axis=1, keepdims=True)
        with one_blas_thread():  # products of a block are too small to be shared among threads
            clean = prior.filtered(patches @ basis, sigma**2 / beta) @ basis.T + means
        total, cover = averaged(clean, estimate.shape, size)
        estimate = (size**2 * noisy + beta * total) / (size**2 + beta * cover)  # size^2 copies of each pixel's noise
    return np.clip(estimate, 0, 1).astype(np.float32, copy=False)


def psnr(image: Image, clean: Image) -> float:
    """Return the peak signal-to-noise ratio in decibels; the peak is 1."""
    return float(-10 * np.log10(np.mean((image - clean) ** 2, dtype=np.float64)))


def read_grey(file: Path) -> Image:
    """Read an image as grey values from 0 to 1."""
    from PIL import Image as pillow

    with pillow.open(file) as image:
        return np.asarray(image.convert("L"), np.float32) / np.float32(255)


def total_variation(noisy: Image, sigma: float, weight: float) -> Image:
    """Denoise by scikit-image; `weight` in units of sigma."""
    from skimage.restoration import denoise_tv_chambolle

    clean: Image = denoise_tv_chambolle(noisy, weight=weight * sigma)  # type: ignore[no-untyped-call]
    return clean


def non_local_means(noisy: Image, sigma: float, h: float) -> Image:
    """Denoise by scikit-image; the filter strength h in units of sigma."""
    from skimage.restoration import denoise_nl_means

    clean: Image = denoise_nl_means(noisy, patch_size=5, patch_distance=6, h=h * sigma, sigma=sigma, fast_mode=True)
    return clean


BASELINES: dict[str, tuple[Callable[[Image, float, float], Image], Sequence[float]]] = {
    "total variation": (total_variation, (0.7, 0.9, 1.1, 1.3, 1.5, 1.8)),
    "non-local means": (non_local_means, (0.4, 0.5, 0.6, 0.7, 0.8, 1.0)),
}


def with_noise(clean: Image, sigma: float, seed: int) -> Image:
    """Add Gaussian noise; the same seed gives the same noise."""
    noise = np.random.default_rng(seed).standard_normal(clean.shape, np.float32)
    return (clean + np.float32(sigma) * noise).astype(np.float32, copy=False)


def tuned(method: str, training: Sequence[Image], sigma: float) -> float:
    """Return the parameter of a baseline that has the best mean PSNR on training images."""
    function, values = BASELINES[method]
    scores = [
        np.mean([psnr(function(with_noise(x, sigma, 99 + i), sigma, value), x) for i, x in enumerate(training)])
        for value in values
    ]
    return values[int(np.argmax(scores))]


def fitted_prior(files: Sequence[Path], arguments: argparse.Namespace) -> Any:
    """Fit the mixture to a sample of patches of clean images, or load one that was fitted before."""
    folder = arguments.fitted
    if folder is not None and folder.exists():
        return stickbreak.load(folder)
    patches = read_patches(files, size=SIZE, n_patches=arguments.patches, mean="project")
    options: dict[str, Any] = {
        "n_components": arguments.components,
        "likelihood": "zero_mean",
        "dtype": "float32",
        "random_state": 0,
    }
    started = time.perf_counter()
    model: stickbreak.GaussianHDP | stickbreak.GaussianDPMixture
    if arguments.model == "hdp":
        model = stickbreak.GaussianHDP(**options, n_laps=arguments.laps).fit(patches)
    else:
        model = stickbreak.GaussianDPMixture(**options, n_laps=arguments.laps).fit(patches.values)
    seconds = time.perf_counter() - started
    of_what = f"{patches.n_vectors:,} patches of {patches.n_groups} images"
    print(f"{of_what}: {model.n_components_} components in {seconds:.0f} s", flush=True)
    if folder is not None:
        model.save(folder)
    return model


def main() -> None:
    """Fit the prior, denoise held-out images and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("folder", type=Path, help="of clean images")
    parser.add_argument("--sigma", type=float, nargs="+", default=[15, 25, 50], help="of the noise, of 255")
    parser.add_argument("--images", type=int, default=10, help="held-out images to denoise")
    parser.add_argument("--model", choices=["dp", "hdp"], default="dp", help="mixture, or components shared by images")
    parser.add_argument("--components", type=int, default=200, help="to start with")
    parser.add_argument("--patches", type=int, default=1000, help="of each training image")
    parser.add_argument("--laps", type=int, default=50)
    parser.add_argument("--fitted", type=Path, help="folder of the fitted model: loaded if it is there, else written")
    parser.add_argument("--plot", type=Path, help="picture of the first image")
    arguments = parser.parse_args()
    files = sorted(file for file in arguments.folder.iterdir() if file.suffix.lower() in {".jpg", ".jpeg", ".png"})
    held_out, training = files[::4], [file for i, file in enumerate(files) if i % 4]
    prior = PatchPrior.of(fitted_prior(training, arguments))
    tuning = [read_grey(file) for file in training[:: max(len(training) // 5, 1)][:5]]
    print("\n| sigma | noisy | " + " | ".join(BASELINES) + " | EPLL | seconds an image |")
    print("|---|---|" + "---|" * len(BASELINES) + "---|---|")
    rows = []
    for sigma in arguments.sigma:
        level = sigma / 255
        chosen = {method: tuned(method, tuning, level) for method in BASELINES}
        scores, seconds = [], 0.0
        pictures: dict[str, Image] = {}
        for seed, file in enumerate(held_out[: arguments.images]):
            clean = read_grey(file)
            noisy = with_noise(clean, level, seed)
            results = {"noisy": noisy}
            results |= {method: BASELINES[method][0](noisy, level, value) for method, value in chosen.items()}
            started = time.perf_counter()
            results["EPLL"] = denoised(noisy, level, prior)
            seconds += time.perf_counter() - started
            scores.append([psnr(image, clean) for image in results.values()])
            pictures = pictures or {"clean": clean, **results}
        mean = np.mean(scores, axis=0)
        print(
            f"| {sigma:g} | " + " | ".join(f"{x:.2f}" for x in mean) + f" | {seconds / len(scores):.1f} |", flush=True
        )
        rows.append((sigma, pictures))
    if arguments.plot:
        draw(rows, arguments.plot)


def draw(rows: Sequence[tuple[float, dict[str, Image]]], file: Path) -> None:
    """Draw one image under every noise, and what each method makes of it."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(len(rows), len(rows[0][1]), figsize=(15, 2.6 * len(rows)), squeeze=False)
    for line, (sigma, pictures) in zip(axes, rows, strict=True):
        for place, (name, image) in zip(line, pictures.items(), strict=True):
            place.imshow(image, cmap="gray", vmin=0, vmax=1)
            quality = "" if name == "clean" else f", {psnr(image, pictures['clean']):.2f} dB"
            place.set_title(f"{name}{quality}" if name != "noisy" else f"noise {sigma:g}{quality}", fontsize=9)
            place.axis("off")
    figure.tight_layout()
    figure.savefig(file, dpi=100)


if __name__ == "__main__":
    main()
