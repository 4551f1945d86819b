// Draws the report. Words and names come from documents that nobody has checked: they are only ever set as text
// (textContent, setAttribute on harmless attributes), never as markup.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("report-data").textContent);
  const topics = data.topics; // of a tree only the largest
  const byNumber = new Map(topics.map((topic) => [topic.number, topic]));
  const nTopics = data.tree === null ? topics.length : data.tree.n_topics;
  const page = pageTools();
  const { byId, el, svg, whole, plural, moreText, percent, word, bar, capital, textAt, textWidth, shortNames } = page;
  const fit = fitSection(data.fit, { unit: "token", column: "n_topics", noun: "topics", over: "the documents" });
  const PAGE = 20;
  const gist = (topic, n) =>
    topic.words
      .slice(0, n)
      .map((entry) => entry.word)
      .join(", ");

  // ------------------------------------------------------------------------------------------------ stick and map
  const tip = byId("tip");
  function showTip(text, x, y) {
    tip.textContent = text;
    tip.hidden = false;
    tip.style.left = `${Math.max(8, Math.min(x + 14, innerWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${y + 18 + tip.offsetHeight > innerHeight ? y - 12 - tip.offsetHeight : y + 18}px`;
  }
  const hideTip = () => {
    tip.hidden = true;
  };
  function withTip(node, topic) {
    node.addEventListener("pointermove", (event) => {
      if (event.pointerType === "touch") return;
      showTip(
        `#${topic.number} ${topic.label} · ${percent(topic.token_share)} of the tokens · ${gist(topic, 7)}`,
        event.clientX,
        event.clientY,
      );
    });
    node.addEventListener("pointerleave", hideTip);
    node.addEventListener("click", () => {
      hideTip();
      location.hash = `topic-${topic.number}`;
    });
    return node;
  }

  function drawStick() {
    if (data.tree !== null) {
      byId("stick-figure").hidden = true;
      return;
    } // the tree has a picture of its own
    const holder = byId("stick"),
      width = holder.clientWidth,
      height = 56,
      broken = [...topics].sort((a, b) => b.token_share - a.token_share);
    const total = topics.reduce((sum, topic) => sum + topic.token_share, 0);
    const picture = svg("svg", {
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": `Shares of tokens of ${topics.length} topics, from ${percent(broken[0].token_share)} down; the list below has them all`,
    });
    let x = 0;
    const named = shortNames(); // no two pieces with the same name
    broken.forEach((topic, i) => {
      const length = (topic.token_share / total) * width,
        gap = length > 4 ? 1.5 : 0,
        shade = i % 2 ? "b" : "a";
      picture.append(
        withTip(
          svg("rect", { x, y: 0, width: Math.max(0, length - gap), height, rx: Math.min(3, length / 4), class: shade }),
          topic,
        ),
      );
      const name = named(topic, (text) => textWidth(text) < length - 14);
      if (name !== null) picture.append(textAt(name, { x: x + 8, y: height - 10, class: `on-${shade}` }));
      x += length;
    });
    holder.replaceChildren(picture);
  }

  function topicLink(topic, share = null) {
    return el(
      "a",
      { href: `#topic-${topic.number}` },
      el("span", { class: "number" }, `#${topic.number} `),
      word(topic.label),
      share === null ? null : el("b", {}, share),
    );
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
    const item = el(
      "li",
      {},
      el(
        "a",
        { class: "row", href: `#topic-${topic.number}` },
        el("span", { class: "number" }, `#${topic.number}`),
        words,
        el("span", { class: "share" }, bar(topic.token_share / largestShare), el("b", {}, percent(topic.token_share))),
        el("span", { class: "chevron aside", "aria-hidden": "true" }),
      ),
    );
    rows.set(topic.index, item);
    return item;
  }
  const last = (v) => (v === null ? Infinity : -v);
  const orders = {
    share: (t) => -t.token_share,
    index: (t) => t.number,
    present: (t) => -t.n_present,
    coherence: (t) => last(t.coherence),
    exclusivity: (t) => last(t.exclusivity),
  };
  const haystacks = topics.map((topic) =>
    [
      `#${topic.number}`,
      topic.label,
      ...topic.words.map((entry) => entry.word),
      ...topic.documents.map(([place]) => data.documents[place].name),
    ]
      .join("\n")
      .toLowerCase(),
  );
  const listed =
    nTopics > topics.length
      ? `the ${whole(topics.length)} largest of ${plural(nTopics, "topic")}`
      : plural(topics.length, "topic");
  let limit = PAGE,
    current = [];
  function select() {
    const asked = byId("query").value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const key = orders[byId("order").value];
    const fits = (topic, part) =>
      (/^#?\d+$/.test(part) && `#${topic.number}` === `#${part.replace("#", "")}`) ||
      haystacks[topic.index].includes(part);
    current = topics
      .filter((topic) => asked.every((part) => fits(topic, part)))
      .sort((a, b) => key(a) - key(b) || a.index - b.index);
  }
  function drawList() {
    const list = byId("list"),
      shown = current.slice(0, limit),
      rest = current.length - shown.length;
    list.replaceChildren(...shown.map(row));
    byId("count").textContent =
      current.length === topics.length
        ? `${capital(listed)}. Choose one to see its words and documents. Bars are compared with the largest topic.`
        : current.length
          ? `${whole(current.length)} of ${listed}.`
          : "No topic has these words. Try fewer letters, or another word.";
    const more = byId("more");
    more.hidden = rest <= 0;
    more.textContent = moreText(rest, 10 * PAGE);
  }
  const refresh = () => {
    limit = PAGE;
    select();
    drawList();
  };
  const tableRows = () => [
    [
      "topic",
      "label",
      "share",
      "documents_5_percent",
      "documents_largest",
      "coherence_npmi",
      "exclusivity",
      "found_in_other_fits",
      "words",
    ],
    ...topics.map((t) => [
      t.number,
      t.label,
      t.token_share,
      t.n_present,
      t.n_largest,
      t.coherence,
      t.exclusivity,
      t.found,
      t.words.map((entry) => entry.word).join(" "),
    ]),
  ];

  // ------------------------------------------------------------------------------------------------ the parts
  const tools = { ...page, withTip, topicLink, showTip, hideTip };
  let pages = null;
  const tree =
    data.tree === null
      ? null
      : topicTree(data.tree, {
          ...tools,
          headedWords: (node) => pages.headedWords(node),
          hasTopic: (number) => byNumber.has(number),
        });
  if (tree !== null) {
    byId("tree").hidden = false;
    document.querySelector('nav a[href="#tree"]').hidden = false;
  }
  const map = topicMap(topics, tree === null ? "the groups of the overview" : "the branches of the tree", tools),
    grouped = groupedSections(data, tools),
    documents = documentPages(data, tools);
  let lastGroups = null;
  const regroup = (groups) => {
    lastGroups = groups;
    if (byId("page").hidden) {
      map.regroup(groups);
      grouped.regroup(groups);
    }
  };
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
    if (section) section.scrollIntoView();
    else if (target === "home" || was) scrollTo(0, was ? left : 0);
  }
  // What an address asks for that is not here; empty where it is, or asks for no such thing.
  function missing(kind, name) {
    if (kind === "topic") {
      const numbers = topics.map((topic) => topic.number);
      const all = nTopics > topics.length || data.tree !== null ? "" : `, numbered from ${Math.min(...numbers)} to ${Math.max(...numbers)}`;
      return `No topic here has the number ${name}. This report has ${listed}${all}.`;
    }
    if (kind === "document")
      return `The document in row ${name} is not in this report. It shows ${whole(data.documents.length)} of ${plural(data.corpus.n_documents, "document")}.`;
    return kind === "tree" && !tree?.has(name) ? `The tree on this page has no node ${name}.` : "";
  }
  function tellMissing(text) {
    byId("missing").textContent = text;
    byId("missing").hidden = !text;
    if (text) scrollTo(0, 0);
  }
  function openFromAddress() {
    hideTip();
    const address = decodeURIComponent(location.hash.slice(1)),
      found = /^(topic|document|tree)-([\d.]+)$/.exec(address);
    const topic = found && found[1] === "topic" ? byNumber.get(Number(found[2])) : null,
      one = found && found[1] === "document" ? documents.find(Number(found[2])) : null;
    if (topic) showPage(pages.page(topic));
    else if (one) showPage(documents.page(one));
    else showHome(address);
    if (tree !== null && !topic && !one) tree.openFromAddress();
    tellMissing(found && !topic && !one ? missing(found[1], found[2]) : "");
  }
  const groupsApart = () => (tree === null ? [{ name: "all topics", topics }] : tree.groupsOf(topics)); // where there is no path
  function drawPictures() {
    drawStick();
    if (tree !== null) tree.draw();
    if (path !== null) path.draw();
    else regroup(groupsApart());
  }

  function start() {
    drawHeadline(data, nTopics, topicLink);
    fit.drawText();
    fit.drawSettings();
    drawNotes(data);
    refresh();
    map.start();
    grouped.start();
    documents.start();
    byId("topics-csv").append(csvButton(tableRows));
    if (topics.length < 3) {
      byId("map").hidden = true; // nothing to place
      document.querySelector('nav a[href="#map"]').hidden = true;
    }
    if (path !== null) path.start();
    else regroup(groupsApart());
    drawStick();
    if (tree !== null) tree.draw();
    byId("query").addEventListener("input", refresh);
    byId("order").addEventListener("change", refresh);
    byId("controls").addEventListener("submit", (event) => event.preventDefault());
    byId("more").addEventListener("click", () => {
      limit += 10 * PAGE;
      drawList();
    });
    byId("back").addEventListener("click", (event) => {
      event.preventDefault();
      history.pushState(null, "", "#home");
      openFromAddress();
    });
    let width = innerWidth;
    addEventListener("resize", () => {
      if (innerWidth !== width) {
        width = innerWidth;
        if (byId("page").hidden) drawPictures();
      }
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      if (byId("page").hidden) drawPictures();
      else openFromAddress();
    });
    addEventListener("hashchange", openFromAddress);
    fit.draw();
    openFromAddress();
  }
  start();
})();
