// The report on a model of words: lists with searches, pages of topics and documents, the slider of groups.
const { topics, documents, columns, tree, path, time, classes } = data;
const byNumber = new Map(topics.map((topic) => [topic.number, topic]));
const byRow = new Map(documents.map((one) => [one.row, one]));
const bySize = [...topics].sort((a, b) => b.token_share - a.token_share || a.index - b.index);
const nTopics = tree === null ? topics.length : tree.n_topics;
const listed = (nTopics > topics.length ? `the ${whole(topics.length)} largest of ` : "") + plural(nTopics, "topic");
const RELEVANCE = 0.6; // the order of words everywhere: Sievert and Shirley (2014) found it best for readers

function topicLink(topic, share = null) {
  const number = el("span", { class: "number" }, `#${topic.number} `);
  return el("a", { href: `#topic-${topic.number}` }, number, word(topic.label), share === null ? null : el("b", {}, share));
}
const term = (name, value) => el("div", {}, el("dt", {}, name), el("dd", {}, value));
const head = (text) => el("h3", {}, text);
function chips(title, nodes) {
  return nodes.length ? el("div", {}, head(title), el("ul", { class: "similar" }, ...nodes.map((node) => el("li", {}, node)))) : null;
}
function gist(label, words, first = "") {
  const told = el("small", {}, first);
  for (const text of words) told.append(word(text), " ");
  return el("span", { class: "gist" }, word(label), el("br"), told);
}
// How often a topic comes again in other fits; of their number where it is known.
function foundAgain(topic) {
  const n = data.n_other_fits;
  return n === null ? percent(topic.found) : `${Math.round(topic.found * n)} of ${n}`;
}
function topicRow(topic, largest) {
  const share = el("span", { class: "share" }, bar(topic.token_share / largest), el("b", {}, percent(topic.token_share)));
  const words = topic.words.slice(0, 9).map((entry) => entry.word);
  return el("li", {}, el("a", { class: "row", href: `#topic-${topic.number}` },
    el("span", { class: "number" }, `#${topic.number}`),
    gist(topic.label, words, topic.found === null ? "" : `in ${foundAgain(topic)} other fits: `), share,
    el("span", { class: "chevron aside", "aria-hidden": "true" })));
}
// A list of which a part is shown, and a button for more of it.
function listing(list, button, first, more) {
  let items = [], make = null, limit = first;
  const draw = () => {
    list.replaceChildren(...items.slice(0, limit).map(make));
    const rest = items.length - limit;
    button.hidden = rest <= 0;
    button.textContent = rest > more ? `Show ${whole(more)} more of ${whole(rest)}` : `Show the other ${whole(rest)}`;
  };
  button.addEventListener("click", () => { limit += more; draw(); });
  return (found, maker) => { [items, make, limit] = [found, maker, first]; draw(); };
}

// ------------------------------------------------------------------------------------------------ list of topics
const haystacks = topics.map((topic) =>
  [topic.label, ...topic.words.map((entry) => entry.word), ...topic.documents.map(([place]) => documents[place].name)]
    .join("\n").toLowerCase());
const listTopics = listing(byId("list"), byId("more"), 20, 200);
function searchTopics() {
  const parts = asked("query"), by = byId("order").value;
  const key = (topic) => (by === "number" ? topic.number : -(topic[by] ?? -Infinity));
  const fits = (topic, part) => `#${topic.number}` === `#${part.replace("#", "")}` || haystacks[topic.index].includes(part);
  const found = topics.filter((topic) => parts.every((part) => fits(topic, part)));
  found.sort((a, b) => (key(a) === key(b) ? a.index - b.index : key(a) - key(b)));
  byId("count").textContent =
    found.length === topics.length
      ? `${listed.charAt(0).toUpperCase()}${listed.slice(1)}. Choose one to see its words and documents. Bars are compared with the largest topic.`
      : found.length
        ? `${whole(found.length)} of ${listed}.`
        : "No topic has these words. Try fewer letters, or another word.";
  listTopics(found, (topic) => topicRow(topic, bySize[0].token_share || 1));
}

