// Draws the report. Words and names come from documents that nobody has checked: they are only ever set as text
// (textContent, setAttribute on harmless attributes), never as markup.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("report-data").textContent);
  const topics = data.topics; // of a tree only the largest
  const byNumber = new Map(topics.map((topic) => [topic.number, topic]));
  const nTopics = data.tree === null ? topics.length : data.tree.n_topics;
  const { byId, el, svg, whole, fixed, plural, percent, word, bar, term, capital, duration, textAt, textWidth } = pageTools();
  const fit = fitSection(data.fit, { unit: "token", column: "n_topics", noun: "topics", over: "the documents" });
  const PAGE = 30;
  const gist = (topic, n) => topic.words.slice(0, n).map((entry) => entry.word).join(", ");

  // ------------------------------------------------------------------------------------------------ the headline
  function drawHeadline() {
    const corpus = data.corpus;
    byId("lead").append(
      el("strong", {}, plural(nTopics, "topic")), `${data.tree === null ? "" : `, the leaves of a tree of ${plural(data.tree.branching.length, "level")},`} in ${plural(corpus.n_documents, "document")} with ${plural(corpus.n_tokens, "word")}, ${whole(corpus.n_words)} of them different.`,
      fit.ended,
    );
    const facts = byId("facts");
    const add = (name, value, unit) => facts.append(el("div", {}, el("dt", {}, name), el("dd", {}, el("span", { class: "value" }, value), el("span", { class: "unit" }, unit))));
    if (data.held_out !== null) {
      if (data.held_out.unigram !== null) {
        const times = Math.exp(data.held_out.active - data.held_out.unigram);
        add("Held-out words", `${fixed(times, times < 1.05 ? 2 : times < 99.95 ? 1 : 0)} ×`, times < 1.05 ? "as well guessed as by frequency" : "better guessed than by frequency");
      }
      add("Held-out score", fixed(data.held_out.active), "nats per token, closer to 0 is better");
      add("Perplexity", whole(data.held_out.perplexity), "equally probable words to choose among");
    }
    if (data.fit.objective !== null) add("Objective", fixed(data.fit.objective), data.fit.objective_name === "objective" ? "nats per token" : `nats per token, ${data.fit.objective_name}`);
    if (data.mean_coherence !== null) add("Mean coherence", fixed(data.mean_coherence, 1), data.tree === null ? "of the top 10 words, 0 is best" : "of these topics, 0 is best");
    if (data.fit.n_laps !== null) add("Passes", whole(data.fit.n_laps), data.fit.seconds === null ? "over the documents" : `over the documents in ${duration(data.fit.seconds)}`);
  }

  // ------------------------------------------------------------------------------------------------ stick and map
  const tip = byId("tip");
  function showTip(text, x, y) {
    tip.textContent = text;
    tip.hidden = false;
    tip.style.left = `${Math.max(8, Math.min(x + 14, innerWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${y + 18 + tip.offsetHeight > innerHeight ? y - 12 - tip.offsetHeight : y + 18}px`;
  }
  const hideTip = () => { tip.hidden = true; };
  function withTip(node, topic) {
    node.addEventListener("pointermove", (event) => {
      if (event.pointerType === "touch") return;
      showTip(`#${topic.number} · ${percent(topic.token_share)} of the tokens · ${gist(topic, 7)}`, event.clientX, event.clientY);
    });
    node.addEventListener("pointerleave", hideTip);
    node.addEventListener("click", () => { hideTip(); openTopic(topic.index); });
    return node;
  }

  function drawStick() {
    if (data.tree !== null) { byId("stick-figure").hidden = true; return; } // the tree has a picture of its own
    const holder = byId("stick"), width = holder.clientWidth, height = 56, broken = [...topics].sort((a, b) => b.token_share - a.token_share);
    const total = topics.reduce((sum, topic) => sum + topic.token_share, 0);
    const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Shares of tokens of ${topics.length} topics, from ${percent(broken[0].token_share)} down; the list below has them all` });
    let x = 0;
    broken.forEach((topic, i) => {
      const length = (topic.token_share / total) * width, gap = length > 4 ? 1.5 : 0, shade = i % 2 ? "b" : "a";
      picture.append(withTip(svg("rect", { x, y: 0, width: Math.max(0, length - gap), height, rx: Math.min(3, length / 4), class: shade }), topic));
      const name = topic.words[0].word;
      if (length > 34 && textWidth(name) < length - 14) picture.append(textAt(name, { x: x + 8, y: height - 10, class: `on-${shade}` }));
      x += length;
    });
    holder.replaceChildren(picture);
  }

  function drawMap() {
    if (topics.length < 3) { // nothing to place
      byId("map").hidden = true;
      document.querySelector('nav a[href="#map"]').hidden = true;
      return;
    }
    const holder = byId("map-plot"), width = holder.clientWidth, height = width < 600 ? 352 : 432, margin = 46;
    const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Map of topics by the similarity of their words; the list above has them all" });
    const largest = Math.max(...topics.map((topic) => topic.token_share), 1e-9);
    const scale = (axis, span) => {
      const values = topics.map((topic) => topic.position[axis]), low = Math.min(...values), high = Math.max(...values);
      return (v) => (high > low ? margin + ((v - low) / (high - low)) * (span - 2 * margin) : span / 2);
    };
    const atX = scale(0, width), atY = scale(1, height), biggest = Math.min(34, 8 + 120 / Math.sqrt(topics.length));
    const places = [...topics].sort((a, b) => b.token_share - a.token_share)
      .map((topic) => ({ topic, x: atX(topic.position[0]), y: atY(topic.position[1]), r: Math.max(3, biggest * Math.sqrt(topic.token_share / largest)) }));
    for (const p of places) picture.append(withTip(svg("circle", { cx: p.x, cy: p.y, r: p.r }), p.topic));
    const taken = [];
    for (const p of places.slice(0, 60)) {
      const name = Array.from(p.topic.words[0].word).slice(0, 24).join(""), w = textWidth(name) + 6;
      const box = { left: Math.max(2, Math.min(p.x - w / 2, width - w - 2)), top: p.y - 9, w, h: 18 };
      if (taken.some((o) => box.left < o.left + o.w && o.left < box.left + box.w && box.top < o.top + o.h && o.top < box.top + box.h)) continue;
      taken.push(box);
      picture.append(textAt(name, { x: box.left + w / 2, y: p.y + 4, "text-anchor": "middle" }));
    }
    holder.replaceChildren(picture);
  }

  // ------------------------------------------------------------------------------------------------ one topic
  function areaChart(values, height, label) {
    const top = Math.max(...values.filter((v) => v !== null), 1e-9), n = values.length;
    const points = values.map((v, i) => `${n > 1 ? (100 * i) / (n - 1) : 0},${height - 1 - (height - 3) * ((v ?? 0) / top)}`);
    if (n === 1) points.push(`100,${points[0].split(",")[1]}`);
    return svg("svg", { viewBox: `0 0 100 ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": label },
      svg("polygon", { class: "area", points: `0,${height} ${points.join(" ")} 100,${height}` }), svg("polyline", { class: "edge", points: points.join(" ") }));
  }
  function histogramChart(counts, height, label) {
    const shown = counts.slice(1), top = Math.max(...shown, 1), step = 100 / shown.length;
    const picture = svg("svg", { viewBox: `0 0 100 ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": label });
    shown.forEach((n, i) => {
      const tall = n ? Math.max(1.5, ((height - 3) * n) / top) : 0;
      picture.append(svg("rect", { class: "column", x: i * step + 0.3, width: step - 0.6, y: height - 1 - tall, height: tall }));
    });
    picture.append(svg("line", { class: "baseline", x1: 0, x2: 100, y1: height - 0.5, y2: height - 0.5 }));
    return picture;
  }
  const axis = (...labels) => el("div", { class: "axis", "aria-hidden": "true" }, ...labels.map((label) => el("span", {}, label)));

  function wordList(topic) {
    const list = el("ol", { class: "words" }), top = Math.max(...topic.words.map((entry) => entry.probability)) || 1;
    for (const entry of topic.words) list.append(el("li", {}, word(entry.word), bar(entry.probability / top), el("span", { class: "p" }, percent(entry.probability))));
    return el("div", {}, el("h3", {}, "Words and their probability"), list);
  }
  function marked(text, terms) {
    const quote = el("blockquote", { dir: "auto" });
    for (const piece of text.split(/([\p{L}\p{M}\p{N}_]+)/u)) quote.append(terms.has(piece.toLowerCase()) ? el("mark", {}, piece) : piece);
    return quote;
  }
  function documentList(topic) {
    const terms = new Set(topic.words.flatMap((entry) => entry.word.toLowerCase().split(/\s+/)));
    const list = el("ol", { class: "documents" });
    for (const entry of topic.documents) {
      const name = word(entry.name); name.className = "name";
      const telling = el("p", { class: "telling" });
      entry.words.forEach((text, i) => telling.append(i ? ", " : "", word(text)));
      list.append(el("li", {}, el("div", { class: "head" }, name, el("span", { class: "meta" }, `${percent(entry.share)} of ${plural(entry.n_tokens, "word")}`)),
        entry.snippet === null ? telling : marked(entry.snippet, terms)));
    }
    return el("div", {}, el("h3", {}, "Documents with most of it"), list);
  }
  function pictures(topic) {
    const described = plural(data.corpus.n_described, "document"), most = Math.max(...topic.along.map((v) => v ?? 0));
    return el("div", { class: "pictures" },
      el("figure", {}, el("h3", {}, "Share within documents"), histogramChart(topic.histogram, 84, `At least 5% of ${whole(topic.n_present)} of ${described}`), axis("5%", `of ${plural(topic.n_present, "document")}`, "100%")),
      el("figure", {}, el("h3", {}, "Share in the order of the documents"), areaChart(topic.along, 84, `Mean share in the order of the documents, at most ${percent(most)}`), axis("first", `up to ${percent(most)}`, "last")));
  }
  function similarList(topic) {
    if (!topic.similar.length) return null;
    const list = el("ul", { class: "similar" });
    for (const k of topic.similar) {
      const link = el("a", { href: `#topic-${topics[k].number}` }, word(`#${topics[k].number} ${gist(topics[k], 3)}`));
      link.addEventListener("click", (event) => { event.preventDefault(); openTopic(k); });
      list.append(el("li", {}, link));
    }
    return el("div", {}, el("h3", {}, "Topics with similar words"), list);
  }
  function detail(topic) {
    const numbers = el("dl", { class: "numbers" }, term("Share of tokens", percent(topic.token_share)),
      term("Documents with 5% or more", whole(topic.n_present)), term("Documents where it is largest", whole(topic.n_largest)),
      topic.coherence === null ? null : term("Coherence", fixed(topic.coherence, 1)));
    return el("div", { class: "detail" }, wordList(topic), el("div", {}, numbers, pictures(topic), topic.documents.length ? documentList(topic) : null, similarList(topic), tree === null ? null : tree.placeOf(topic.number)));
  }

  // ------------------------------------------------------------------------------------------------ the list
  const rows = new Map();
  const largestShare = Math.max(...topics.map((topic) => topic.token_share), 1e-9);
  function row(topic) {
    if (rows.has(topic.index)) return rows.get(topic.index);
    const words = el("span", { class: "gist" });
    for (const entry of topic.words.slice(0, 9)) words.append(word(entry.word), " ");
    const summary = el("summary", {}, el("span", { class: "number" }, `#${topic.number}`), words,
      el("span", { class: "spark", "aria-hidden": "true" }, areaChart(topic.along, 26, "")),
      el("span", { class: "share" }, bar(topic.token_share / largestShare), el("b", {}, percent(topic.token_share))), el("span", { class: "chevron", "aria-hidden": "true" }));
    const box = el("details", {}, summary);
    box.addEventListener("toggle", () => { if (box.open && box.childElementCount === 1) box.append(detail(topic)); });
    const item = el("li", { id: `topic-${topic.number}` }, box);
    rows.set(topic.index, item);
    return item;
  }
  const orders = {
    share: (t) => -t.token_share, index: (t) => t.number, present: (t) => -t.n_present,
    coherence: (t) => (t.coherence === null ? Infinity : -t.coherence), focus: (t) => -t.words.slice(0, 10).reduce((sum, entry) => sum + entry.probability, 0),
  };
  const haystacks = topics.map((topic) => [`#${topic.number}`, ...topic.words.map((entry) => entry.word), ...topic.documents.map((entry) => entry.name)].join("\n").toLowerCase());
  const listed = nTopics > topics.length ? `the ${whole(topics.length)} largest of ${plural(nTopics, "topic")}` : plural(topics.length, "topic");
  let limit = PAGE, current = [];
  function select() {
    const asked = byId("query").value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const key = orders[byId("order").value];
    const fits = (topic, part) => (/^#?\d+$/.test(part) && `#${topic.number}` === `#${part.replace("#", "")}`) || haystacks[topic.index].includes(part);
    current = topics.filter((topic) => asked.every((part) => fits(topic, part))).sort((a, b) => key(a) - key(b) || a.index - b.index);
  }
  function drawList() {
    const list = byId("list"), shown = current.slice(0, limit), rest = current.length - shown.length;
    list.replaceChildren(...shown.map(row));
    byId("count").textContent = current.length === topics.length ? `${capital(listed)}. Choose one to see its words and documents.`
      : current.length ? `${whole(current.length)} of ${listed}.` : "No topic has these words. Try fewer letters, or another word.";
    const more = byId("more");
    more.hidden = rest <= 0;
    more.textContent = `Show ${whole(Math.min(rest, 10 * PAGE))} more of ${whole(rest)}`;
  }
  const refresh = () => { limit = PAGE; select(); drawList(); };
  function openTopic(k) {
    let place = current.findIndex((topic) => topic.index === k);
    if (place < 0) { byId("query").value = ""; select(); place = current.findIndex((topic) => topic.index === k); }
    if (place < 0) return;
    limit = Math.max(limit, place + 1);
    drawList();
    const item = rows.get(k), box = item.firstElementChild;
    box.open = true;
    if (box.childElementCount === 1) box.append(detail(topics[k]));
    history.replaceState(null, "", `#topic-${topics[k].number}`);
    item.scrollIntoView({ block: "start" });
    box.firstElementChild.focus({ preventScroll: true });
  }
  function openFromAddress() {
    const found = /^#topic-(\d+)$/.exec(location.hash), topic = found && byNumber.get(Number(found[1]));
    if (topic) openTopic(topic.index);
    if (tree !== null) tree.openFromAddress();
  }

  // ------------------------------------------------------------------------------------------------ the tree
  const tree = data.tree === null ? null
    : topicTree(data.tree, { byId, el, svg, word, whole, plural, percent, term, textAt, textWidth, wordList, showTip, hideTip, hasTopic: (number) => byNumber.has(number) });
  if (tree !== null) {
    byId("tree").hidden = false;
    document.querySelector('nav a[href="#tree"]').hidden = false;
  }

  const path = data.path === null ? null
    : pathSection(data.path, topics, { byId, el, svg, word, whole, fixed, plural, percent, bar, textAt, textWidth, openTopic });

  // ------------------------------------------------------------------------------------------------ settings, notes
  function drawAbout() {
    fit.drawSettings();
    const corpus = data.corpus, note = (text) => byId("notes").append(el("li", {}, text));
    if (corpus.n_described < corpus.n_documents - corpus.n_empty) note(`Shares and examples are those of a random sample of ${whole(corpus.n_described)} of the ${plural(corpus.n_documents, "document")}.`);
    if (corpus.n_empty) note(`${plural(corpus.n_empty, "document")} without a known word ${corpus.n_empty === 1 ? "is" : "are"} left out of every share.`);
    note(data.tree === null ? "The number of a topic is its row in topic_word_ and its column in the result of transform." : "The number of a topic is the place of its leaf in the tree, counted from the left, and its column in the result of transform.");
    note("Share of tokens: the share of all words of the fit that belong to the topic. A word counts as often as it occurs.");
    if (data.path !== null) note("Fewer topics: a tenth of the words of some documents is taken out of the topics and predicted, with topic weights from the other words. The topics were learned together with these documents. So compare these scores with each other, not with the held-out score.");
    if (data.tree !== null) note("Words of topics and of nodes of the tree are ranked by P(w | node) P(node | w): words that are frequent there and rare elsewhere come first. The bars show P(w | node).");
    note("Documents with most of a topic are ranked by the lower end of the 95% Wilson interval of its share. A document of three words thus does not come before a long one.");
    note("Coherence (Mimno et al. 2011) says how often the ten most probable words of a topic occur in the same documents. 0 is best. A pair of words that never occur together costs 27.6 or more.");
    if (data.held_out !== null) {
      const { active, with_inactive: other, n_tokens: scored, unigram } = data.held_out;
      note(`Held-out score: each held-out document is split at random into two halves. Its topic weights come from one half, and the words of the other half are scored${scored === null ? "" : `, ${whole(scored)} in all`}.${other === null ? "" : ` If topics that no document has shown yet keep their share, the score is ${fixed(other)}.`}`);
      if (unigram !== null) note(`The frequencies of words alone score ${fixed(unigram)} on the same words. The model gives a word ${fixed(Math.exp(active - unigram), 2)} times the probability that its frequency gives it (geometric mean).`);
    }
    if (data.held_out !== null || data.fit.objective !== null) {
      note("Nats per token: the mean natural logarithm of the probability of a word. 0.1 higher means that words are 1.105 times as probable. Perplexity is the same on another scale: the number of equally probable words among which a choice would be as uncertain.");
    }
    byId("colophon").textContent = `Written by stickbreak ${data.version}. This file needs no network.`;
  }

  function start() {
    drawHeadline(); fit.drawText(); drawAbout(); drawStick(); if (tree !== null) tree.draw(); drawMap(); refresh(); if (path !== null) path.start();
    byId("query").addEventListener("input", refresh);
    byId("order").addEventListener("change", refresh);
    byId("controls").addEventListener("submit", (event) => event.preventDefault());
    byId("more").addEventListener("click", () => { limit += 10 * PAGE; drawList(); });
    let width = innerWidth;
    addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; drawStick(); if (tree !== null) tree.draw(); if (path !== null) path.draw(); drawMap(); } });
    addEventListener("hashchange", openFromAddress);
    document.addEventListener("DOMContentLoaded", () => { fit.draw(); openFromAddress(); }); // plotly.js comes after this script
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", fit.draw);
  }
  start();
})();
