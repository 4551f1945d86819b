// The page of a topic: words by relevance, share over time and by class, examples, neighbours, what it was joined with.
"use strict";
function topicPages(data, tools) {
  const { el, svg, whole, fixed, percent, plural, word, bar, term, byRelevance, topicLink } = tools;
  const { documents, grouped, tree, path } = tools;
  const { topics } = data;
  const SHOWN_WORDS = 20;
  const RELEVANCE = 0.6; // the order of words everywhere: Sievert and Shirley (2014) found it best for readers
  let weight = RELEVANCE; // of the probability against the lift

  function wordList(entries) {
    const list = el("ol", { class: "words" }),
      top = Math.max(...entries.map((entry) => entry.probability)) || 1;
    for (const entry of entries)
      list.append(
        el(
          "li",
          {},
          word(entry.word),
          bar(entry.probability / top),
          el("span", { class: "p" }, percent(entry.probability)),
        ),
      );
    return list;
  }
  function wordsHeading(entries) {
    const byProbability = entries.every((entry, i) => i === 0 || entry.probability <= entries[i - 1].probability);
    return el("h3", {}, `Words${byProbability ? "" : ", the most relevant first,"} and their probability; bars are compared with the largest`);
  }
  function wordPanel(topic) {
    const all = [...topic.words, ...topic.more_words],
      holder = el("div"),
      panel = el("div", {}, wordsHeading(topic.words.slice(0, SHOWN_WORDS)));
    const show = () => {
      const ranked = weight === RELEVANCE ? topic.words : byRelevance(topic, weight);
      holder.replaceChildren(wordList(ranked.slice(0, SHOWN_WORDS)));
    };
    if (data.tree === null) {
      const slider = el("input", {
        type: "range",
        min: 0,
        max: 1,
        step: 0.1,
        "aria-label": "Relevance: from words of this topic only, 0, to its most frequent words, 1",
      });
      const value = el("output"),
        tell = () => {
          value.textContent = `λ ${fixed(weight, 1)}`;
        };
      slider.value = weight;
      slider.addEventListener("input", () => {
        weight = Number(slider.value);
        tell();
        show();
      });
      tell();
      panel.append(
        el("div", { class: "relevance" }, el("span", {}, "only here"), slider, el("span", {}, "frequent"), value),
      );
    }
    show();
    panel.append(
      holder,
      csvButton(() => [
        ["word", "probability", "lift"],
        ...all.map((entry) => [entry.word, entry.probability, entry.lift]),
      ]),
    );
    return panel;
  }
  function histogram(topic) {
    const counts = topic.histogram.slice(1),
      top = Math.max(...counts, 1),
      height = 84,
      step = 100 / counts.length;
    const picture = svg("svg", {
      viewBox: `0 0 100 ${height}`,
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": `At least 5% of ${whole(topic.n_present)} of ${plural(data.corpus.n_described, "document")}`,
    });
    counts.forEach((n, i) => {
      const tall = n ? Math.max(1.5, ((height - 3) * n) / top) : 0;
      picture.append(
        svg("rect", { class: "column", x: i * step + 0.3, width: step - 0.6, y: height - 1 - tall, height: tall }),
      );
    });
    picture.append(svg("line", { class: "baseline", x1: 0, x2: 100, y1: height - 0.5, y2: height - 0.5 }));
    const axis = el(
      "div",
      { class: "axis", "aria-hidden": "true" },
      ...["5%", `of ${plural(topic.n_present, "document")}`, "100%"].map((label) => el("span", {}, label)),
    );
    return el("div", { class: "histogram" }, el("h3", {}, "Its share within documents"), picture, axis);
  }
  function chips(title, found) {
    if (!found.length) return null;
    return el(
      "div",
      {},
      el("h3", {}, title),
      el("ul", { class: "similar" }, ...found.map((node) => el("li", {}, node))),
    );
  }
  function page(topic) {
    const order = [...topics].sort((a, b) => b.token_share - a.token_share || a.index - b.index),
      at = order.indexOf(topic);
    const step = (other, text) =>
      other ? el("a", { href: `#topic-${other.number}`, class: "step" }, text) : el("span", { class: "step" });
    const numbers = el(
      "dl",
      { class: "numbers" },
      term("Share", percent(topic.token_share)),
      term("Documents with 5% or more", whole(topic.n_present)),
      term("Documents where it is largest", whole(topic.n_largest)),
      topic.coherence === null ? null : term("Coherence (NPMI)", fixed(topic.coherence, 2)),
      topic.exclusivity === null ? null : term("Exclusivity", fixed(topic.exclusivity, 2)),
      topic.found === null ? null : term("Found in other fits", percent(topic.found)),
    );
    const examples = el(
      "ol",
      { class: "documents" },
      ...topic.documents.map(([place, share]) => documents.item(data.documents[place], share, topic.index)),
    );
    const exampleRows = () => [
      ["row", "name", "tokens", "weight", ...data.columns],
      ...topic.documents.map(([place, share]) => {
        const one = data.documents[place];
        return [one.row, one.name, one.n_tokens, share, ...one.values];
      }),
    ];
    return [
      el("div", { class: "steps" }, step(order[at - 1], "← larger topic"), step(order[at + 1], "smaller topic →")),
      el(
        "h2",
        { id: "page-heading", tabindex: -1 },
        el("span", { class: "number" }, `#${topic.number} `),
        word(topic.label),
      ),
      numbers,
      el(
        "div",
        { class: "detail" },
        el(
          "div",
          { class: "stack" },
          wordPanel(topic),
          chips(
            "Topics with similar words",
            topic.similar.map((k) => topicLink(topics[k])),
          ),
          path === null ? null : chips("Topics that it joins with, the nearest first", path.joinsOf(topic)),
          tree === null ? null : tree.placeOf(topic.number),
        ),
        el(
          "div",
          { class: "stack" },
          ...grouped.ofTopic(topic.index),
          histogram(topic),
          topic.documents.length
            ? el(
                "div",
                {},
                el("h3", {}, "Documents with most of it; where shares are similar, the longer document comes first"),
                examples,
                csvButton(exampleRows),
              )
            : null,
        ),
      ),
    ];
  }
  return { page, headedWords: ({ words }) => el("div", {}, wordsHeading(words), wordList(words)) };
}
