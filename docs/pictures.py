"""Draw the pictures of concepts and gallery: `python docs/pictures.py [NAME ...]`, with Matplotlib; about two minutes.

Every picture is an SVG file on a white ground, so that it reads in light and in dark colours. Fits have fixed seeds.
"""

import contextlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from animation import story
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse, Rectangle
from sklearn.datasets import load_digits

import stickbreak
from stickbreak.corpus import TextOptions, count_texts, planted_gaussians, planted_lda, toy_bars
from stickbreak.corpus.examples.standard_library import english_and, standard_library_docstrings

DOCS = Path(__file__).parent
TEAL, ORANGE, BLUE, GREY = "#0a6e6e", "#c2571a", "#3b6fb6", "#4b5563"
TOPICS = ("#0a6e6e", "#e0a030", "#3b6fb6", "#c2571a", "#8a6fb0", "#7aa35a")
STYLE = {
    "font.size": 10,
    "text.color": GREY,
    "axes.labelcolor": GREY,
    "axes.edgecolor": "#9ca3af",
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "legend.frameon": False,
    "svg.hashsalt": "stickbreak",
}


def stick() -> Figure:
    """Draw sticks that are broken with a small and a large gamma."""
    figure, places = plt.subplots(1, 2, figsize=(8, 2), layout="constrained")
    draw = np.random.default_rng(1)
    for place, gamma in zip(places, (1.0, 10.0), strict=True):
        for row in range(3):
            broken = draw.beta(1.0, gamma, size=200)
            weights = broken * np.cumprod(np.r_[1.0, 1.0 - broken[:-1]])
            _bar(place, row, weights[:100], TOPICS)
        place.set_title(f"γ = {gamma:g}")
        _stick_axes(place, {"first draw": 0, "second": 1, "third": 2} if gamma == 1.0 else {})
    return figure


def documents() -> Figure:
    """Draw topic weights of documents near those of the collection and far from them."""
    figure, places = plt.subplots(1, 2, figsize=(8, 2.6), layout="constrained")
    draw = np.random.default_rng(4)
    collection = np.array([0.3, 0.22, 0.18, 0.14, 0.1, 0.06])
    for place, alpha in zip(places, (1.0, 30.0), strict=True):
        _bar(place, 0, collection, TOPICS)
        for row in range(1, 5):
            _bar(place, row + 0.4, draw.dirichlet(alpha * collection), TOPICS)
        place.set_title(f"α = {alpha:g}")
        rows = {"collection": 0.0, **{f"document {d}": d + 0.4 for d in range(1, 5)}}
        _stick_axes(place, rows if alpha == 1.0 else {})
    return figure


def words() -> Figure:
    """Draw ten topics that are bars of pixels, and documents that mix a few of them."""
    figure, places = plt.subplots(2, 10, figsize=(8, 2.1), layout="constrained")
    topics = np.zeros((10, 5, 5))
    for bar in range(5):
        topics[bar, bar, :] = topics[5 + bar, :, bar] = 0.2
    draw = np.random.default_rng(2)
    for place, topic in zip(places[0], topics, strict=True):
        place.imshow(topic, cmap="GnBu", vmin=0, vmax=0.25)
    for place in places[1]:
        chosen = draw.choice(10, size=draw.integers(1, 4), replace=False)
        weights = draw.dirichlet(np.ones(len(chosen)))
        counts = draw.multinomial(200, np.tensordot(weights, topics[chosen], 1).ravel()).reshape(5, 5)
        place.imshow(counts, cmap="GnBu", vmin=0, vmax=40)
    for place in places.ravel():
        place.set(xticks=[], yticks=[])
        place.spines[:].set_visible(True)
    places[0, 0].set_title("topics")
    places[1, 0].set_title("documents")
    return figure


def topics() -> Figure:
    """Draw the trace of the default on bars."""
    corpus, _ = toy_bars(400, seed=0)
    model = stickbreak.TopicModel(random_state=0).fit(corpus)
    return _trace(model, "log-likelihood, nats per token")