// ------------------------------------------------------------------------------------------- documents
const places = [...new Set([ // the best example of each topic, the largest topic first, then the second best ones
  ...[0, 1, 2, 3, 4].flatMap((rank) => bySize.flatMap((topic) => topic.documents.slice(rank, rank + 1).map(([place]) => place))),
  ...documents.keys()])];
const documentText = documents.map((one) =>
  [one.name, one.snippet ?? "", ...one.words, ...one.values.map((v) => v ?? "")].join("\n").toLowerCase());
const listDocuments = listing(byId("document-list"), byId("document-more"), 8, 40);
const factsOf = (one) => columns.map((name, i) => [name, one.values[i]]).filter(([, value]) => value !== null);

// The words of a passage, each with the colour of its topic, or only those of one topic marked, or none (false).
function passage(one, only = null) {
  if (one.snippet === null) return el("p", { class: "telling" }, ...one.words.flatMap((text, i) => [i ? ", " : "", word(text)]));
  const rank = new Map(one.topics.slice(0, 5).map(([k], i) => [k, i]));
  const pieces = one.snippet.split(/([\p{L}\p{M}\p{N}_\u200c\u200d]+)/u).map((piece) => {
    const k = Object.hasOwn(one.marks, piece) ? one.marks[piece] : null;
    if (k === null || only === false || (only === null ? !rank.has(k) : k !== only)) return piece;
    const node = el("mark", only === null ? { class: "tint", title: topics[k].label } : {}, piece);
    if (only === null) node.style.setProperty("--tint", groupColour(rank.get(k)));
    return node;
  });
  return el("blockquote", { dir: "auto" }, ...pieces);
}
function documentItem(one, share = null, only = null) {
  const size = plural(one.n_tokens, "word"), beside = factsOf(one).map(([, value]) => value).join(" · ");
  const largest = one.topics.slice(0, 3).map(([k, part]) => el("li", {}, topicLink(topics[k], percent(part))));
  return el("li", {},
    el("div", { class: "head" },
      el("span", { class: "name" }, el("a", { href: `#document-${one.row}` }, word(one.name))),
      el("span", { class: "meta" }, share === null ? size : `${percent(share)} of ${size}`)),
    beside ? el("p", { class: "beside" }, word(beside)) : null,
    passage(one, only),
    only === false ? el("ul", { class: "similar small" }, ...largest) : null);
}
function searchDocuments() {
  const parts = asked("document-query"), chosen = data.span ?? data.corpus, n = plural(documents.length, "document");
  const all = chosen.n_documents - chosen.n_empty, others = all - documents.length; // no word of an empty one is known
  const found = places.filter((i) => parts.every((part) => documentText[i].includes(part))).map((i) => documents[i]);
  const code = (text) => el("code", {}, text);
  const elsewhere = others > 0
    ? [`${plural(others, "other document")} may: `, code("stickbreak ask MODEL search WORD"), " finds the topics of a word, ",
        code("stickbreak ask MODEL documents INPUT --topic NUMBER"), " their documents."]
    : ["Try less of it."];
  byId("document-count").replaceChildren(...(
    found.length && parts.length ? [`${whole(found.length)} of the ${n} in this report.`]
    : parts.length ? [`None of the ${n} in this report has this text in its name, its columns or its words. `, ...elsewhere]
    : others > 0 ? [`${n} of ${whole(all)}: the examples of all topics, and random others. The search finds only these.`]
    : [`All ${n}.`]));
  listDocuments(found, (one) => documentItem(one, null, false));
}
function documentPage(one) {
  const list = one.topics.map(([k, share], i) => {
    const key = el("i", { class: "key" });
    key.style.background = i < 5 ? groupColour(i) : "transparent";
    return el("li", {}, key, topicLink(topics[k]), bar(share), el("b", {}, percent(share)));
  });
  const facts = [["Words that the model knows", whole(one.n_tokens)], ["Row", whole(one.row)], ...factsOf(one)];
  return [
    el("h2", { id: "page-heading", tabindex: -1, dir: "auto" }, one.name),
    el("dl", { class: "numbers" }, ...facts.map(([name, value]) => term(name, word(value)))),
    head("Its topics"),
    el("ol", { class: "of-document" }, ...list),
    head(one.snippet === null ? "Its most telling words" : "A passage; each word has the colour of its most probable topic"),
    passage(one),
  ];
}

