"""The house keeps its shape: arrows point one way, the package is quick to import, everything public is described."""

import ast
import graphlib
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import stickbreak
from stickbreak.methods import OWN

ROOT = Path(stickbreak.__file__).parent
ROOMS = [  # from the bottom to the top; a module imports from its own room and from lower floors
    {"exceptions"},
    {"methods"},
    {"numerics", "storage"},
    {"corpus"},
    {"likelihoods"},
    {"fitting"},
    {"counting", "prediction"},
    {"plots", "questions", "sparse_gibbs"},
    {"path"},
    {"model"},
    {"topics"},
    {"initialization"},
    {method.module.split(".")[1] for method in OWN.values()} - {"topics"},
    {"comparison", "evaluation", "report"},
    {"cli"},
    {"__main__"},
]
FLOOR = {room: floor for floor, rooms in enumerate(ROOMS) for room in rooms}
FACE = "__init__"  # the package itself: it may name everything, and no room but the top ones may ask it
FAMILY_FLOOR = FLOOR["variational"]

Module = str  # "corpus.text"; the package itself is "__init__", a folder's own module is the folder


def modules(root: Path = ROOT) -> dict[Module, Path]:
    """Every module of the package by its dotted name."""
    found = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts) or FACE
        found[name] = path
    return found


MODULES = modules()