def variational() -> Figure:
    """Draw the trace of variational inference on bars, from a random start."""
    corpus, _ = toy_bars(400, seed=0)
    model = stickbreak.VariationalHDP(n_topics=40, init="documents", n_laps=40, random_state=0).fit(corpus)
    return _trace(model, "objective, nats per token")


def gibbs() -> Figure:
    """Draw the number of topics in chains with different starts."""
    corpus, _ = planted_lda(200, n_words=200, n_topics=10, seed=0)
    figure, place = plt.subplots(figsize=(8, 2.6), layout="constrained")
    for start, colour in ((1, TEAL), (20, ORANGE), (40, BLUE)):
        model = stickbreak.GibbsHDP(n_topics=start, init="random", n_laps=200, learn=(), random_state=start).fit(corpus)
        place.plot(model.trace_["n_topics"], color=colour, label=f"start with {start}", linewidth=1.2)
    place.set(xlabel="pass", ylabel="topics", ylim=(0, None))
    place.legend(ncols=3)
    return figure


def hybrid() -> Figure:
    """Draw the held-out score of a stream."""
    corpus, _ = planted_lda(2200, n_words=500, n_topics=20, seed=0)
    stream, held_out = corpus[:2000], corpus[2000:]
    model = stickbreak.HybridHDP(n_topics=30, total_documents=2000, random_state=0)
    seen, scores = [], []
    for begin in range(0, 2000, 100):
        model.partial_fit(stream[begin : begin + 100])
        seen.append(begin + 100)
        scores.append(model.score(held_out))
    figure, place = plt.subplots(figsize=(8, 2.4), layout="constrained")
    place.plot(seen, scores, color=TEAL, marker="o", markersize=4)
    place.set(xlabel="documents seen", ylabel="nats per token", title="held-out log-likelihood per token")
    return figure


def tree() -> Figure:
    """Draw the nodes of a fitted tree, as wide as their shares."""
    corpus, _ = planted_lda(400, n_words=300, n_topics=12, seed=0)
    model = stickbreak.BackoffTreeTopics(branching=(3, 2, 3), n_laps=30, random_state=0).fit(corpus)
    figure, place = plt.subplots(figsize=(8, 2.2), layout="constrained")
    lefts: dict[tuple[int, ...], float] = {(): 0.0}
    for node in model.tree_.walk(depth=3):
        path = tuple(node.path)
        left = lefts[path]
        place.add_patch(
            Rectangle((left, -len(path)), node.share, 0.9, facecolor=_of_branch(path), edgecolor="white", linewidth=1.5)
        )
        for child in node.children:
            lefts[tuple(child.path)] = left
            left += child.share
    place.set(xlim=(0, 1), ylim=(-3.1, 1), xticks=[], xlabel="share of the tokens")
    place.set_yticks([0.45, -0.55, -1.55, -2.55], ["root", "level 1", "level 2", "leaves: topics"])
    place.spines[:].set_visible(False)
    place.tick_params(length=0)
    return figure


def gaussian() -> Figure:
    """Draw points and the components that were found."""
    groups, _ = planted_gaussians(n_groups=30, n_vectors=40, n_components=4, seed=0)
    model = stickbreak.GaussianHDP(n_components=20, likelihood="full", random_state=0).fit(groups)
    figure, place = plt.subplots(figsize=(6, 3.2), layout="constrained")
    place.scatter(*groups.values.T, s=4, color="#9ca3af", linewidths=0)
    for mean, covariance in zip(model.means_, model.covariances_, strict=True):
        sizes, directions = np.linalg.eigh(covariance)
        angle = np.degrees(np.arctan2(directions[1, 1], directions[0, 1]))
        width, height = 4.0 * np.sqrt(sizes[::-1])
        place.add_patch(Ellipse(mean, width, height, angle=angle, fill=False, edgecolor=ORANGE, linewidth=2))
    place.set(xlabel="first coordinate", ylabel="second coordinate", aspect="equal")
    return figure