// ------------------------------------------------------------------------------------------ page of a topic
let weight = RELEVANCE; // of the probability of a word against its lift
function byRelevance(topic, weight) {
  if (weight === RELEVANCE && tree !== null) return topic.words;
  const log = (v) => Math.log(Math.max(v ?? 0, 1e-300));
  const relevance = (entry) => weight * log(entry.probability) + (1 - weight) * log(entry.lift);
  return [...topic.words, ...topic.more_words].filter((entry) => entry.lift !== null).sort((a, b) => relevance(b) - relevance(a));
}
function wordList(entries) {
  const top = Math.max(...entries.map((entry) => entry.probability)) || 1;
  return el("ol", { class: "words" }, ...entries.map((entry) =>
    el("li", {}, word(entry.word), bar(entry.probability / top), el("span", { class: "p" }, percent(entry.probability)))));
}
function wordsHead(entries) {
  const falls = entries.every((entry, i) => i === 0 || entry.probability <= entries[i - 1].probability);
  return head(`Words${falls ? "" : ", the most relevant first,"} and their probability; bars are compared with the largest`);
}
function wordPanel(topic) {
  const holder = el("div"), value = el("output"), label = "Relevance: from words of this topic only, 0, to its most frequent words, 1";
  const slider = el("input", { type: "range", min: 0, max: 1, step: 0.1, "aria-label": label });
  const show = () => {
    const ranked = weight === RELEVANCE ? topic.words : byRelevance(topic, weight);
    holder.replaceChildren(wordList(ranked.slice(0, 20)));
    value.textContent = `λ ${fixed(weight, 1)}`;
  };
  slider.value = weight;
  slider.addEventListener("input", () => { weight = Number(slider.value); show(); });
  show();
  const choice = el("div", { class: "relevance" }, el("span", {}, "only here"), slider, el("span", {}, "frequent"), value);
  const rows = () => [["word", "probability", "lift"],
    ...[...topic.words, ...topic.more_words].map((entry) => [entry.word, entry.probability, entry.lift])];
  return el("div", {}, wordsHead(topic.words.slice(0, 20)), tree === null ? choice : null, holder, csvButton(rows));
}
function histogram(topic) {
  const counts = topic.histogram.slice(1), top = Math.max(...counts, 1);
  const label = `At least 5% of ${whole(topic.n_present)} of ${plural(data.corpus.n_described, "document")}`;
  const columns = counts.map((n) => {
    const column = el("i");
    column.style.height = `${n ? Math.max(2, (100 * n) / top) : 0}%`;
    return column;
  });
  const axis = ["5%", `of ${plural(topic.n_present, "document")}`, "100%"].map((text) => el("span", {}, text));
  return el("div", { class: "histogram" }, head("Its share within documents"),
    el("div", { class: "columns-of", role: "img", "aria-label": label }, ...columns), el("div", { class: "axis", "aria-hidden": "true" }, ...axis));
}
// The line of one topic over time: the figure of the page, filled with its numbers.
function overTime(k) {
  if (time === null) return null;
  const { shares, low, high, documents: sizes, groups } = time.shares, [line] = figures["topic-time"].data;
  const holder = el("div", { class: "plot", "data-figure": "topic-time", role: "figure", "aria-label": `Share of topic ${topics[k].number} by ${time.by}` });
  const part = (a, b) => a.map((v, p) => (v === null || b[p] === null ? null : v - b[p]));
  const error_y = { ...line.error_y, array: part(high[k], shares[k]), arrayminus: part(shares[k], low[k]) };
  const customdata = groups.map((_, p) => [low[k][p], high[k][p], sizes[p]]);
  charts.draw(holder, [{ ...line, y: shares[k], error_y, customdata }], { ...figures["topic-time"].layout, height: 240, showlegend: false });
  return el("div", {}, head(`Mean weight by ${time.by}, with 95 % intervals`), holder, csvButton(() => groupedRows(time.shares, time.by, [k])));
}
// The words that rise and fall inside a topic, a line for each period or class.
function changedWords(k) {
  const own = data.changed_words.filter((one) => one.topic === k);
  if (!own.length) return null;
  const lines = new Map();
  for (const one of own) {
    const name = `${one.column} ${one.group}`;
    if (!lines.has(name)) lines.set(name, { group: one.group, rise: [], fall: [] });
    lines.get(name)[one.lift > 1 ? "rise" : "fall"].push(one);
  }
  const told = (sign, words) => words.flatMap((one) => [` ${sign} `, word(one.word), ` ${fixed(one.lift, 1)}×`]);
  const rows = () => [["by", "group", "word", "lift", "p"], ...own.map((one) => [one.column, one.group, one.word, one.lift, one.p])];
  return el("div", {}, head("Words that rise (↑) or fall (↓) by more than chance, times their usual share of the topic"),
    el("ul", { class: "changed" }, ...[...lines.values()].map(({ group, rise, fall }) =>
      el("li", {}, el("b", {}, word(group)), ...told("↑", rise), ...told("↓", fall)))), csvButton(rows));
}
function byClass(grouped, k) {
  const known = grouped.groups.map((name, g) => ({ name, share: grouped.shares[k][g], low: grouped.low[k][g], high: grouped.high[k][g] }))
    .filter((row) => row.share !== null).sort((a, b) => b.share - a.share);
  const chosen = known.slice(0, 12), top = Math.max(...chosen.map((row) => row.high ?? row.share), 1e-9);
  const rows = chosen.map((row) => {
    const whisker = el("u"), wide = el("span", { class: "bar wide", "aria-hidden": "true" }, bar(row.share / top).firstChild, whisker);
    if (row.low !== null) whisker.style.cssText = `left:${(100 * row.low) / top}%;width:${(100 * (row.high - row.low)) / top}%`;
    return el("li", {}, word(row.name), wide, el("span", { class: "p" }, percent(row.share)));
  });
  const which = chosen.length < known.length ? `, the ${chosen.length} largest of ${known.length}` : "";
  return el("div", {}, head(`Mean weight by ${grouped.column}${which}, with 95 % intervals; bars are compared with the largest`),
    el("ol", { class: "class-bars" }, ...rows), csvButton(() => groupedRows(grouped, grouped.column, [k])));
}
function topicPage(topic) {
  const at = bySize.indexOf(topic);
  const step = (other, text) => (other ? el("a", { href: `#topic-${other.number}` }, text) : el("span", {}, text));
  const examples = topic.documents.map(([place, share]) => documentItem(documents[place], share, topic.index));
  const rows = () => [["row", "name", "tokens", "weight", ...columns], ...topic.documents.map(([place, share]) => {
    const one = documents[place];
    return [one.row, one.name, one.n_tokens, share, ...one.values];
  })];
  return [
    el("div", { class: "steps" }, step(bySize[at - 1], "← larger topic"), step(bySize[at + 1], "smaller topic →")),
    el("h2", { id: "page-heading", tabindex: -1 }, el("span", { class: "number" }, `#${topic.number} `), word(topic.label)),
    el("dl", { class: "numbers" },
      term("Share", percent(topic.token_share)),
      term("Documents with 5% or more", whole(topic.n_present)),
      term("Documents where it is largest", whole(topic.n_largest)),
      topic.coherence === null ? null : term("Coherence (NPMI)", fixed(topic.coherence, 2)),
      topic.exclusivity === null ? null : term("Exclusivity", fixed(topic.exclusivity, 2)),
      topic.found === null ? null : term("Found in other fits", foundAgain(topic)),
      topic.similarity === null ? null : term("Similarity to its match there", percent(topic.similarity))),
    el("div", { class: "detail" },
      el("div", { class: "stack" }, wordPanel(topic),
        chips("Topics with similar words", topic.similar.map((k) => topicLink(topics[k]))),
        path === null ? null : chips("Topics that it joins with, the nearest first", joinsOf(topic)),
        topic.node === null ? null : chips("Its path in the tree", way(nodes[topic.node]).slice(1).map((node) => nodeLink(node, node.title)))),
      el("div", { class: "stack" }, overTime(topic.index), changedWords(topic.index), ...classes.map((grouped) => byClass(grouped, topic.index)), histogram(topic),
        examples.length ? el("div", {}, head("Documents with most of it; where shares are similar, the longer document comes first"),
          el("ol", { class: "documents" }, ...examples), csvButton(rows)) : null)),
  ];
}

