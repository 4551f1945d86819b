// The documents of the report: a search over these, and a page for each with the topic of every word.
"use strict";
function documentPages(data, tools) {
  const { byId, el, whole, percent, plural, moreText, word, bar, topicLink, withCode } = tools;
  const { documents, topics, columns } = data;
  const PAGE = 8,
    MORE = 40; // documents in the list at first, and more at a time
  const haystacks = documents.map((one) =>
    [one.name, one.snippet ?? "", ...one.words, ...one.values.map((v) => v ?? "")].join("\n").toLowerCase(),
  );
  const chosen = data.span ?? data.corpus;
  const nAll = chosen.n_documents - chosen.n_empty, // those without a known word are never shown
    nOthers = nAll - documents.length,
    told = documents.some((one) => one.snippet !== null) ? "passage" : "telling words";
  let limit = PAGE;

  // The best example of each topic, the largest topic first, then the second best ones: neighbours in the list differ.
  const places = new Set(),
    bySize = [...topics].sort((a, b) => b.token_share - a.token_share);
  for (let rank = 0; bySize.some((topic) => rank < topic.documents.length); rank++)
    for (const topic of bySize) if (rank < topic.documents.length) places.add(topic.documents[rank][0]);
  documents.forEach((_, i) => places.add(i));

  function link(one, name = one.name) {
    const node = el("a", { href: `#document-${one.row}` }, word(name));
    return node;
  }
  const facts = (one) =>
    columns.map((name, i) => [name, one.values[i]]).filter(([, value]) => value !== null && value !== undefined);

  // The words of a passage, each with the colour of its topic, or only those of one topic marked, or none (false).
  function passage(one, only = null) {
    const quote = el("blockquote", { dir: "auto" });
    const rank = new Map(one.topics.slice(0, 5).map(([k], i) => [k, i]));
    for (const piece of (one.snippet ?? "").split(/([\p{L}\p{M}\p{N}_]+)/u)) {
      const k = Object.hasOwn(one.marks, piece.toLowerCase()) ? one.marks[piece.toLowerCase()] : null;
      if (k === null || only === false || (only !== null && k !== only) || (only === null && !rank.has(k))) {
        quote.append(piece);
        continue;
      }
      const node = el("mark", only === null ? { class: "tint", title: topics[k].label } : {}, piece);
      if (only === null) node.style.setProperty("--tint", charts.hue(rank.get(k)));
      quote.append(node);
    }
    return quote;
  }
  function telling(one) {
    const node = el("p", { class: "telling" });
    one.words.forEach((text, i) => node.append(i ? ", " : "", word(text)));
    return node;
  }
  function item(one, share = null, only = null) {
    const name = el("span", { class: "name" }, link(one));
    const said = share === null ? plural(one.n_tokens, "word") : `${percent(share)} of ${plural(one.n_tokens, "word")}`;
    const beside = facts(one)
      .map(([, value]) => value)
      .join(" · ");
    return el(
      "li",
      {},
      el("div", { class: "head" }, name, el("span", { class: "meta" }, said)),
      beside ? el("p", { class: "beside" }, word(beside)) : null,
      one.snippet === null ? telling(one) : passage(one, only),
      only === false
        ? el(
            "ul",
            { class: "similar small" },
            ...one.topics.slice(0, 3).map(([k, part]) => el("li", {}, topicLink(topics[k], percent(part)))),
          )
        : null,
    );
  }
  function drawList() {
    const asked = byId("document-query").value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const found = [...places]
      .filter((i) => asked.every((part) => haystacks[i].includes(part)))
      .map((i) => documents[i]);
    const line = asked.length
      ? found.length
        ? `${whole(found.length)} of the ${plural(documents.length, "document")} in this report.`
        : `None of the ${plural(documents.length, "document")} in this report has this text in its name, its columns or its ${told}. ${nOthers > 0 ? `${plural(nOthers, "other document")} may: \`stickbreak search MODEL WORD\` finds the topics of a word, \`stickbreak documents MODEL INPUT --topic NUMBER\` their documents.` : "Try less of it."}`
      : nOthers > 0
        ? `${plural(documents.length, "document")} of ${whole(nAll)}: the examples of all topics, and random others. The search finds only these.`
        : `All ${plural(documents.length, "document")}.`;
    byId("document-count").replaceChildren(...withCode(line));
    byId("document-list").replaceChildren(...found.slice(0, limit).map((one) => item(one, null, false)));
    const more = byId("document-more"),
      rest = found.length - limit;
    more.hidden = rest <= 0;
    more.textContent = moreText(rest, MORE);
  }
  function page(one) {
    const list = el("ol", { class: "of-document" });
    one.topics.forEach(([k, share], i) => {
      const key = el("i", { class: "key" });
      key.style.background = i < 5 ? charts.hue(i) : "transparent";
      list.append(el("li", {}, key, topicLink(topics[k]), bar(share), el("b", {}, percent(share))));
    });
    const told = el(
      "dl",
      { class: "numbers" },
      ...[["Words that the model knows", whole(one.n_tokens)], ["Row", whole(one.row)], ...facts(one)].map(
        ([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, word(value))),
      ),
    );
    return [
      el("h2", { id: "page-heading", tabindex: -1, dir: "auto" }, one.name),
      told,
      el("h3", {}, "Its topics"),
      list,
      el(
        "h3",
        {},
        one.snippet === null
          ? "Its most telling words"
          : "A passage; each word has the colour of its most probable topic",
      ),
      one.snippet === null ? telling(one) : passage(one),
    ];
  }
  const byRow = new Map(documents.map((one) => [one.row, one]));
  function start() {
    byId("document-label").textContent =
      `Search names, columns and ${told === "passage" ? "passages" : told} of ${nOthers > 0 ? `these ${plural(documents.length, "document")}` : "all documents"}`;
    byId("document-query").addEventListener("input", () => {
      limit = PAGE;
      drawList();
    });
    byId("document-form").addEventListener("submit", (event) => event.preventDefault());
    byId("document-more").addEventListener("click", () => {
      limit += MORE;
      drawList();
    });
    const shares = (one) => one.topics.map(([k, share]) => `${topics[k].number}: ${share}`).join("; ");
    byId("document-csv").append(
      csvButton(() => [
        ["row", "name", "tokens", "topics", ...columns],
        ...documents.map((one) => [one.row, one.name, one.n_tokens, shares(one), ...one.values]),
      ]),
    );
    drawList();
  }
  return { start, page, item, find: (row) => byRow.get(row) };
}
