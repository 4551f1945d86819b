"""From a fitted model of vectors to the numbers of a report: components, with pictures where they are patches."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from stickbreak.corpus import GroupedVectors, PatchShape
from stickbreak.exceptions import InputError
from stickbreak.numerics.arrays import Float
from stickbreak.prediction.words import document_blocks
from stickbreak.report.data import ComponentReport, ComponentsData, Coordinate, GroupShare, Picture
from stickbreak.report.fit import describe_fit
from stickbreak.storage.persistence import package_version

if TYPE_CHECKING:
    from stickbreak.variational.vector_model import ShownComponent, VectorModel

_MOST_COMPONENTS, _MOST_VECTORS = 300, 20_000
_MOST_IN_GROUPS = 500_000  # vectors in the groups that are compared
_DIRECTIONS, _COORDINATES, _GROUPS = 6, 20, 5
_TINY = np.finfo(float).tiny


def build_component_report(
    model: VectorModel,
    vectors: GroupedVectors,
    *,
    title: str | None = None,
    held_out: float | None = None,
    coordinates: Sequence[str] | None = None,
    patches: PatchShape | None = None,
    n_examples: int = 8,
    seed: int = 0,
) -> ComponentsData:
    """Gather what a report on a fitted model of vectors says.

    Parameters
    ----------
    model : fitted model
        Of vectors, in groups or without.
    vectors : GroupedVectors
        Vectors to describe the components by, usually those that the model was fitted on.
    title : str, optional
        Heading of the report; the default names the number of vectors.
    held_out : float, optional
        Held-out score, in nats per vector. The default is the one that the model knows (`note_held_out`).
    coordinates : sequence of str, optional
        The names of the coordinates.
    patches : PatchShape, optional
        What the vectors are, if they are patches of images: components are then drawn. The default takes vectors of
        9, 16, 25, ... numbers for the pixels of patches.
    n_examples : int, default=8
        Patches that are drawn of each component.
    seed : int, default=0
        Of the sample of 20,000 vectors (whole groups, if there are any) that stands for more.

    Returns
    -------
    ComponentsData

    Raises
    ------
    InputError
        If there are no vectors, or they do not fit the model, the names or the patches.
    """
    if not vectors.n_vectors:
        raise InputError("there are no vectors to describe the components by; give at least one.")
    dim = model.n_features_in_
    patches = PatchShape.of_square(dim) if patches is None else patches
    names = tuple(f"x{j}" for j in range(dim)) if coordinates is None else tuple(coordinates)
    if len(names) != dim or (patches is not None and patches.dim != dim):
        raise InputError(
            f"the vectors of the model have {dim} numbers, but there are {len(names)} names and patches are "
            f"{patches}; give those of the fit."
        )
    shown = model.shown_components(_DIRECTIONS)
    centre = np.sum([component.weight * component.mean for component in shown], axis=0)
    sample = _some_of(vectors, _MOST_VECTORS, seed, whole_groups=model.grouped)
    label = model.predict(sample if model.grouped else sample.values)
    writer = _Writer(shown[:_MOST_COMPONENTS], names, centre, patches, sample.values, label, n_examples)
    return ComponentsData(
        title=title or f"Components of {vectors.n_vectors:,} vectors",
        version=package_version(),
        n_components=len(shown),
        n_groups=vectors.n_groups if model.grouped else None,
        n_vectors=vectors.n_vectors,
        n_described=sample.n_vectors,
        dim=dim,
        patch_size=None if patches is None else patches.size,
        fit=describe_fit(model, model.n_components_),
        held_out=_known_score(model) if held_out is None else held_out,
        components=writer.write(_largest_groups(model, vectors, seed) if model.grouped else {}),
    )


def _known_score(model: VectorModel) -> float | None:
    """Return the held-out score that was noted in a model."""
    known = model.held_out_
    return None if known is None else known.value


def _some_of(vectors: GroupedVectors, most: int, seed: int, *, whole_groups: bool) -> GroupedVectors:
    """Return a random sample of vectors in their order; of whole groups at least one, however large it is."""
    if vectors.n_vectors <= most:
        return vectors
    rng = np.random.default_rng(seed)
    if not whole_groups:
        rows = np.sort(rng.choice(vectors.n_vectors, most, replace=False))
        return GroupedVectors.from_values(vectors.values[rows])
    order = rng.permutation(np.flatnonzero(vectors.group_sizes))
    n = max(int(np.searchsorted(np.cumsum(vectors.group_sizes[order]), most, side="right")), 1)
    return vectors[np.sort(order[:n])]


def _largest_groups(model: Any, vectors: GroupedVectors, seed: int) -> dict[int, list[GroupShare]]:
    """Return the groups in which each component weighs most; those without a vector are left out."""
    named = replace(vectors, names=vectors.group_names)  # by its number, also in a sample
    groups = _some_of(named, _MOST_IN_GROUPS, seed, whole_groups=True)
    found: dict[int, list[GroupShare]] = {k: [] for k in range(model.n_components_)}
    for block in document_blocks(groups.n_groups, model.n_components_):
        part = groups[block]
        weights = model.active_weights(part)
        weights[part.group_sizes == 0] = 0.0
        for k, best in found.items():
            order = np.argsort(-weights[:, k], kind="stable")[:_GROUPS]
            best += [GroupShare(part.group_names[g], float(weights[g, k])) for g in order if weights[g, k] > 0]
            best.sort(key=lambda group: -group.share)
            del best[_GROUPS:]
    return found


@dataclass(slots=True)
class _Writer:
    """Turns components into one `ComponentReport` each."""

    shown: list[ShownComponent]
    names: tuple[str, ...]
    centre: Float
    patches: PatchShape | None
    values: NDArray
    label: NDArray[np.int64]
    n_examples: int

    @property
    def signed(self) -> bool:
        """Whether pixels may be negative: they have no mean, or are not light."""
        return self.patches is not None and (self.patches.projected or bool(self.values.min() < 0))

    def write(self, groups: dict[int, list[GroupShare]]) -> tuple[ComponentReport, ...]:
        """Describe all components that are shown."""
        return tuple(
            ComponentReport(
                number=component.number,
                weight=component.weight,
                share=float(np.mean(self.label == component.number)),
                count=component.count,
                shares=tuple(component.shares.tolist()),
                coordinates=tuple(
                    Coordinate(
                        self.names[j],
                        float(component.mean[j]),
                        float(component.spread[j]),
                        tuple(component.directions[:, j].tolist()),
                    )
                    for j in component.telling(_COORDINATES, self.centre)
                ),
                pictures=self._pictures(component),
                examples=self._examples(component.number),
                groups=tuple(groups.get(component.number, ())),
            )
            for component in self.shown
        )

    def _pictures(self, component: ShownComponent) -> tuple[Picture, ...]:
        """Draw the mean and the leading directions."""
        if self.patches is None:
            return ()
        drawn = self.patches.pixels(np.vstack([component.mean, component.directions]))
        mean, *directions = drawn
        return (
            Picture(_grey(mean, signed=self.signed), None),
            *(
                Picture(_grey(pixels, signed=True), share)
                for pixels, share in zip(directions, component.shares.tolist(), strict=True)
            ),
        )

    def _examples(self, k: int) -> tuple[Picture, ...]:
        """Draw some patches of a component, evenly over the sample."""
        if self.patches is None:
            return ()
        rows = np.flatnonzero(self.label == k)
        rows = rows[np.unique(np.linspace(0, rows.size - 1, min(rows.size, self.n_examples)).round().astype(int))]
        return tuple(
            Picture(_grey(pixels, signed=self.signed), None) for pixels in self.patches.pixels(self.values[rows])
        )


def _grey(pixels: NDArray, *, signed: bool) -> str:
    """Return grey bytes in base64: from black at zero to white, or with zero in the middle."""
    most = max(float(np.abs(pixels).max()), _TINY)
    grey = 0.5 + pixels / (2 * most) if signed else np.maximum(pixels, 0.0) / most
    return base64.b64encode((grey * 255).round().astype(np.uint8).tobytes()).decode("ascii")