// ------------------------------------------------------------------------- groups: the path of joins, the slider
const K = topics.length;
const clusters = path === null ? [] : [...topics].sort((a, b) => a.number - b.number).map((topic) =>
  ({ topics: [topic], share: topic.token_share, label: topic.label, words: topic.words.map((entry) => entry.word), parts: [] }));
for (const { left, right, label, words } of path?.joins ?? []) {
  const parts = [clusters[left], clusters[right]], inside = parts.flatMap((part) => part.topics);
  inside.sort((a, b) => b.token_share - a.token_share);
  clusters.push({ topics: inside, share: parts[0].share + parts[1].share, label, words, parts });
}
let shownGroups = path?.overview ?? 1;
function groups(n) {
  const left = new Set(clusters.slice(0, K));
  for (const made of clusters.slice(K, K + K - n)) {
    for (const part of made.parts) left.delete(part);
    left.add(made);
  }
  return [...left].sort((a, b) => b.share - a.share);
}
function joinsOf(topic) {
  return clusters.slice(K).filter((made) => made.topics.includes(topic)).slice(0, 4).map((made) => {
    const other = made.parts.find((part) => !part.topics.includes(topic));
    return other.topics.length === 1 ? topicLink(other.topics[0])
      : el("span", {}, word(`${plural(other.topics.length, "topic")}: ${other.label}`));
  });
}
function groupRow(group, largest) {
  if (group.topics.length === 1) return topicRow(group.topics[0], largest);
  const box = el("details", {}, el("summary", {},
    el("span", { class: "number" }, plural(group.topics.length, "topic")), gist(group.label, group.words.slice(0, 8)),
    el("span", { class: "share" }, bar(group.share / largest), el("b", {}, percent(group.share))),
    el("span", { class: "chevron", "aria-hidden": "true" })));
  box.addEventListener("toggle", () => {
    if (box.childElementCount > 1) return;
    const inside = group.topics.map((topic) => el("li", {}, el("a", { href: `#topic-${topic.number}` },
      el("span", { class: "number" }, `#${topic.number}`), el("span", { class: "gist" }, word(topic.label)),
      el("span", { class: "share" }, bar(topic.token_share / group.share), el("b", {}, percent(topic.token_share))))));
    box.append(el("div", { class: "members" }, el("ul", { class: "children" }, ...inside)));
  });
  return el("li", {}, box);
}
const listGroups = path === null ? null : listing(byId("path-groups"), byId("path-more"), Math.max(20, path.overview), 200);
function showGroups(n) {
  shownGroups = n;
  const found = groups(n), score = path.scores[K - n], lost = path.scores[K - path.best] - score, error = path.standard_errors[K - n];
  byId("path-slider").value = n;
  byId("path-number").textContent = plural(n, "group");
  if (path.scores.length)
    byId("path-told").textContent = lost > 2 * error
      ? `With these groups a held-out word is ${fixed(Math.exp(lost), 2)} times less probable than with ${path.best < K ? plural(path.best, "group") : "all topics"}: ${fixed(score)} nats per token, ${fixed(lost)} below (standard error ${fixed(error)}).`
      : `No other number of groups is known to predict held-out words better: ${fixed(score)} nats per token.`;
  listGroups(found, (group) => groupRow(group, found[0].share || 1));
}
// The map and the picture over time follow the slider.
function recolour() {
  const found = groups(shownGroups);
  if (figures.map) {
    const colours = new Map(found.flatMap((group, i) => group.topics.map((topic) => [topic.index, groupColour(i)])));
    figures.map.data[0].marker.color = topics.map((topic) => colours.get(topic.index));
    charts.draw(byId("map-plot"), figures.map.data, figures.map.layout);
  }
  if (time === null) return;
  const most = 12, [band] = figures.time.data, few = found.length > most + 1 ? found.slice(0, most) : found;
  const rest = { label: `${whole(found.length - most)} smaller groups`, topics: found.slice(most).flatMap((group) => group.topics) };
  const traces = [...few, ...(few === found ? [] : [rest])].map((group, i) => ({
    ...band,
    name: plain(group.label),
    marker: { color: groupColour(i) },
    y: band.x.map((_, p) => group.topics.reduce((sum, topic) => sum + (time.shares.shares[topic.index][p] ?? 0), 0)),
  }));
  charts.draw(byId("time-plot"), traces, figures.time.layout);
}
const plain = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;"); // for Plotly
function startGroups() {
  if (path === null) return;
  const choose = (n) => { showGroups(n); recolour(); };
  byId("path-slider").addEventListener("input", (event) => choose(Number(event.target.value)));
  for (const button of byId("path-choices").children) button.addEventListener("click", () => choose(Number(button.value)));
  showGroups(shownGroups);
}

