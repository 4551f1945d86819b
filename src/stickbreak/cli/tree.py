"""`stickbreak tree`."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stickbreak.cli.models import load_model
from stickbreak.cli.options import Json, ModelPath
from stickbreak.cli.output import print_json, printable, words_as_json
from stickbreak.exceptions import InputError

if TYPE_CHECKING:
    from rich.tree import Tree

    from stickbreak.backoff_tree import TopicNode

_UNFOLDED = 100_000  # columns, where the output is no terminal: a node is one line


def tree(
    model: ModelPath,
    depth: Annotated[int, typer.Option("--depth", "-d", min=0, help="Levels to print below the node.")] = 2,
    children: Annotated[
        int, typer.Option("--children", "-c", min=1, help="Most children to print of a node, the largest first.")
    ] = 6,
    words: Annotated[int, typer.Option("--words", "-n", min=1, help="Words of each node.")] = 8,
    node: Annotated[
        str | None,
        typer.Option(
            "--node",
            metavar="PATH",
            help="Start at this node, by its path as printed (2.0.5).",
        ),
    ] = None,
    leaf: Annotated[
        int | None,
        typer.Option("--leaf", metavar="TOPIC", help="Print only the path from the root to this topic."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Print the tree of topics of a model that has one: each node with its share, number of words and top words.

    Methods with a tree: tree, nested-crp, nested-hdp, pachinko and hierarchical-pachinko.
    """
    if node is not None and leaf is not None:
        raise InputError("--node and --leaf contradict each other; give one of them")
    fitted, _ = load_model(model)
    root = _root(fitted, model)
    if leaf is not None:
        shown = _way(root.leaf(leaf), words)
    else:
        shown = _branch(root if node is None else root.descend(_path(node)), depth, children, words)
    if as_json:
        print_json({"n_topics": root.n_topics, "branching": list(root.branching) or None, "tree": shown.as_json()})
        return
    from rich.console import Console

    terminal = sys.stdout.isatty()
    Console(width=None if terminal else _UNFOLDED, highlight=False).print(shown.drawn(None))


@dataclass(frozen=True, slots=True)
class _Branch:
    """A node as it is shown, with the children that are shown."""

    node: "TopicNode"
    words: list[tuple[str, float]]
    children: "list[_Branch]"
    n_left_out: int  # children that are not shown
    tokens_left_out: int

    @property
    def share_left_out(self) -> float:
        """Their share of all tokens."""
        return self.node.share * self.tokens_left_out / (self.node.n_tokens or 1)  # a leaf of pseudo-tokens

    def drawn(self, above: "Tree | None") -> "Tree":
        """Return the branch as a picture of lines, hung up below another one."""
        from rich.text import Text
        from rich.tree import Tree

        node = self.node
        what = _counted(node.n_topics, "topic") if node.topic is None else f"topic {node.topic}"
        if node.topic is not None and node.n_topics > 1:
            what += f" and {node.n_topics - 1:,} below"
        label = Text.assemble(
            (_name(node), "bold"),
            f"  {node.share:.1%}  {_counted(node.n_tokens, 'word')}  {what}  ",
            " ".join(printable(word) for word, _ in self.words),
        )
        here = Tree(label) if above is None else above.add(label)
        for branch in self.children:
            branch.drawn(here)
        if self.n_left_out:
            more = f"and {_counted(self.n_left_out, 'more node')}  "
            here.add(Text(more + f"{self.share_left_out:.1%}  {_counted(self.tokens_left_out, 'word')}", "dim"))
        return here

    def as_json(self) -> dict[str, Any]:
        """Return the branch for `print_json`."""
        node = self.node
        return {
            "path": list(node.path),
            "name": node.name,
            "level": node.level,
            "topic": node.topic,
            **node.place,
            "n_topics": node.n_topics,
            "n_tokens": node.n_tokens,
            "share": node.share,
            "words": words_as_json(self.words),
            "children": [branch.as_json() for branch in self.children],
            "left_out": {
                "n_nodes": self.n_left_out,
                "n_tokens": self.tokens_left_out,
                "share": self.share_left_out,
            },
        }


def _branch(node: "TopicNode", depth: int, most: int, n_words: int) -> _Branch:
    """Show a node and the largest of its children, down to a depth."""
    found: list[Any] = sorted(node.children, key=lambda child: -child.n_tokens)
    shown = found[:most] if depth else []
    return _Branch(
        node,
        node.words(n_words),
        [_branch(child, depth - 1, most, n_words) for child in shown],
        len(found) - len(shown) if depth else 0,
        sum(child.n_tokens for child in found[len(shown) :]) if depth else 0,
    )


def _way(leaf: "TopicNode", n_words: int) -> _Branch:
    """Show the nodes above a leaf, each with the one child that leads there."""
    branch = _Branch(leaf, leaf.words(n_words), [], 0, 0)
    for level in reversed(range(leaf.level)):
        node, below = leaf.ancestor(level), branch.node
        branch = _Branch(node, node.words(n_words), [branch], len(node.children) - 1, node.n_tokens - below.n_tokens)
    return branch


def _root(fitted: Any, folder: Path) -> "TopicNode":
    """Return the root of a model, and refuse another model."""
    root: TopicNode | None = fitted.tree_
    if root is None:
        raise InputError(
            f"{folder} is a {type(fitted).__name__}, whose topics do not form a tree; print them with "
            "stickbreak topics, or fit a tree with --method tree"
        )
    return root


def _path(text: str) -> tuple[int, ...]:
    """Read 2.0.5 as a way down the tree."""
    parts = text.split(".")
    if not all(part.isdecimal() for part in parts):
        raise InputError(f"--node is {text!r}; give the path of a node as it is printed, 2.0.5 for example")
    return tuple(map(int, parts))


def _name(node: "TopicNode") -> str:
    path = ".".join(map(str, node.path)) or "all"
    return path if node.name is None else f"{path} {printable(node.name)}"


def _counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