def standard_library() -> Figure:
    """Draw packages of the standard library against topics of their documentation."""
    names, texts = standard_library_docstrings()
    names, texts = names[::2], texts[::2]
    common = (
        "return returns returned value argument arguments object method class function given used use using default"
    )
    corpus = count_texts(texts, TextOptions(stop_words=english_and(common.split())), names)
    model = stickbreak.TopicModel(random_state=0).fit(corpus)
    weights, package = model.transform(corpus), np.array([name.split(".")[0] for name in names])
    chosen = (
        "turtle ipaddress typing doctest logging threading xml asyncio email http smtplib urllib tarfile shutil".split()
    )
    means = np.array([weights[package == name].mean(axis=0) for name in chosen])
    topics = list(dict.fromkeys(k for row in means for k in row.argsort()[::-1][:1]))
    figure, place = plt.subplots(figsize=(8, 5), layout="constrained")
    shown = place.imshow(means[:, topics], cmap="GnBu", vmin=0, vmax=0.5, aspect="auto")
    words = [" ".join(words) for words in model.top_words(3)]
    place.set_xticks(range(len(topics)), [words[k] for k in topics], rotation=40, ha="right")
    place.set_yticks(range(len(chosen)), chosen)
    place.spines[:].set_visible(False)
    place.tick_params(length=0)
    figure.colorbar(shown, label="weight of the topic", shrink=0.6)
    return figure


def digits() -> Figure:
    """Draw topics of images of digits, and some of the images."""
    images = load_digits()
    model = stickbreak.TopicModel(n_topics=24, random_state=0).fit(images.data.astype(int))
    figure, places = plt.subplots(4, 8, figsize=(8, 4.2), layout="constrained")
    shown = [*model.topic_word_[:16], *images.data[:16]]
    for place, pixels in zip(places.ravel(), shown, strict=True):
        place.imshow(pixels.reshape(8, 8), cmap="GnBu")
        place.set(xticks=[], yticks=[])
        place.spines[:].set_visible(True)
    places[0, 0].set_title("topics")
    places[2, 0].set_title("images")
    return figure


def baskets() -> Figure:
    """Draw the products of topics, with quantities and without."""
    page = _run_page("gallery/baskets.md")
    models = {"how many": page["models"]["quantities"], "each product once": page["models"]["products"]}
    products = list(dict.fromkeys(name for names in page["OCCASIONS"].values() for name in names.split()))
    products += [name for name in page["STAPLES"] if name not in products]
    columns = [list(page["bought"].columns).index(name) for name in products]
    sizes = [model.n_topics_ for model in models.values()]
    figure, places = plt.subplots(2, 1, figsize=(8, 4.6), height_ratios=sizes, sharex=True, layout="constrained")
    for place, (name, model) in zip(places, models.items(), strict=True):
        topics = model.topic_word_[:, columns]
        rows = np.argsort(topics.argmax(axis=1), kind="stable")
        place.imshow(topics[rows], cmap="GnBu", vmin=0, vmax=0.25, aspect="auto")
        place.set(title=f"{name}: {model.n_topics_} topics", yticks=[])
        place.spines[:].set_visible(False)
    places[-1].set_xticks(range(len(products)), products, rotation=90, fontsize=8)
    return figure


def new_subject() -> Figure:
    """Draw the score of each minibatch of a stream into which a new subject comes."""
    page = _run_page("gallery/new-subject.md")
    figure, place = plt.subplots(figsize=(8, 2.6), layout="constrained")
    numbers = range(1, len(page["scores"]) + 1)
    place.plot(numbers, page["scores"], color=TEAL, marker="o", markersize=4)
    shares = [page["is_new"][batch].mean() for batch in page["batches"][1:]]
    for number, share in zip(numbers, shares, strict=True):
        if share:
            place.axvspan(number - 0.5, number + 0.5, color=TOPICS[1], alpha=0.25, linewidth=0)
    for number in page["alarms"]:
        place.annotate("alarm", (number, page["scores"][number - 1]), (8, -3), textcoords="offset points", color=ORANGE)
    place.set(xlabel="minibatch (shaded: with turtle)", ylabel="nats per token", title="score before learning")
    return figure