// ------------------------------------------------------------------- the map: words of the topic that is pointed at
function tellWords(topic) {
  const chosen = byRelevance(topic, RELEVANCE).slice(0, 15);
  const every = (entry) => entry.probability / entry.lift; // of all tokens
  const here = (entry) => Math.min(1, entry.lift * topic.token_share); // of the tokens of the word
  const top = Math.max(...chosen.map(every), 1e-12);
  const lines = chosen.map((entry) => {
    const all = el("u"), part = el("i");
    all.style.width = `${(100 * every(entry)) / top}%`;
    part.style.width = `${(100 * here(entry) * every(entry)) / top}%`;
    const line = el("li", { tabindex: 0 }, word(entry.word), el("span", { class: "bar", "aria-hidden": "true" }, all, part),
      el("span", { class: "p" }, `${Math.round(100 * here(entry))}%`));
    for (const kind of ["pointerenter", "focus"]) line.addEventListener(kind, () => tellTopics(entry.word));
    for (const kind of ["pointerleave", "blur"]) line.addEventListener(kind, () => tellTopics(null));
    return line;
  });
  byId("map-words").replaceChildren(el("h3", {}, topicLink(topic)),
    el("p", {}, `${percent(topic.token_share)} of all tokens. Its most relevant words: bars are all their tokens, the strong part those in this topic.`),
    el("ol", { class: "words" }, ...lines));
}
// The discs of topics that have a word stay, the more of its tokens they have the stronger; null: all do.
function tellTopics(asked) {
  const parts = topics.map((topic) => {
    const entry = [...topic.words, ...topic.more_words].find((one) => one.word === asked);
    return entry ? (entry.lift ?? 0) * topic.token_share : -1;
  });
  const top = Math.max(...parts, 1e-12);
  const opacity = parts.map((part) => (asked === null ? 0.7 : part < 0 ? 0.08 : 0.4 + (0.6 * part) / top));
  if (byId("map-plot").classList.contains("js-plotly-plot")) Plotly.restyle("map-plot", { "marker.opacity": [opacity] });
}
function startMap(holder) {
  holder.on("plotly_hover", ({ points: [point] }) => tellWords(topics[point.pointIndex]));
  holder.on("plotly_click", ({ points: [point] }) => { location.hash = `topic-${topics[point.pointIndex].number}`; });
}

