"""Whether this tree can be released: texts agree, wheel and sdist build, and the wheel works in a clean environment."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Sequence
from pathlib import Path

from tools.environment import ROOT, install, new_environment, run

IN_THE_SDIST = ("CHANGELOG.md", "CITATION.cff", "LICENSE", "README.md", "pyproject.toml", "src/stickbreak/py.typed")
SMOKE = Path(__file__).with_name("smoke.py")


def version_of(pyproject: str) -> str:
    """Return the version that pyproject.toml names."""
    return str(tomllib.loads(pyproject)["project"]["version"])


def faults_of_texts(version: str, changelog: str, citation: str, tags: Sequence[str]) -> list[str]:
    """Return what in the texts, or in the tags, stands against a release of a version.

    Parameters
    ----------
    version : str
        The version of pyproject.toml.
    changelog, citation : str
        Content of CHANGELOG.md and CITATION.cff.
    tags : sequence of str
        The tags of the repository.
    """
    faults = []
    first = re.search(r"^## \[?([^\]\s]+)\]?(.*)$", changelog, re.MULTILINE)
    if first is None or first[1] != version:
        found = "has no section" if first is None else f"begins with {first[1]!r}"
        faults.append(f"CHANGELOG.md {found}; rename the section to '## {version} - YYYY-MM-DD'")
    elif not re.fullmatch(r" - \d{4}-\d\d-\d\d", first[2]):
        faults.append(f"the section {version} of CHANGELOG.md has no date; write '## {version} - YYYY-MM-DD'")
    if not re.search(rf"^version: {re.escape(version)}$", citation, re.MULTILINE):
        faults.append(f"CITATION.cff is not of version {version}; write 'version: {version}'")
    if f"v{version}" in tags:
        faults.append(f"the tag v{version} exists; raise the version in pyproject.toml")
    return faults


def faults_of_archives(wheel: Sequence[str], sdist: Sequence[str], modules: Sequence[str]) -> list[str]:
    """Return what is missing in the archives, or does not belong there.

    Parameters
    ----------
    wheel, sdist : sequence of str
        Names of the files in the archives, those of the sdist without its top folder.
    modules : sequence of str
        Files of the package, relative to src/.
    """
    faults = [f"the wheel lacks {name}" for name in modules if name not in wheel]
    faults += [f"the sdist lacks {name}" for name in IN_THE_SDIST if name not in sdist]
    strange = [name for name in wheel if not name.startswith(("stickbreak/", "stickbreak-"))]
    return faults + [f"the wheel also holds {name}" for name in strange]


def files_of_the_package() -> list[str]:
    """Return the files that git tracks in src/, relative to it."""
    tracked = run("git", "ls-files", "src/stickbreak").splitlines()
    return [name.removeprefix("src/") for name in tracked]


def build(folder: Path) -> tuple[Path, Path]:
    """Build sdist and wheel by the locked tools of the running environment, the wheel from the sdist."""
    run(sys.executable, "-m", "hatchling", "build", "--target", "sdist", "--directory", folder)
    sdist = next(folder.glob("*.tar.gz"))
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    source = next((folder / "unpacked").iterdir())
    run(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder, cwd=source)
    return next(folder.glob("*.whl")), sdist


def main() -> int:
    """Check, tell what is wrong, and return 1 if anything is."""
    changelog, citation = ((ROOT / name).read_text(encoding="utf-8") for name in ("CHANGELOG.md", "CITATION.cff"))
    version = version_of((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    faults = faults_of_texts(version, changelog, citation, tags=run("git", "tag", "--list").split())
    if run("git", "status", "--porcelain", "--untracked-files=no"):
        faults.append("the working tree has changes that are not committed")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print("building sdist and wheel ...", flush=True)
        wheel, sdist = build(folder)
        with zipfile.ZipFile(wheel) as zipped, tarfile.open(sdist) as tarred:
            in_sdist = [entry.partition("/")[2] for entry in tarred.getnames()]
            faults += faults_of_archives(zipped.namelist(), in_sdist, files_of_the_package())
        print(
            f"  {wheel.name} ({wheel.stat().st_size / 1e6:.1f} MB), {sdist.name} ({sdist.stat().st_size / 1e6:.1f} MB)"
        )
        print("installing the wheel in a clean environment and trying it ...", flush=True)
        python = new_environment(folder / "environment")
        install(python, "--require-hashes", "--requirement", ROOT / "requirements" / "run.txt")
        install(python, "--no-deps", wheel)
        tried = subprocess.run([python, "-I", SMOKE, version], cwd=folder)
        if tried.returncode != 0:
            faults.append("the installed wheel does not work (see above)")
    for fault in faults:
        print(f"not ready: {fault}", file=sys.stderr)
    if not faults:
        print(f"ready: git tag -a v{version} -m 'stickbreak {version}'")
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