def _run_page(name: str) -> dict[str, Any]:
    """Run the blocks of a page in an empty folder and return the names that they define."""
    names: dict[str, Any] = {}
    text = (DOCS / name).read_text(encoding="utf-8")
    blocks = re.findall(r"^```(python|sh)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for language, block in blocks:
            if language == "python":
                exec(compile(block, name, "exec"), names)
            else:
                subprocess.run(block, shell=True, check=True)
    return names


def _bar(place: Axes, row: float, weights: np.ndarray, colours: tuple[str, ...]) -> None:
    """Draw a stick that is broken into weights."""
    left = 0.0
    for number, weight in enumerate(weights):
        colour = colours[number % len(colours)]
        place.barh(row, weight, 0.7, left=left, color=colour, edgecolor="white", linewidth=0.6 if weight > 0.01 else 0)
        left += weight


def _stick_axes(place: Axes, rows: dict[str, float]) -> None:
    """Name the rows of a picture of sticks."""
    place.set(xlim=(0, 1), xticks=[0, 0.5, 1])
    place.invert_yaxis()
    place.set_yticks(list(rows.values()), list(rows))
    place.spines[:].set_visible(False)
    place.tick_params(length=0)


def _trace(model: "stickbreak.TopicModel | stickbreak.VariationalHDP", name: str) -> Figure:
    """Draw objective and number of topics after each pass."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 2.6), layout="constrained")
    left.plot(model.trace_["lap"], model.trace_["objective"], color=TEAL)
    left.set(xlabel="pass", title=name)
    right.step(model.trace_["lap"], model.trace_["n_topics"], where="post", color=ORANGE)
    right.axhline(10, color="#9ca3af", linestyle=":", linewidth=1)
    right.annotate("true number: 10", (1, 10), xytext=(0, -12), textcoords="offset points", fontsize=9)
    right.set(xlabel="pass", title="topics", ylim=(0, None))
    for place in (left, right):
        place.xaxis.get_major_locator().set_params(integer=True)
    return figure


def _of_branch(path: tuple[int, ...]) -> tuple[float, ...]:
    """Return the colour of a node: that of its branch, lighter further down."""
    if not path:
        return mpl.colors.to_rgb("#9ca3af")
    base = np.array(mpl.colors.to_rgb((TEAL, ORANGE, BLUE)[path[0] % 3]))
    return tuple(1.0 - (1.0 - base) * (1.0 - 0.2 * (len(path) - 1)))


PICTURES: dict[str, Callable[[], Figure | str]] = {
    "concepts/hdp-story.svg": story,
    "concepts/hdp-stick.svg": stick,
    "concepts/hdp-documents.svg": documents,
    "concepts/hdp-words.svg": words,
    "method-topics.svg": topics,
    "method-variational.svg": variational,
    "method-gibbs.svg": gibbs,
    "method-hybrid.svg": hybrid,
    "method-tree.svg": tree,
    "method-gaussian.svg": gaussian,
    "gallery/standard-library.svg": standard_library,
    "gallery/digits.svg": digits,
    "gallery/baskets.svg": baskets,
    "gallery/new-subject.svg": new_subject,
}

if __name__ == "__main__":
    mpl.rcParams.update(STYLE)
    for name in sys.argv[1:] or PICTURES:
        drawn = PICTURES[name]()
        if isinstance(drawn, str):
            (DOCS / name).write_text(drawn, encoding="utf-8")
        else:
            drawn.savefig(DOCS / name, metadata={"Date": None})
            plt.close(drawn)