// ------------------------------------------------------------------------------------------------------ the tree
const nodes = (tree?.nodes ?? []).map((entry) => ({ ...entry, children: [] }));
for (const node of nodes) { // parents come before their children, and larger children before smaller ones
  node.above = node.parent < 0 ? null : nodes[node.parent];
  node.path = node.above === null ? "all" : node.above.above === null ? `${node.child}` : `${node.above.path}.${node.child}`;
  node.share = node.n_tokens / nodes[0].n_tokens;
  const shared = new Set((node.above?.words ?? []).map((entry) => entry.word)), all = node.words.map((entry) => entry.word);
  const telling = [...all.filter((text) => !shared.has(text)), ...all.filter((text) => shared.has(text))];
  node.words_told = telling.slice(0, 6);
  node.title = node.above === null ? "All topics" : `${node.path} ${node.name ? `${node.name}: ` : ""}${telling.slice(0, 2).join(", ")}`;
  node.above?.children.push(node);
}
const byPath = new Map(nodes.map((node) => [node.path, node]));
const way = (node) => (node === null ? [] : [...way(node.above), node]);
const nodeLink = (node, ...content) => el("a", { href: `#tree-${node.path}` }, ...content);
function childList(node) {
  if (!node.n_children) return null;
  const top = node.children[0]?.share ?? 1, missing = node.n_children - node.children.length;
  const rows = node.children.map((child) => {
    const number = `${child.path}${child.topic === null ? "" : ` #${child.topic}`} ${child.name ?? ""}`;
    const words = el("span", { class: "gist" }, ...child.words_told.flatMap((text) => [word(text), " "]));
    return el("li", {}, nodeLink(child, el("span", { class: "number" }, number), words,
      el("span", { class: "share" }, bar(child.share / top), el("b", {}, percent(child.share)))));
  });
  return el("div", {}, head("Nodes below it, the largest first; bars are compared with the largest"),
    el("ol", { class: "children" }, ...rows),
    missing ? el("p", { class: "hint" }, `${plural(missing, "smaller node")} below it ${missing === 1 ? "is" : "are"} not on this page.`) : null);
}
let shownNode = null;
function showNode(node) {
  shownNode = node;
  const steps = way(node).map((one) =>
    el("li", {}, one === node ? el("span", { "aria-current": "true" }, one.title) : nodeLink(one, one.title)));
  const facts = el("dl", { class: "numbers" },
    term("Share", percent(node.share)), term("Words", whole(node.n_tokens)),
    node.n_own ? term("Of them in no node below", whole(node.n_own)) : null,
    node.topic === null ? term("Topics below", whole(node.n_topics)) : term("Topic", `#${node.topic}`),
    term("Level", `${way(node).length - 1} of ${tree.n_levels}`));
  const open = node.topic === null ? null
    : byNumber.has(node.topic) ? el("p", {}, el("a", { href: `#topic-${node.topic}` }, `Open topic #${node.topic} with its documents`))
    : el("p", { class: "hint" }, "This topic is too small for the list below.");
  byId("tree-way").replaceChildren(el("ol", {}, ...steps));
  byId("tree-node").replaceChildren(el("div", { class: "detail" },
    el("div", {}, wordsHead(node.words), wordList(node.words)), el("div", {}, facts, open, childList(node))));
  figures.tree.data[0].level = node.children.length || node.above === null ? node.path : node.above.path;
  charts.draw(byId("tree-plot"), figures.tree.data, figures.tree.layout);
}
function startTree(holder) {
  holder.on("plotly_icicleclick", ({ points: [point] }) => {
    const node = byPath.get(point.id);
    location.hash = `tree-${node === shownNode && node.above ? node.above.path : node.path}`;
    return false; // the address changes, and the picture follows it
  });
}

