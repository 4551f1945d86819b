// The overview: topics joined in groups, down to one. A slider says how many groups, each opens to its topics, and a tree
// shows which of the groups join next.
"use strict";
function pathSection(path, topics, tools) {
  const { byId, el, svg, word, whole, fixed, plural, moreText, percent, bar, textAt, textWidth, topicLink, regroup } = tools;
  const K = topics.length,
    PAGE = Math.max(20, path.overview),
    MORE = 200,
    MOST_LEAVES = 200;
  // Cluster k < K is topic k, cluster K + i what join i made, as in SciPy. `until`: the least number of topics with it.
  const clusters = [...topics]
    .sort((a, b) => a.number - b.number)
    .map((topic) => ({
      topics: [topic],
      share: topic.token_share,
      label: topic.label,
      words: topic.words.map((entry) => entry.word),
      height: 0,
      parts: null,
    }));
  path.joins.forEach((join, i) => {
    const parts = [clusters[join.left], clusters[join.right]];
    clusters.push({
      topics: parts.flatMap((part) => part.topics),
      share: parts[0].share + parts[1].share,
      label: join.label,
      words: join.words,
      height: path.heights[i],
      parts,
    });
  });
  const scored = path.scores.length > 0; // else joined by likeness
  let shown = path.overview,
    limit = PAGE;
  const open = new Set(); // clusters whose topics are listed

  function groups(n) {
    const left = new Set(clusters.slice(0, K));
    for (const made of clusters.slice(K, K + K - n)) {
      for (const part of made.parts) left.delete(part);
      left.add(made);
    }
    return [...left].sort((a, b) => b.share - a.share);
  }
  const score = (n) => path.scores[K - n],
    error = (n) => path.standard_errors[K - n];

  // ------------------------------------------------------------------------------------------------ the curve
  function drawCurve() {
    if (!scored) return;
    const holder = byId("path-curve"),
      width = holder.clientWidth,
      height = 150,
      left = 52,
      bottom = 26,
      top = 10,
      right = 12;
    const low = Math.min(...path.scores),
      high = Math.max(...path.scores.map((v, i) => v + path.standard_errors[i]));
    const atX = (n) => left + ((n - 1) / Math.max(1, K - 1)) * (width - left - right);
    const atY = (v) => top + ((high - v) / Math.max(1e-12, high - low)) * (height - top - bottom);
    const numbers = path.scores.map((_, i) => K - i).reverse();
    const line = (f) => numbers.map((n) => `${atX(n).toFixed(1)},${atY(f(n)).toFixed(1)}`);
    const picture = svg("svg", {
      viewBox: `0 0 ${width} ${height}`,
      height,
      role: "img",
      "aria-label": `Score of words taken out against the number of topics: ${fixed(score(K), 3)} for ${K}, ${fixed(score(shown), 3)} for ${shown}, ${fixed(score(1), 3)} for 1`,
    });
    const band = [...line((n) => score(n) + error(n)), ...line((n) => Math.max(low, score(n) - error(n))).reverse()];
    picture.append(
      svg("polygon", { class: "area", points: band.join(" ") }),
      svg("polyline", { class: "edge", points: line(score).join(" ") }),
    );
    picture.append(
      svg("line", { class: "baseline", x1: left, x2: width - right, y1: height - bottom, y2: height - bottom }),
    );
    picture.append(
      svg("line", { class: "now", x1: atX(shown), x2: atX(shown), y1: top - 6, y2: height - bottom }),
      svg("circle", { class: "now", cx: atX(shown), cy: atY(score(shown)), r: 4.5 }),
    );
    for (const v of [path.scores[K - 1], Math.max(...path.scores)])
      picture.append(textAt(fixed(v, 2), { x: left - 8, y: atY(v) + 4, "text-anchor": "end" }));
    picture.append(
      textAt("1", { x: left, y: height - 8, "text-anchor": "middle" }),
      textAt(plural(K, "topic"), { x: width - right, y: height - 8, "text-anchor": "end" }),
    );
    picture.addEventListener("click", (event) => {
      const box = picture.getBoundingClientRect();
      show(Math.round(1 + ((event.clientX - box.left - left) / (width - left - right)) * (K - 1)));
    });
    holder.replaceChildren(picture);
  }

  // ------------------------------------------------------------------------------------------------ the groups
  function row(group) {
    const several = group.topics.length > 1;
    if (!several) return single(group.topics[0]);
    const words = el("span", { class: "gist" }, word(group.label), el("br")),
      told = el("small");
    for (const text of group.words.slice(0, 8)) told.append(word(text), " ");
    words.append(told);
    const summary = el(
      "summary",
      {},
      el("span", { class: "number" }, plural(group.topics.length, "topic")),
      words,
      el("span", { class: "share" }, bar(group.share / largest), el("b", {}, percent(group.share))),
      el("span", { class: "chevron", "aria-hidden": "true" }),
    );
    const box = el("details", {}, summary);
    const fill = () => {
      if (box.childElementCount === 1) box.append(members(group));
    };
    if (open.has(group)) {
      box.open = true;
      fill();
    }
    box.addEventListener("toggle", () => {
      if (box.open) {
        fill();
        open.add(group);
      } else open.delete(group);
    });
    return el("li", {}, box);
  }
  function single(topic) {
    // a group of one is the topic itself
    const words = el("span", { class: "gist" }, word(topic.label), el("br")),
      told = el("small");
    for (const entry of topic.words.slice(0, 8)) told.append(word(entry.word), " ");
    words.append(told);
    return el(
      "li",
      {},
      el(
        "a",
        { class: "row", href: `#topic-${topic.number}` },
        el("span", { class: "number" }, `#${topic.number}`),
        words,
        el("span", { class: "share" }, bar(topic.token_share / largest), el("b", {}, percent(topic.token_share))),
        el("span", { class: "chevron aside", "aria-hidden": "true" }),
      ),
    );
  }
  function members(group) {
    const list = el("ul", { class: "children" });
    for (const topic of [...group.topics].sort((a, b) => b.token_share - a.token_share)) {
      const words = el("span", { class: "gist" });
      words.append(word(topic.label));
      list.append(
        el(
          "li",
          {},
          el(
            "a",
            { href: `#topic-${topic.number}` },
            el("span", { class: "number" }, `#${topic.number}`),
            words,
            el(
              "span",
              { class: "share" },
              bar(topic.token_share / group.share),
              el("b", {}, percent(topic.token_share)),
            ),
          ),
        ),
      );
    }
    return el("div", { class: "members" }, list);
  }
  let largest = 1;
  function drawGroups(found) {
    largest = Math.max(found[0].share, 1e-9);
    byId("path-groups").replaceChildren(...found.slice(0, limit).map(row));
    const rest = found.length - limit,
      more = byId("path-more");
    more.hidden = rest <= 0;
    more.textContent = moreText(rest, MORE);
  }

  // ------------------------------------------------------------------------------------------------ the tree of joins
  function cut(text, room) {
    const letters = Array.from(text);
    if (textWidth(text) <= room) return text;
    while (letters.length > 1 && textWidth(`${letters.join("")}…`) > room) letters.pop();
    return `${letters.join("")}…`;
  }
  function leaf(group, x, y) {
    const [topic, ...others] = group.topics,
      before = others.length ? "" : `#${topic.number} `,
      after = others.length ? ` (${whole(group.topics.length)})` : "";
    const room = x - 4 - textWidth(before + after),
      text = textAt(`${before}${cut(group.label, room)}${after}`, { x, y, "text-anchor": "end" });
    return others.length ? text : svg("a", { href: `#topic-${topic.number}` }, text);
  }
  function drawTree() {
    const holder = byId("path-tree"),
      width = holder.clientWidth,
      n = Math.min(shown, MOST_LEAVES),
      leaves = new Set(groups(n));
    byId("path-tree-hint").textContent =
      n < 2
        ? "All topics are one."
        : `The ${n < shown ? `last ${n} groups, of ${shown}` : `${n} groups`}, with the number of their topics, and in which order they join: the further to the right, the ${scored ? "more a join costs held-out words" : "less alike is what is joined"}.`;
    holder.hidden = n < 2;
    if (n < 2) return;
    const tall = 22,
      height = n * tall + 6,
      label = Math.min(300, width * 0.46);
    const drawn = path.heights.slice(1 - n).map(Math.sqrt),
      low = drawn[0],
      room = width - label - 14; // heights never fall
    const part = (v) => (drawn[n - 2] > low ? 0.1 + (0.9 * (v - low)) / (drawn[n - 2] - low) : 1);
    const atX = (group) => label + 8 + (leaves.has(group) ? 0 : part(Math.sqrt(group.height)) * room);
    const picture = svg("svg", {
      viewBox: `0 0 ${width} ${height}`,
      height,
      role: "group",
      "aria-label": `Tree of ${n} groups of topics, by the order in which they join; the list above has the groups`,
    });
    let line = 0;
    const place = (group) => {
      if (leaves.has(group)) {
        const y = tall * line + tall / 2 + 3;
        line += 1;
        picture.append(leaf(group, label, y + 4));
        return y;
      }
      const at = group.parts.map(place),
        x = atX(group);
      group.parts.forEach((part, i) => picture.append(svg("line", { x1: atX(part), x2: x, y1: at[i], y2: at[i] })));
      picture.append(svg("line", { x1: x, x2: x, y1: at[0], y2: at[1] }));
      return (at[0] + at[1]) / 2;
    };
    place(clusters[clusters.length - 1]);
    holder.replaceChildren(picture);
  }

  // ------------------------------------------------------------------------------------------------ the slider
  function tell() {
    byId("path-number").textContent = plural(shown, "group");
    if (!scored) return;
    const lost = score(path.best) - score(shown),
      best = path.best < K ? plural(path.best, "group") : "all topics";
    byId("path-told").textContent =
      lost > 2 * error(shown)
        ? `Words that were taken out are ${fixed(Math.exp(lost), 2)} times less probable than with ${best}: ${fixed(score(shown), 3)} nats per token, ${fixed(lost, 3)} below (standard error ${fixed(error(shown), 3)}).`
        : `No other number of groups is known to predict words that were taken out better: ${fixed(score(shown), 3)} nats per token.`;
  }
  function show(n) {
    shown = Math.max(1, Math.min(K, n));
    limit = PAGE;
    byId("path-slider").value = shown;
    draw();
  }
  function draw() {
    const found = groups(shown);
    tell();
    drawCurve();
    drawGroups(found);
    drawTree();
    regroup(
      found.map((group) => ({
        name: group.label,
        topics: [...group.topics].sort((a, b) => b.token_share - a.token_share),
      })),
    );
  }
  function joinsOf(topic) {
    // what the topic joins with on the way to one
    const found = [];
    for (const made of clusters.slice(K)) {
      if (!made.topics.includes(topic) || found.length >= 4) continue;
      const other = made.parts.find((part) => !part.topics.includes(topic));
      found.push(
        other.topics.length === 1
          ? topicLink(other.topics[0])
          : el("span", {}, word(`${plural(other.topics.length, "topic")}: ${other.label}`)),
      );
    }
    return found;
  }
  function start() {
    byId("overview").hidden = false;
    document.querySelector('nav a[href="#overview"]').hidden = false;
    byId("overview-hint").textContent =
      `${scored ? "Topics joined into groups, each time the pair that costs held-out words least." : "Topics joined into groups where they use similar words or share documents."} Choose how fine: fewer groups, or all topics. Bars of groups are compared with the largest group, those of topics with their group.`;
    byId("path-how").hidden = false;
    byId("path-curve").hidden = !scored;
    const slider = byId("path-slider");
    slider.max = K;
    slider.addEventListener("input", () => show(Number(slider.value)));
    const choices = new Map([[path.overview, ["an overview"]]]);
    for (const [n, name] of [...(path.best < K ? [[path.best, "predicts words better than all"]] : []), [K, "all"]])
      choices.set(n, [...(choices.get(n) ?? []), name]);
    for (const [n, names] of choices) {
      const button = el("button", { type: "button" }, `${whole(n)}: ${names.join(", ")}`);
      button.addEventListener("click", () => show(n));
      byId("path-choices").append(button);
    }
    byId("path-more").addEventListener("click", () => {
      limit += MORE;
      drawGroups(groups(shown));
    });
    const rows = () => [
      ["group", "group_label", "topic", "label", "share"],
      ...groups(shown).flatMap((group, i) =>
        group.topics.map((topic) => [i + 1, group.label, topic.number, topic.label, topic.token_share]),
      ),
    ];
    byId("path-csv").append(csvButton(rows));
    show(shown);
  }
  return { start, draw, joinsOf };
}
