// The map of topics: nearness is likeness of words, groups of topics are regions. Wheel, keys, drag and buttons zoom.
"use strict";
function topicMap(topics, groupNames, tools) {
  const { byId, el, svg, percent, word, textAt, textWidth, withTip, byRelevance, shortNames } = tools;
  const MOST_LABELS = 70,
    MOST_NARROW = 16, // labels on a narrow screen, where they would hide the discs
    WORDS = 15,
    RELEVANCE = 0.6; // of the words beside the map: what Sievert and Shirley found best to read
  let view = { x: 0, y: 0, scale: 1 },
    groups = [],
    told = topics.reduce((a, b) => (b.token_share > a.token_share ? b : a));
  const discs = new Map(); // of topics that are drawn

  function hull(points) {
    // by the monotone chain of Andrew
    const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    const turn = (o, a, b) => (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
    const half = (list) => {
      const line = [];
      for (const p of list) {
        while (line.length > 1 && turn(line.at(-2), line.at(-1), p) <= 0) line.pop();
        line.push(p);
      }
      return line.slice(0, -1);
    };
    return sorted.length < 3 ? sorted : [...half(sorted), ...half([...sorted].reverse())];
  }
  // The topics of a group that lie together: each topic within `reach` of another one. A group may lie in several places.
  const reach = Math.min(0.3, 1.9 / Math.sqrt(topics.length));
  function places(group) {
    const left = new Set(group),
      found = [];
    for (const first of group) {
      if (!left.delete(first)) continue;
      const place = [first];
      for (const one of place) {
        for (const other of left) {
          if (Math.hypot(one.position[0] - other.position[0], one.position[1] - other.position[1]) > reach) continue;
          left.delete(other);
          place.push(other);
        }
      }
      found.push(place);
    }
    return found.filter((place) => place.length > 1);
  }
  function draw() {
    const holder = byId("map-plot"),
      width = holder.clientWidth,
      height = width < 600 ? 380 : 520,
      margin = 50;
    const picture = svg("svg", {
      viewBox: `0 0 ${width} ${height}`,
      height,
      role: "img",
      tabindex: 0,
      "aria-label":
        "Map of topics by the similarity of their words; the list of topics has them all. Plus and minus zoom, the arrow keys move.",
    });
    // A topic far from all others would leave most of the map empty: it stands at the edge.
    const scale = (axis, span) => {
      const values = topics.map((topic) => topic.position[axis]).sort((a, b) => a - b),
        at = (part) => values[Math.round(part * (values.length - 1))],
        spare = 0.3 * (at(0.95) - at(0.05)),
        low = Math.max(values[0], at(0.05) - spare),
        high = Math.min(values.at(-1), at(0.95) + spare);
      const within = (v) => (Math.max(low, Math.min(high, v)) - low) / (high - low);
      return (v) => (high > low ? margin + within(v) * (span - 2 * margin) : span / 2);
    };
    const baseX = scale(0, width),
      baseY = scale(1, height);
    const atX = (topic) => (baseX(topic.position[0]) - width / 2) * view.scale + width / 2 + view.x;
    const atY = (topic) => (baseY(topic.position[1]) - height / 2) * view.scale + height / 2 + view.y;
    const largest = Math.max(...topics.map((topic) => topic.token_share), 1e-9);
    discs.clear();
    const biggest = Math.min(28, 5 + 110 / Math.sqrt(topics.length)) * Math.sqrt(view.scale);
    const radius = (topic) => Math.max(3, biggest * Math.sqrt(topic.token_share / largest));
    groups.forEach((group, i) => {
      for (const place of places(group.topics)) {
        const line = hull(place.map((topic) => [atX(topic), atY(topic)]));
        const title = svg("title");
        title.textContent = group.name;
        picture.append(
          svg(
            "polygon",
            {
              class: "region",
              points: line.map((p) => p.map((v) => v.toFixed(1)).join(",")).join(" "),
              fill: charts.hue(i),
              stroke: charts.hue(i),
              "stroke-width": 2 * biggest,
            },
            title,
          ),
        );
      }
    });
    const order = new Map(groups.flatMap((group, i) => group.topics.map((topic) => [topic.index, i])));
    const shown = [...topics]
      .sort((a, b) => b.token_share - a.token_share)
      .map((topic) => ({ topic, x: atX(topic), y: atY(topic), r: radius(topic) }))
      .filter((p) => p.x > -p.r && p.x < width + p.r && p.y > -p.r && p.y < height + p.r);
    for (const p of shown) {
      const tone = charts.hue(order.get(p.topic.index) ?? 0),
        at = { cx: p.x.toFixed(1), cy: p.y.toFixed(1), r: p.r.toFixed(1) };
      const disc = withTip(svg("circle", { ...at, fill: tone, stroke: tone }), p.topic);
      disc.addEventListener("pointerenter", () => tellWords(p.topic));
      discs.set(p.topic, disc);
      picture.append(disc);
    }
    const taken = [],
      named = shortNames(),
      [most, longest] = width < 600 && view.scale < 1.8 ? [MOST_NARROW, 20] : [MOST_LABELS, 30];
    for (const p of shown) {
      if (taken.length >= most) break;
      const name = named(p.topic, (text) => text.split(", ").length <= (view.scale > 1.8 ? 3 : 2) && text.length <= longest);
      if (name === null) continue;
      const w = textWidth(name) + 6;
      const box = { left: Math.max(2, Math.min(p.x - w / 2, width - w - 2)), top: p.y + p.r, w, h: 17 };
      if (
        taken.some(
          (o) =>
            box.left < o.left + o.w && o.left < box.left + box.w && box.top < o.top + o.h && o.top < box.top + box.h,
        )
      )
        continue;
      taken.push(box);
      picture.append(textAt(name, { x: box.left + w / 2, y: p.y + p.r + 13, "text-anchor": "middle" }));
    }
    picture.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey && !event.metaKey && view.scale === 1 && event.deltaY > 0) return;
        event.preventDefault();
        zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, event.offsetX - width / 2, event.offsetY - height / 2);
      },
      { passive: false },
    );
    picture.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] }[event.key];
      if (event.key === "+" || event.key === "=") zoom(1.4);
      else if (event.key === "-") zoom(1 / 1.4);
      else if (step) move(...step);
      else return;
      event.preventDefault();
      byId("map-plot").firstElementChild.focus({ preventScroll: true });
    });
    let from = null;
    picture.addEventListener("pointerdown", (event) => {
      if (view.scale > 1) from = [event.clientX, event.clientY, view.x, view.y];
    });
    picture.addEventListener("pointermove", (event) => {
      if (from && event.buttons) {
        view = { ...view, x: from[2] + event.clientX - from[0], y: from[3] + event.clientY - from[1] };
      }
    });
    picture.addEventListener("pointerup", (event) => {
      if (from && Math.hypot(event.clientX - from[0], event.clientY - from[1]) > 6) draw();
      from = null;
    });
    holder.replaceChildren(picture);
    discs.get(told)?.classList.add("told");
  }
  // The words of a topic beside the map: how often each is in all documents, and how much of that is in the topic.
  function tellWords(topic) {
    discs.get(told)?.classList.remove("told");
    told = topic;
    discs.get(topic)?.classList.add("told");
    const chosen = byRelevance(topic, RELEVANCE).slice(0, WORDS),
      whole = (entry) => entry.probability / entry.lift, // of all tokens
      here = (entry) => Math.min(1, entry.lift * topic.token_share); // of the tokens of the word
    const top = Math.max(...chosen.map(whole), 1e-12),
      list = el("ol", { class: "words" });
    for (const entry of chosen) {
      const all = el("u"),
        part = el("i");
      all.style.width = `${(100 * whole(entry)) / top}%`;
      part.style.width = `${(100 * here(entry) * whole(entry)) / top}%`;
      const bars = el("span", { class: "bar", "aria-hidden": "true" }, all, part);
      const line = el("li", { tabindex: 0 }, word(entry.word), bars, el("span", { class: "p" }, `${Math.round(100 * here(entry))}%`));
      for (const kind of ["pointerenter", "focus"]) line.addEventListener(kind, () => tellTopics(entry.word));
      for (const kind of ["pointerleave", "blur"]) line.addEventListener(kind, () => tellTopics(null));
      list.append(line);
    }
    const link = el("a", { href: `#topic-${topic.number}` }, `#${topic.number} `, word(topic.label));
    byId("map-words").replaceChildren(
      el("h3", {}, link),
      el("p", {}, `${percent(topic.token_share)} of all tokens. Its most relevant words: bars are all their tokens, the strong part those in this topic.`),
      list,
    );
  }
  // The discs of topics that have a word among theirs stay, the more of its tokens they have the stronger; null: all do.
  function tellTopics(asked) {
    const parts = new Map();
    for (const topic of discs.keys()) {
      const entry = [...topic.words, ...topic.more_words].find((one) => one.word === asked);
      if (entry) parts.set(topic, (entry.lift ?? 0) * topic.token_share);
    }
    const top = Math.max(...parts.values(), 1e-12);
    for (const [topic, disc] of discs) {
      const part = parts.has(topic) ? 0.4 + 0.6 * (parts.get(topic) / top) : 0.1;
      disc.style.opacity = asked === null ? "" : part;
    }
  }
  function zoom(by, x = 0, y = 0) {
    const scale = Math.max(1, Math.min(12, view.scale * by)),
      ratio = scale / view.scale;
    view = scale === 1 ? { x: 0, y: 0, scale: 1 } : { scale, x: x - (x - view.x) * ratio, y: y - (y - view.y) * ratio };
    draw();
  }
  function move(x, y) {
    view = { ...view, x: view.x + x, y: view.y + y };
    draw();
  }
  function regroup(found) {
    groups = found;
    draw();
  }
  function start() {
    const button = (text, name, act) => {
      const node = el("button", { type: "button", "aria-label": name }, text);
      node.addEventListener("click", act);
      return node;
    };
    byId("map-hint").textContent =
      `Topics lie near each other if they use similar words or share documents; the directions have no meaning. Colours and regions are ${groupNames}. The area of a disc is the share of tokens of the topic. Point at a disc to see its words beside or below the map, and at one of these to see which topics share it. Choose a disc to open its topic.`;
    tellWords(told);
    byId("map-buttons").append(
      button("+", "Zoom in", () => zoom(1.5)),
      button("−", "Zoom out", () => zoom(1 / 1.5)),
      button("Whole map", "Show the whole map", () => zoom(1e-9)),
    );
  }
  return { start, draw, regroup };
}