// ---------------------------------------------------------------------------------------------------- all tables
function groupedRows(grouped, name, chosen = topics.map((_, k) => k)) {
  const p = grouped.p.length > 0;
  return [["topic", "label", name, "mean_weight", "low", "high", "documents", ...(p ? ["p"] : [])],
    ...chosen.flatMap((k) => grouped.groups.map((group, g) => [topics[k].number, topics[k].label, group,
      grouped.shares[k][g], grouped.low[k][g], grouped.high[k][g], grouped.documents[g], ...(p ? [grouped.p[k][g]] : [])]))];
}
Object.assign(tables, {
  topics: () => [
    ["topic", "label", "share", "documents_5_percent", "documents_largest", "coherence_npmi", "exclusivity", "found_in_other_fits",
      "similarity_in_other_fits", "words"],
    ...topics.map((t) => [t.number, t.label, t.token_share, t.n_present, t.n_largest, t.coherence, t.exclusivity, t.found, t.similarity,
      t.words.map((entry) => entry.word).join(" ")])],
  groups: () => [["group", "group_label", "topic", "label", "share"], ...groups(shownGroups).flatMap((group, i) =>
    group.topics.map((topic) => [i + 1, group.label, topic.number, topic.label, topic.token_share]))],
  time: () => groupedRows(time.shares, time.by),
  trends: () => [["topic", "label", "change_in_a_year", "low", "high", "p"],
    ...time.trends.map((t) => [topics[t.topic].number, topics[t.topic].label, t.change, t.low, t.high, t.p])],
  documents: () => [["row", "name", "tokens", "topics", ...columns], ...documents.map((one) => [one.row, one.name, one.n_tokens,
    one.topics.map(([k, share]) => `${topics[k].number}: ${share}`).join("; "), ...one.values])],
});
classes.forEach((grouped, i) => { tables[`class-${i}`] = () => groupedRows(grouped, grouped.column); });

