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
  const PAGE = 20;
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
    if (data.mean_coherence !== null) add("Mean coherence", fixed(data.mean_coherence, 2), "NPMI of the top 10 words, 1 is best");
    if (data.diversity !== null && topics.length > 1) add("Diversity", percent(data.diversity), "of the top 25 words are different");
    const known = topics.filter((topic) => topic.found !== null), total = known.reduce((sum, topic) => sum + topic.token_share, 0);
    if (total > 0) add("Stability", percent(known.reduce((sum, topic) => sum + topic.token_share * topic.found, 0) / total), "of the words are in a topic that another seed finds, too");
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
      showTip(`#${topic.number} ${topic.label} · ${percent(topic.token_share)} of the tokens · ${gist(topic, 7)}`, event.clientX, event.clientY);
    });
    node.addEventListener("pointerleave", hideTip);
    node.addEventListener("click", () => { hideTip(); location.hash = `topic-${topic.number}`; });
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

  function topicLink(topic, share = null) {
    return el("a", { href: `#topic-${topic.number}` }, el("span", { class: "number" }, `#${topic.number} `), word(topic.label), share === null ? null : el("b", {}, share));
  }

  // ------------------------------------------------------------------------------------------------ the list
  const rows = new Map();
  const largestShare = Math.max(...topics.map((topic) => topic.token_share), 1e-9);
  function row(topic) {
    if (rows.has(topic.index)) return rows.get(topic.index);
    const words = el("span", { class: "gist" }, word(topic.label), el("br"));
    const told = el("small");
    for (const entry of topic.words.slice(0, 9)) told.append(word(entry.word), " ");
    words.append(told);
    const item = el("li", {}, el("a", { class: "row", href: `#topic-${topic.number}` }, el("span", { class: "number" }, `#${topic.number}`), words,
      el("span", { class: "share" }, bar(topic.token_share / largestShare), el("b", {}, percent(topic.token_share))), el("span", { class: "chevron aside", "aria-hidden": "true" })));
    rows.set(topic.index, item);
    return item;
  }
  const last = (v) => (v === null ? Infinity : -v);
  const orders = { share: (t) => -t.token_share, index: (t) => t.number, present: (t) => -t.n_present, coherence: (t) => last(t.coherence), exclusivity: (t) => last(t.exclusivity) };
  const haystacks = topics.map((topic) => [`#${topic.number}`, topic.label, ...topic.words.map((entry) => entry.word), ...topic.documents.map(([place]) => data.documents[place].name)].join("\n").toLowerCase());
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
  const tableRows = () => [["topic", "label", "share", "documents_5_percent", "documents_largest", "coherence_npmi", "exclusivity", "found_from_other_seeds", "words"],
    ...topics.map((t) => [t.number, t.label, t.token_share, t.n_present, t.n_largest, t.coherence, t.exclusivity, t.found, t.words.map((entry) => entry.word).join(" ")])];

  // ------------------------------------------------------------------------------------------------ the parts
  const tools = { byId, el, svg, word, whole, fixed, plural, percent, bar, term, textAt, textWidth, withTip, topicLink, showTip, hideTip };
  let pages = null;
  const tree = data.tree === null ? null
    : topicTree(data.tree, { ...tools, wordList: (topic) => pages.wordList(topic), hasTopic: (number) => byNumber.has(number) });
  if (tree !== null) {
    byId("tree").hidden = false;
    document.querySelector('nav a[href="#tree"]').hidden = false;
  }
  const map = topicMap(topics, tools), grouped = groupedSections(data, tools), documents = documentPages(data, tools);
  let lastGroups = null;
  const regroup = (groups) => { lastGroups = groups; if (byId("page").hidden) { map.regroup(groups); grouped.regroup(groups); } };
  const path = data.path === null ? null : pathSection(data.path, topics, { ...tools, regroup });
  pages = topicPages(data, { ...tools, documents, grouped, tree, path });

  // ------------------------------------------------------------------------------------------------ addresses
  // The whole report, or the page of one topic or document. The way back in the browser leads back to the same place.
  let left = 0;
  function showPage(nodes) {
    if (byId("page").hidden) left = scrollY;
    byId("page-body").replaceChildren(...nodes);
    byId("page").hidden = false;
    for (const home of document.querySelectorAll(".home")) home.hidden = true;
    scrollTo(0, 0);
    byId("page-heading").focus({ preventScroll: true });
  }
  function showHome(target) {
    const was = !byId("page").hidden;
    byId("page").hidden = true;
    for (const home of document.querySelectorAll(".home")) home.hidden = false;
    if (was && lastGroups !== null) regroup(lastGroups);
    if (was) drawPictures();
    const section = target && target !== "home" && byId(target);
    if (section) section.scrollIntoView(); else if (target === "home" || was) scrollTo(0, was ? left : 0);
  }
  function openFromAddress() {
    hideTip();
    const address = decodeURIComponent(location.hash.slice(1)), found = /^(topic|document)-(\d+)$/.exec(address);
    const topic = found && found[1] === "topic" ? byNumber.get(Number(found[2])) : null, one = found && found[1] === "document" ? documents.find(Number(found[2])) : null;
    if (topic) showPage(pages.page(topic)); else if (one) showPage(documents.page(one)); else showHome(address);
    if (tree !== null && !topic && !one) tree.openFromAddress();
  }
  const groupsApart = () => (tree === null ? [{ name: "all topics", topics }] : tree.groupsOf(topics)); // where there is no path
  function drawPictures() { drawStick(); if (tree !== null) tree.draw(); if (path !== null) path.draw(); else regroup(groupsApart()); }

  // ------------------------------------------------------------------------------------------------ settings, notes
  function drawAbout() {
    fit.drawSettings();
    const corpus = data.corpus, note = (text) => byId("notes").append(el("li", {}, text));
    if (corpus.n_described < corpus.n_documents - corpus.n_empty) note(`Shares and examples are those of a random sample of ${whole(corpus.n_described)} of the ${plural(corpus.n_documents, "document")}.`);
    if (corpus.n_empty) note(`${plural(corpus.n_empty, "document")} without a known word ${corpus.n_empty === 1 ? "is" : "are"} left out of every share.`);
    note(data.tree === null ? "The number of a topic is its row in topic_word_ and its column in the result of transform." : "The number of a topic is the place of its leaf in the tree, counted from the left, and its column in the result of transform.");
    note("Share of tokens: the share of all words of the fit that belong to the topic. A word counts as often as it occurs.");
    if (data.path !== null) note(path.scored ? "Groups: a tenth of the words of some documents is taken out of the topics and predicted, with topic weights from the other words. The topics were learned together with these documents. So compare these scores with each other, not with the held-out score." : "Groups: topics are joined where their word distributions are alike (average linkage of Hellinger distances).");
    if (data.tree !== null) note("Words of topics and of nodes of the tree are ranked by P(w | node) P(node | w): words that are frequent there and rare elsewhere come first. The bars show P(w | node).");
    note("Documents with most of a topic are ranked by the lower end of the 95% Wilson interval of its share. A document of three words thus does not come before a long one.");
    note("Coherence says how much more often the ten most probable words of a topic occur in the same documents than they would by chance (NPMI). 1: always together. 0: as by chance. -1: never. Exclusivity: the mean share that the topic has in the probability of these words over all topics.");
    note("The slider of words weighs the logarithm of the probability of a word against that of its lift: how many times its probability in all documents it has here (Sievert and Shirley 2014).");
    note("The map is a t-SNE embedding of the topics. Their distance comes from the mean of two likenesses: of the word distributions (Bhattacharyya), and of the shares over the documents (cosine). The colour of a word in a document is the topic that it most probably has there.");
    if (data.time !== null || data.classes.length) note("Intervals of shares say how much a share would vary with other documents of the same kind (Bayesian bootstrap, 95%). Values of p are adjusted for their number.");
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
    drawHeadline(); fit.drawText(); drawAbout(); refresh(); map.start(); grouped.start(); documents.start();
    byId("topics-csv").append(csvButton(tableRows));
    if (topics.length < 3) { byId("map").hidden = true; document.querySelector('nav a[href="#map"]').hidden = true; } // nothing to place
    if (path !== null) path.start(); else regroup(groupsApart());
    drawStick();
    if (tree !== null) tree.draw();
    byId("query").addEventListener("input", refresh);
    byId("order").addEventListener("change", refresh);
    byId("controls").addEventListener("submit", (event) => event.preventDefault());
    byId("more").addEventListener("click", () => { limit += 10 * PAGE; drawList(); });
    byId("back").addEventListener("click", (event) => { event.preventDefault(); history.pushState(null, "", "#home"); openFromAddress(); });
    let width = innerWidth;
    addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; if (byId("page").hidden) drawPictures(); } });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { if (byId("page").hidden) drawPictures(); else openFromAddress(); });
    addEventListener("hashchange", openFromAddress);
    fit.draw();
    openFromAddress();
  }
  start();
})();