def imports_of(module: Module, source: str, known: set[Module], package: bool) -> Iterator[Module]:
    """Yield the modules of stickbreak that a source imports anywhere: at the top, in functions, for types only."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "stickbreak":
                    yield alias.name.removeprefix("stickbreak").lstrip(".") or FACE
        elif isinstance(node, ast.ImportFrom):
            base = absolute(module, node, package)
            if base is None:
                continue
            for alias in node.names:
                inner = alias.name if base == FACE else f"{base}.{alias.name}"
                yield inner if inner in known else base


def absolute(module: Module, node: ast.ImportFrom, package: bool) -> Module | None:
    """Return the module that `from ... import` names, or None if it is none of ours."""
    if node.level == 0:
        name = node.module or ""
        return None if name.split(".")[0] != "stickbreak" else name.removeprefix("stickbreak").lstrip(".") or FACE
    here = [] if module == FACE else module.split(".")
    above = here[: len(here) - node.level + (1 if package else 0)]
    return ".".join([*above, *([node.module] if node.module else [])]) or FACE


@cache
def graph() -> dict[Module, set[Module]]:
    """Return who imports whom."""
    known = set(MODULES)
    return {
        name: set(imports_of(name, path.read_text(encoding="utf-8"), known, path.name == "__init__.py")) - {name}
        for name, path in MODULES.items()
    }


def room(module: Module) -> str:
    return module.split(".")[0]


def forbidden(module: Module, imported: Module) -> str | None:
    """Say why `module` may not import `imported`, or return None."""
    ours, theirs = room(module), room(imported)
    if ours in (theirs, FACE):
        return None
    if theirs == FACE:
        return None if FLOOR[ours] > FAMILY_FLOOR else "asks the face of the package, which stands above it"
    if FLOOR[theirs] > FLOOR[ours]:
        return f"{theirs} stands above {ours}"
    if FLOOR[theirs] == FLOOR[ours] == FAMILY_FLOOR:
        return f"{ours} and {theirs} are two families; what they share moves down"
    return None


def test_every_room_has_its_floor():
    assert {room(name) for name in MODULES} - {FACE} <= FLOOR.keys()


def test_arrows_point_one_way():
    wrong = [
        f"{name} imports {other}: {reason}"
        for name, others in graph().items()
        for other in sorted(others)
        if (reason := forbidden(name, other))
    ]
    assert wrong == []


def test_rooms_make_no_circle():
    arrows: dict[str, set[str]] = {}
    for name, others in graph().items():
        if name != FACE:
            arrows.setdefault(room(name), set()).update({room(other) for other in others} - {room(name), FACE})
    graphlib.TopologicalSorter(arrows).prepare()


def test_imports_are_found():
    arrows = graph()
    assert "variational" in arrows[FACE]
    assert "fitting.loop" in arrows["variational.estimator"]
    assert "storage.persistence" in arrows["model.estimator"], "`from stickbreak.storage import persistence`"
    assert sum(map(len, arrows.values())) > 100


def test_import_of_the_package_loads_nothing_heavy(fresh_python):
    code = "import json, sys, stickbreak; print(json.dumps(sorted(sys.modules)))"
    loaded = {name.split(".")[0] for name in json.loads(fresh_python(code).stdout)}
    assert "stickbreak" in loaded
    assert not loaded & {"plotly", "pyarrow", "numba", "sklearn", "scipy", "numpy", "pandas", "rich", "typer"}


def test_fit_loads_no_tool_of_the_report_or_of_the_readers(fresh_python):
    code = (
        "import json, sys, stickbreak\n"
        "corpus, _ = stickbreak.corpus.toy_bars(n_documents=20, seed=0)\n"
        "stickbreak.VariationalHDP(n_topics=3, n_laps=2, init_sweeps=2, random_state=0).fit(corpus).transform(corpus)\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    loaded = json.loads(fresh_python(code).stdout)
    assert "numba" in loaded
    heavy = {"plotly", "typer", "matplotlib", "sklearn.feature_extraction.text"}  # scikit-learn loads others
    assert not heavy & set(loaded)


def test_a_worker_that_counts_loads_no_scikit_learn(fresh_python):
    code = (
        "import json, sys\n"
        "import stickbreak.fitting.cluster, stickbreak.counting.parts\n"
        "from stickbreak.corpus.text import count_blocks\n"
        "from stickbreak.corpus import TextOptions\n"
        "from stickbreak.corpus.reading.blocks import blocks_of_texts\n"
        "count_blocks(blocks_of_texts(['the ship sails']), TextOptions())\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    loaded = json.loads(fresh_python(code).stdout)
    assert "numba" in loaded
    assert not {"sklearn", "scipy.stats", "plotly"} & set(loaded)


@pytest.mark.parametrize(
    "arguments",
    [
        ("fit", "nosuch.csv", "--out", "model"),
        ("fit", "texts", "--out", "model", "--no-such-option"),
        ("fit", "texts", "--out", "model"),
        ("fit", "latin.csv", "--out", "model"),
        ("fit", "table.csv", "--out", "model", "--text", "nosuch"),
        ("fit", "table.csv", "--out", "table.csv"),
        ("topics", "texts"),
        ("ask", "texts", "tree"),  # others load the functions that they ask
        ("transform", "nosuch", "table.csv"),
        ("compare", "texts", "nosuch"),
        ("label", "nosuch"),
        ("count", "nosuch.csv", "--out", "counts"),
    ],
    ids=" ".join,
)
def test_a_command_that_refuses_its_input_loads_nothing_heavy(fresh_python, tmp_path, arguments):
    (tmp_path / "texts").mkdir()
    (tmp_path / "latin.csv").write_bytes("id,text\n1,café\n".encode("latin-1"))
    (tmp_path / "table.csv").write_text("id,text\n1,some words\n")
    code = (
        "import json, os, sys\n"
        "os.chdir(sys.argv.pop(1))\n"
        "from stickbreak.cli import main\n"
        "try:\n    main()\n"
        "except SystemExit as end:\n    print(json.dumps([end.code, sorted(sys.modules)]))"
    )
    code_of_exit, loaded = json.loads(fresh_python(code, tmp_path, *arguments).stdout)
    assert code_of_exit == 2
    assert not {"sklearn", "numba", "plotly", "scipy.stats"} & set(loaded)


def test_all_is_what_the_package_exposes():
    listed = stickbreak.__all__
    assert len(listed) == len(set(listed))
    assert listed == sorted(listed, key=lambda name: (not name.isupper(), name))  # as ruff sorts them
    for name in listed:
        assert getattr(stickbreak, name) is not None
    here = {
        name
        for name, value in vars(stickbreak).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == "stickbreak"
    }
    assert here | set(stickbreak._LAZY) | set(stickbreak._MODULES) == set(listed)
    assert set(listed) <= set(dir(stickbreak))


def is_a_signature(node: ast.AST) -> bool:
    """Whether a function is written for type checkers alone: its body is an ellipsis."""
    return isinstance(node, ast.FunctionDef) and ast.unparse(node.body).strip() == "..."


def public_definitions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.AST]]:
    """Yield classes, functions and methods whose names, and those around them, are public."""
    for node in ast.iter_child_nodes(tree):
        if is_a_signature(node):
            continue
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_"):
            yield prefix + node.name, node
            if isinstance(node, ast.ClassDef):
                yield from public_definitions(node, f"{prefix}{node.name}.")


@pytest.mark.parametrize("name", MODULES)
def test_everything_public_has_a_docstring(name):
    tree = ast.parse(MODULES[name].read_text(encoding="utf-8"))
    missing = [label for label, node in public_definitions(tree) if not ast.get_docstring(node)]
    if not (MODULES[name].name == "__main__.py" or ast.get_docstring(tree)):
        missing.append("the module itself")
    assert missing == []
