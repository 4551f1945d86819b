"""Draw how the model writes documents, as a picture that builds itself up in five seconds, once.

It is an SVG with CSS: no script, and nothing moves for readers who ask their system for less motion. At the end, and
for them from the beginning, it is a diagram of the whole.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

GREY, REST = "#4b5563", "#d1d5db"
WIDTH, LEFT = 520, 10
FULL = WIDTH - 2 * LEFT


@dataclass(frozen=True)
class Topic:
    """A topic of the picture: its colour, weight in the collection, and words with probabilities."""

    colour: str
    weight: float
    words: dict[str, float]


TOPICS = (
    Topic("#0a6e6e", 0.38, {"goal": 0.3, "team": 0.25, "match": 0.2, "coach": 0.1}),
    Topic("#b04a12", 0.27, {"oven": 0.28, "flour": 0.24, "bake": 0.16, "sugar": 0.12}),
    Topic("#3563a8", 0.17, {"train": 0.32, "ticket": 0.2, "station": 0.18, "coach": 0.12}),
    Topic("#6d4fa0", 0.1, {"rain": 0.34, "wind": 0.26, "cloud": 0.14, "storm": 0.1}),
)
DOCUMENTS = (
    ((0.64, 0.0, 0.05, 0.31), "0:team 0:match 3:rain 0:goal 3:wind 0:coach 0:goal 3:rain"),
    ((0.06, 0.78, 0.0, 0.16), "1:flour 1:sugar 1:oven 3:cloud 1:bake 1:flour 1:oven 1:bake"),
    ((0.22, 0.0, 0.68, 0.1), "2:train 2:coach 0:match 2:ticket 2:station 3:rain 2:train 0:team"),
)


def story() -> str:
    """Return the picture as SVG."""
    parts, height = list(_parts()), 508
    style = (
        "text{font-family:system-ui,sans-serif;font-size:13px;fill:#4b5563}"
        ".h{font-weight:600}"
        ".w{font-weight:600;text-anchor:middle}"
        "@media (prefers-reduced-motion:no-preference){"
        ".s{opacity:0;animation:a .35s ease-out forwards;animation-delay:var(--t)}"
        "@keyframes a{from{opacity:0;transform:translateY(-6px)}to{opacity:1;transform:none}}}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">\n'
        f'<style>{style}</style>\n<rect width="{WIDTH}" height="{height}" fill="#fff"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def _parts() -> Iterator[str]:
    yield _heading(20, "1  A stick is broken into the weights of topics", 0.0)
    yield from _stick([topic.weight for topic in TOPICS], 30, 24, 0.1, 0.22)
    yield _heading(88, "2  Each topic is a list of words with probabilities", 1.1)
    for number, topic in enumerate(TOPICS):
        yield from _card(LEFT + number * 127, 98, topic, 1.2 + 0.2 * number)
    yield _heading(224, "3  Each document mixes the topics in its own way", 2.1)
    yield _heading(244, "4  Each word comes from one topic of its document", 3.0)
    for number, (weights, words) in enumerate(DOCUMENTS):
        top = 262 + number * 82
        yield _step(2.2 + 0.2 * number, f'<text x="{LEFT}" y="{top + 8}">document {number + 1}</text>')
        yield from _stick(weights, top + 14, 14, 2.3 + 0.2 * number, 0.0)
        for place, word in enumerate(words.split()):
            topic, _, name = word.partition(":")
            x, late = LEFT + (place + 0.5) * FULL / 8, 3.1 + 0.19 * place
            colour = TOPICS[int(topic)].colour
            yield _step(late, f'<text class="w" x="{x:.0f}" y="{top + 46}" style="fill:{colour}">{name}</text>')


def _stick(weights: Sequence[float], y: float, height: float, begin: float, gap: float) -> Iterator[str]:
    """Draw a stick from its left end; what is left over is grey."""
    left = float(LEFT)
    for number, weight in enumerate([*weights, 1.0 - sum(weights)]):
        colour = TOPICS[number].colour if number < len(TOPICS) else REST
        width = weight * FULL
        if width > 0.5:
            yield _step(
                begin + gap * number,
                f'<rect x="{left:.1f}" y="{y}" width="{width - 2:.1f}" height="{height}" rx="3" fill="{colour}"/>',
            )
        left += width


def _card(x: float, y: float, topic: Topic, begin: float) -> Iterator[str]:
    """Draw the words of a topic, with a bar for the probability of each."""
    rows = [f'<rect x="{x}" y="{y}" width="119" height="4" fill="{topic.colour}"/>']
    for row, (word, probability) in enumerate(topic.words.items()):
        middle = y + 22 + 22 * row
        rows.append(f'<text x="{x}" y="{middle}">{word}</text>')
        rows.append(
            f'<rect x="{x + 58}" y="{middle - 9}" width="{probability * 170:.1f}" height="9" fill="{topic.colour}"/>'
        )
    yield _step(begin, "".join(rows))


def _heading(y: float, text: str, begin: float) -> str:
    return _step(begin, f'<text class="h" x="{LEFT}" y="{y}">{text}</text>')


def _step(begin: float, content: str) -> str:
    """Wrap what appears at a time, in seconds."""
    return f'<g class="s" style="--t:{begin:.2f}s">{content}</g>'
