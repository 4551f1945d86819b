import csv
import json
import re

import pytest

import stickbreak

LINE = re.compile(r"^([│ ├└─]*)(all|[\d.]+)  ([\d.]+)%  ([\d,]+) words?  (topic )?(\d+)( topics?)?  (.*)$")
REST = re.compile(r"^([│ ├└─]*)and (\d+) more nodes?  ([\d.]+)%  ([\d,]+) words?$")


@pytest.fixture(scope="module")
def root(tree_model):
    return stickbreak.load(tree_model).tree_


def largest(node):
    return sorted(node.children, key=lambda child: -child.n_tokens)


def by_path(root, path):
    return root.descend(() if path == "all" else tuple(map(int, path.split("."))))


def test_every_line_is_a_node_with_its_numbers_and_words(run, tree_model, root):
    lines = run("ask", tree_model, "tree", "--depth", "3", "--children", "9", "--words", "3").stdout.splitlines()
    assert len(lines) == len(list(root.walk()))
    for line in lines:
        indent, path, share, tokens, topic, number, _, words = LINE.fullmatch(line).groups()
        node = by_path(root, path)
        assert len(indent) == 4 * node.level
        assert float(share) == pytest.approx(100 * node.share, abs=0.051)
        assert int(tokens.replace(",", "")) == node.n_tokens
        assert int(number) == (node.index if topic else node.n_topics)
        assert bool(topic) == node.is_leaf
        assert words.split() == node.top_words(3)


def test_largest_children_are_shown_and_the_others_counted(run, tree_model, root):
    first, *lines = run("ask", tree_model, "tree", "--depth", "1", "--children", "2").stdout.splitlines()
    assert LINE.fullmatch(first)[2] == "all"
    shown = largest(root)[:2]
    assert [LINE.fullmatch(line)[2] for line in lines[:2]] == [".".join(map(str, node.path)) for node in shown]
    _, number, share, tokens = REST.fullmatch(lines[2]).groups()
    rest = largest(root)[2:]
    assert (int(number), int(tokens)) == (len(rest), sum(node.n_tokens for node in rest))
    assert float(share) == pytest.approx(100 * sum(node.share for node in rest), abs=0.051)
    assert len(lines) == 3


def test_tree_begins_at_a_node(run, tree_model, root):
    node = largest(root)[0].children[0]
    path = ".".join(map(str, node.path))
    lines = run("ask", tree_model, "tree", "--node", path, "--depth", "1", "--children", "9").stdout.splitlines()
    assert LINE.fullmatch(lines[0])[2] == path
    assert {LINE.fullmatch(line)[2] for line in lines[1:]} == {f"{path}.{leaf.path[-1]}" for leaf in node.children}


def asked(run, *arguments):
    found = json.loads(run("ask", *arguments, "--json").stdout)
    return found, found["rows"]


def test_way_to_a_topic_is_printed(run, tree_model, root):
    topic = int(root.leaves[-1])
    _, rows = asked(run, tree_model, "tree", "--leaf", topic)
    for level, row in enumerate(rows):
        node = root.leaf(topic).ancestor(level)
        assert row["path"] == (".".join(map(str, node.path)) or "all")
        rest = [child for child in node.children if topic not in child.leaves]
        assert row["nodes_left_out"] == len(rest)
        assert row["tokens_left_out"] == sum(child.n_tokens for child in rest)
    assert [row["topic"] for row in rows] == [None, None, None, topic]


def test_json_and_csv_have_the_nodes_that_are_printed(run, tree_model, root):
    options = ("tree", "--depth", "2", "--children", "2", "--words", "4")
    found, rows = asked(run, tree_model, *options)
    assert (found["n_topics"], found["branching"]) == (root.n_topics, [3, 2, 4])
    top = rows[0]
    assert (top["path"], top["topic"], top["name"]) == ("all", None, None)
    assert (top["n_topics"], top["n_tokens"], top["share"]) == (root.n_topics, root.n_tokens, 1)
    assert top["words"].split() == root.top_words(4)
    assert [row["path"] for row in rows if row["path"].isdecimal()] == [str(node.path[0]) for node in largest(root)[:2]]
    assert top["tokens_left_out"] == sum(node.n_tokens for node in largest(root)[2:])
    written = list(csv.DictReader(run("ask", tree_model, *options, "--csv").stdout.splitlines()))
    assert [row["path"] for row in written] == [row["path"] for row in rows]


def test_words_are_no_markup_and_steer_no_terminal(run, documents, tmp_path):
    nasty = tmp_path / "nasty.jsonl"
    nasty.write_text(
        "".join(json.dumps({"text": f"[red]evil[/red] esc\x1b[31m word{i % 7}"}) + "\n" for i in range(60))
    )
    options = [
        "--set",
        r"token_pattern=\S+",
        "--max-df",
        "1.0",
        "--method",
        "tree",
        "--set",
        "branching=2,2",
        "--laps",
        "2",
    ]
    run("fit", nasty, "--out", tmp_path / "m", *options, "--no-report", "--quiet")
    printed = run("ask", tmp_path / "m", "tree").stdout
    assert "[red]evil[/red]" in printed
    assert "\x1b" not in printed
    assert "\ufffd[31m" in printed