// ------------------------------------------------------- addresses: the whole report, or the page of a topic or document
let left = 0; // how far down the whole report was
function showPage(content) {
  if (byId("page").hidden) left = scrollY;
  byId("page").hidden = false;
  for (const home of document.querySelectorAll(".home")) home.hidden = true;
  byId("page-body").replaceChildren(...content.filter((one) => one !== null));
  scrollTo(0, 0);
  byId("page-heading").focus({ preventScroll: true });
}
function showHome(target) {
  const was = !byId("page").hidden;
  byId("page").hidden = true;
  for (const home of document.querySelectorAll(".home")) home.hidden = false;
  const section = target && target !== "home" && byId(target);
  if (section) section.scrollIntoView();
  else if (target === "home" || was) scrollTo(0, was ? left : 0);
}
function missing(kind, name) {
  if (kind === "document")
    return `The document in row ${name} is not in this report. It shows ${whole(documents.length)} of ${plural(data.corpus.n_documents, "document")}.`;
  if (kind === "tree") return `The tree on this page has no node ${name}.`;
  const numbers = topics.map((topic) => topic.number);
  const all = nTopics > K || tree !== null ? "" : `, numbered from ${Math.min(...numbers)} to ${Math.max(...numbers)}`;
  return `No topic here has the number ${name}. This report has ${listed}${all}.`;
}
function openFromAddress() {
  const address = location.hash.slice(1);
  const [, kind, name] = /^(topic|document|tree)-([\d.]+|all)$/.exec(address) ?? [null, null, null];
  const found = { topic: byNumber.get(Number(name)), document: byRow.get(Number(name)), tree: byPath.get(name) }[kind];
  if (found && kind === "topic") showPage(topicPage(found));
  else if (found && kind === "document") showPage(documentPage(found));
  else showHome(found ? "tree" : address);
  if (found && kind === "tree" && found !== shownNode) showNode(found);
  byId("missing").textContent = kind && !found ? missing(kind, name) : "";
  byId("missing").hidden = !kind || found !== undefined;
  if (kind && !found) scrollTo(0, 0);
}
startTables();
startCharts({ map: startMap, tree: startTree });
searchTopics();
searchDocuments();
startGroups();
if (figures.map) tellWords(bySize[0]);
const documentMap = data.document_map === null ? null : startDocumentMap(data.document_map, false);
if (tree !== null) showNode(nodes[0]);
byId("query").addEventListener("input", searchTopics);
byId("order").addEventListener("change", searchTopics);
byId("document-query").addEventListener("input", searchDocuments);
for (const form of ["controls", "document-form"]) byId(form).addEventListener("submit", (event) => event.preventDefault());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { if (!byId("page").hidden) openFromAddress(); });
addEventListener("hashchange", openFromAddress);
openFromAddress();
