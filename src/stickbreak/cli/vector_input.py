"""How vectors are read; remembered beside the model, so that new ones are read the same way."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from stickbreak.cli.file_reading import FileReading, checked_or_none
from stickbreak.exceptions import ModelFormatError
from stickbreak.storage.atomic import replace_file
from stickbreak.storage.plain_files import read_json

if TYPE_CHECKING:
    from stickbreak.corpus import PatchShape, VectorTable

__all__ = ["VectorSettings"]

_FILE, _VERSION = "input.json", 1


@dataclass(frozen=True, slots=True)
class VectorSettings:
    """What a model remembers of how its vectors were read.

    Attributes
    ----------
    group_field : str or None
        Of tables: the column of the groups.
    columns : tuple of str or None
        Of tables: the columns of the numbers.
    patches : PatchShape or None
        What the vectors are, if they are patches of images.
    n_patches : int or None
        Of images: most patches of each.
    file : FileReading
        Format, encoding, delimiter.
    """

    group_field: str | None = None
    columns: tuple[str, ...] | None = None
    patches: PatchShape | None = None
    n_patches: int | None = None
    file: FileReading = field(default_factory=FileReading)

    @classmethod
    def of(cls, table: VectorTable, group_field: str | None, n_patches: int | None, file: FileReading) -> Self:
        """Return what is to be remembered of vectors that were read."""
        return cls(group_field, table.columns, table.patches, n_patches, file)

    @classmethod
    def remembered(cls, folder: Path) -> Self:
        """Read the settings beside a model; the defaults if there are none.

        Parameters
        ----------
        folder : Path
            The model.

        Raises
        ------
        ModelFormatError
            If they are damaged.
        """
        from stickbreak.corpus import PatchShape

        file = folder / _FILE
        try:
            known = read_json(file)
        except FileNotFoundError:
            return cls()
        except (OSError, ValueError) as error:
            raise ModelFormatError(f"{file} cannot be read ({error}); fit the model again") from error
        try:
            if known["version"] > _VERSION:
                raise ModelFormatError(f"{file} was written by a newer stickbreak; update stickbreak to read it")
            columns = known["columns"]
            if columns is not None and not all(isinstance(name, str) for name in columns):
                raise TypeError("its columns are not names")
            return cls(
                checked_or_none(known["group_field"], str),
                None if columns is None else tuple(columns),
                PatchShape.from_plain(known["patches"]),
                checked_or_none(known["n_patches"], int),
                FileReading.from_plain(known),
            )
        except (KeyError, TypeError) as error:
            raise ModelFormatError(f"{file} is damaged ({error}); fit the model again") from error

    def remember(self, folder: Path) -> None:
        """Write the settings into the folder of a model.

        Parameters
        ----------
        folder : Path
            The folder.

        Raises
        ------
        WriteError
            If it cannot be written.
        """
        known: dict[str, Any] = {
            "version": _VERSION,
            "group_field": self.group_field,
            "columns": self.columns,
            "patches": None if self.patches is None else self.patches.as_plain(),
            "n_patches": self.n_patches,
            **self.file.as_plain(),
        }
        with replace_file(folder / _FILE) as temporary:
            temporary.write_text(json.dumps(known, indent=1) + "\n", encoding="ascii")

    def coordinates(self, dim: int) -> tuple[str, ...]:
        """Return the names of the coordinates of vectors.

        Parameters
        ----------
        dim : int
            How many there are.
        """
        known = self.columns
        return known if known is not None and len(known) == dim else tuple(f"x{j}" for j in range(dim))
