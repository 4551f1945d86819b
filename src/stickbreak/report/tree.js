// The tree of topics: rows of nodes whose widths are their shares, to look closer at by choosing one. The address says
// which node is looked at (#tree-2.0.5), so that the way back in the browser leads up again.
"use strict";
function topicTree(tree, tools) {
  const { byId, el, svg, word, whole, plural, percent, term, textAt, textWidth, headedWords, showTip, hideTip, hasTopic } =
    tools;
  const MOST_BRANCHES = 24; // that have colours of their own on the map
  const LISTED = 12; // children in the list before all are asked for
  const TIGHT = 3,
    POINTED = 8,
    READABLE = 17; // pixels of width: narrower nodes are drawn as one; no row has only narrower ones; these have no word
  const nodes = tree.nodes.map((entry) => ({ ...entry, children: [] }));
  const [root] = nodes;
  const byPath = new Map();
  for (const node of nodes) {
    // parents come before their children, and larger children before smaller ones
    node.above = node.parent < 0 ? null : nodes[node.parent];
    node.level = node.above ? node.above.level + 1 : 0;
    node.path = node.above ? [...node.above.path, node.child] : [];
    node.share = node.n_tokens / root.n_tokens;
    node.own = node.n_own / root.n_tokens; // of its topic itself, none of them in a node below
    if (node.above) node.above.children.push(node);
    // What a node is called by: its words that are not also those of the node above, then the others.
    const shared = new Set((node.above?.words ?? []).map((entry) => entry.word)),
      all = node.words.map((entry) => entry.word);
    node.telling = [...all.filter((text) => !shared.has(text)), ...all.filter((text) => shared.has(text))];
    byPath.set(name(node), node);
  }
  let zoomed = root,
    marked = root,
    cells = new Map();

  function name(node) {
    return node.path.join(".") || "all";
  }
  // How many of its words call a node otherwise than others: n, or more where the first n are the same.
  const enough = (node, n, others = node.above?.children ?? []) =>
    others.reduce((most, other) => {
      const at = other === node ? 0 : node.telling.findIndex((text, i) => text !== other.telling[i]);
      return Math.max(most, at + 1);
    }, n);
  const gist = (node, n, others) => node.telling.slice(0, enough(node, n, others)).join(", ");
  // as a reader sees it: a tree that was given by names has them
  const title = (node) => (node.name ? `${name(node)} ${node.name}` : name(node));
  const size = (node) =>
    node.topic === null
      ? plural(node.n_topics, "topic")
      : `topic #${node.topic}${node.n_topics > 1 ? ` and ${whole(node.n_topics - 1)} below` : ""}`;
  const told = (node) => `${title(node)} · ${percent(node.share)} of the words · ${size(node)} · ${gist(node, 7)}`;
  const rest = (node, shown) => ({
    n: node.n_children - shown.length,
    share: node.share - node.own - shown.reduce((sum, child) => sum + child.share, 0),
  });
  function cut(text, room) {
    // to a width, in letters that a reader sees as such
    const letters = Array.from(text);
    if (textWidth(text) <= room) return text;
    while (letters.length > 1 && textWidth(`${letters.join("")}…`) > room) letters.pop();
    return `${letters.join("")}…`;
  }
  const address = (node) => `#tree-${name(node)}`;
  function way(node) {
    const nodesAbove = [];
    for (let at = node; at; at = at.above) nodesAbove.unshift(at);
    return nodesAbove;
  }
  function height(node, room, most) {
    // rows that have a node wide enough to point at, of which the largest children tell
    if (most <= 1) return 1;
    const wide = node.children
      .map((child) => [child, (child.share / node.share) * room])
      .filter(([, width]) => width >= POINTED);
    return (
      1 +
      wide.reduce(
        (tall, [child, width]) => Math.max(tall, height(child, width, most - 1)),
        wide.length || !node.children.length || node !== zoomed ? 0 : 1,
      )
    );
  }

  // ---------------------------------------------------------------------------------------------- the picture
  function drawPicture() {
    const holder = byId("tree-picture"),
      width = holder.clientWidth,
      tall = 62;
    const rows = height(zoomed, width, width < 600 ? 4 : 5);
    const picture = svg("svg", {
      viewBox: `0 0 ${width} ${rows * tall}`,
      height: rows * tall,
      role: "tree",
      tabindex: 0,
      "aria-label":
        "Tree of topics. The arrow keys move in it, Enter looks closer at a node, and Backspace goes back up.",
    });
    cells = new Map();
    place(zoomed, 0, width, 0, "a");
    holder.replaceChildren(picture);
    picture.addEventListener("keydown", steer);
    picture.addEventListener("focus", () => mark(marked, false));
    picture.addEventListener("blur", () => {
      hideTip();
      cells.get(marked)?.classList.remove("marked");
    });

    function place(node, x, room, row, shade, taken = new Map()) {
      const kind = node.n_children ? shade : "leaf",
        gap = room > 6 ? 1.5 : 0.5;
      const cell = svg("g", {
        class: `cell ${kind}`,
        id: `cell-${name(node)}`,
        role: "treeitem",
        "aria-level": node.level + 1,
        "aria-label": told(node),
      });
      cell.append(
        svg("rect", { x, y: row * tall, width: Math.max(0, room - gap), height: tall - 2, rx: Math.min(4, room / 4) }),
      );
      write(cell, node, x, room - gap, row * tall, taken);
      cell.addEventListener("click", () => {
        hideTip();
        go(node === zoomed ? (node.above ?? node) : node);
      });
      cell.addEventListener("pointermove", (event) => {
        if (event.pointerType !== "touch") showTip(told(node), event.clientX, event.clientY);
      });
      cell.addEventListener("pointerleave", hideTip);
      picture.append(cell);
      cells.set(node, cell);
      if (row + 1 >= rows) return;
      let left = x;
      const shown = node.children.filter((child) => (child.share / node.share) * room >= TIGHT),
        called = new Map(); // what children are called, and which
      shown.forEach((child, i) => {
        const wide = (child.share / node.share) * room;
        place(child, left, wide, row + 1, i % 2 ? "b" : "a", called);
        left += wide;
      });
      const others = rest(node, shown),
        own = (node.own / node.share) * room,
        left_over = x + room - left - own;
      if (others.n > 0 && left_over > 0.5)
        lump(node, `${whole(others.n)} smaller`, `${plural(others.n, "smaller node")} · ${percent(others.share)} of the words`, left, left_over, (row + 1) * tall);
      if (own > 0.5)
        lump(node, `#${node.topic} itself`, `topic #${node.topic} itself · ${percent(node.own)} of the words`, x + room - own, own, (row + 1) * tall);
    }
    // What has no node of its own: smaller nodes together, or the words of the node itself.
    function lump(node, label, text, x, room, y) {
      const cell = svg(
        "g",
        { class: "cell rest" },
        svg("rect", { x, y, width: Math.max(0.5, room - 1.5), height: tall - 2, rx: Math.min(4, room / 4) }),
      );
      if (textWidth(label) < room - 14) cell.append(textAt(label, { x: x + 8, y: y + 22 }));
      cell.addEventListener("click", () => {
        hideTip();
        go(node);
      });
      cell.addEventListener("pointermove", (event) => {
        if (event.pointerType !== "touch") showTip(text, event.clientX, event.clientY);
      });
      cell.addEventListener("pointerleave", hideTip);
      picture.append(cell);
    }
    function write(cell, node, x, room, y, taken) {
      const called = [...(node.name ? [node.name] : []), ...node.telling],
        side = textWidth(called[0]) < room - 15 ? 8 : 4, // beside a word that hardly fits
        fits = (text) => textWidth(text) < room - 2 * side + 1;
      if (room < READABLE) return;
      if (!fits(called[0]) && room < tall) {
        // there is more room upright
        const at = { x: x + room / 2 + 4, y: y + tall - 6 };
        const text = unlike((words) => cut(words[0], tall - 10));
        cell.append(textAt(text, { ...at, transform: `rotate(-90 ${at.x} ${at.y})` }));
        return;
      }
      cell.append(textAt(unlike(inside), { x: x + side, y: y + tall / 2 - 5 }));
      const long = `${percent(node.share)} · ${size(node)}`,
        short = percent(node.share);
      const second = fits(long) ? long : fits(short) ? short : "";
      if (second) cell.append(textAt(second, { x: x + side, y: y + tall / 2 + 14, class: "share-line" }));

      // As many words as there is room for.
      function inside(words) {
        let text = "";
        for (const one of words) {
          const longer = text ? `${text}${text === node.name ? ": " : ", "}${one}` : one;
          if (!fits(longer)) break;
          text = longer;
        }
        return text || cut(words[0], room - 2 * side + 1);
      }
      // A text that no sibling has: of words that those do not have which are called so, or else its place among them.
      function unlike(textOf) {
        let words = called;
        for (let text = textOf(words); taken.has(text); text = textOf(words)) {
          const other = taken.get(text).telling,
            own = words.filter((one) => !other.includes(one));
          words = own.length && own.length < words.length ? own : [name(node)];
          if (words[0] === name(node)) break;
        }
        const text = textOf(words);
        taken.set(text, node);
        return text;
      }
    }
  }
  function mark(node, withTip) {
    if (!cells.has(node)) node = zoomed;
    cells.get(marked)?.classList.remove("marked");
    marked = node;
    const cell = cells.get(node),
      box = cell.getBoundingClientRect();
    cell.parentNode.append(cell); // above its neighbours, whose gaps would cut its outline
    cell.classList.add("marked");
    cell.parentNode.setAttribute("aria-activedescendant", cell.id);
    if (withTip) showTip(told(node), box.left, box.bottom - 12);
  }
  function steer(event) {
    const beside =
      marked.above && marked !== zoomed ? marked.above.children.filter((child) => cells.has(child)) : [marked];
    const place = beside.indexOf(marked);
    const moves = {
      ArrowDown: () => marked.children.find((child) => cells.has(child)),
      ArrowUp: () => (marked === zoomed ? null : marked.above),
      ArrowLeft: () => beside[place - 1],
      ArrowRight: () => beside[place + 1],
      Home: () => beside[0],
      End: () => beside[beside.length - 1],
    };
    if (event.key === "Enter" || event.key === " ") {
      hideTip();
      go(marked);
    } else if (event.key === "Backspace" || event.key === "Escape") {
      hideTip();
      go(zoomed.above ?? root);
    } else if (event.key in moves) {
      const to = moves[event.key]();
      if (to) mark(to, true);
    } else return;
    event.preventDefault();
  }

  // ---------------------------------------------------------------------------------------------- the way, the node
  function link(node, ...content) {
    const anchor = el("a", { href: address(node) }, ...content);
    anchor.addEventListener("click", (event) => {
      event.preventDefault();
      go(node);
    });
    return anchor;
  }
  function drawWay() {
    const list = el("ol");
    for (const node of way(zoomed)) {
      const label = [
        el("span", { class: "path" }, node === root ? "All topics" : title(node)),
        node === root ? "" : " ",
        node === root ? "" : word(gist(node, 2)),
      ];
      const item = node === zoomed ? el("span", { "aria-current": "true" }, ...label) : link(node, ...label);
      list.append(el("li", {}, item));
    }
    byId("tree-way").replaceChildren(list);
  }
  function childList() {
    const list = el("ol", { class: "children" }),
      most = Math.max(...zoomed.children.map((child) => child.share), 1e-9);
    const row = (child) => {
      const words = el("span", { class: "gist" });
      for (const text of child.telling.slice(0, enough(child, 6))) words.append(word(text), " ");
      const fill = el("i");
      fill.style.width = `${(100 * child.share) / most}%`;
      return el(
        "li",
        {},
        link(
          child,
          el("span", { class: "number" }, child.topic === null ? title(child) : `#${child.topic} ${child.name ?? ""}`.trim()),
          words,
          el(
            "span",
            { class: "share" },
            el("span", { class: "bar", "aria-hidden": "true" }, fill),
            el("b", {}, percent(child.share)),
          ),
        ),
      );
    };
    const first = zoomed.children.slice(0, LISTED),
      later = zoomed.children.slice(LISTED),
      parts = [el("h3", {}, "Nodes below it, the largest first; bars are compared with the largest"), list];
    list.append(...first.map(row));
    if (later.length) {
      const more = el("button", { type: "button" }, `Show ${whole(later.length)} more`);
      more.addEventListener("click", () => {
        more.remove();
        list.append(...later.map(row));
        list.children[LISTED].firstElementChild.focus();
      });
      parts.push(el("p", {}, more));
    }
    const others = rest(zoomed, zoomed.children);
    if (others.n > 0)
      parts.push(
        el(
          "p",
          { class: "hint" },
          `${zoomed.children.length ? "And " : ""}${plural(others.n, zoomed.children.length ? "smaller node" : "node")}, ${percent(others.share)} of the words, are not on this page.`,
        ),
      );
    return el("div", {}, ...parts);
  }
  function drawNode() {
    const numbers = el(
      "dl",
      { class: "numbers" },
      term("Share", percent(zoomed.share)),
      term("Words", whole(zoomed.n_tokens)),
      zoomed.topic === null ? term("Topics below", whole(zoomed.n_topics)) : term("Topic", `#${zoomed.topic}`),
      term("Level", `${zoomed.level} of ${tree.n_levels}`),
    );
    const right = el("div", {}, numbers);
    if (zoomed.n_children) right.append(childList());
    if (zoomed.topic === null) {
      byId("tree-node").replaceChildren(el("div", { class: "detail" }, headedWords(zoomed), right));
      return;
    }
    if (hasTopic(zoomed.topic))
      right.append(
        el("p", {}, el("a", { href: `#topic-${zoomed.topic}` }, `Open topic #${zoomed.topic} with its documents`)),
      );
    else right.append(el("p", { class: "hint" }, "This topic is too small for the list below."));
    byId("tree-node").replaceChildren(el("div", { class: "detail" }, headedWords(zoomed), right));
  }
  function draw() {
    drawWay();
    drawPicture();
    drawNode();
  }
  function zoom(node) {
    const holder = byId("tree-picture"),
      inPicture = holder.contains(document.activeElement),
      inList = byId("tree").contains(document.activeElement);
    zoomed = marked = node;
    draw();
    if (inPicture) holder.firstElementChild.focus({ preventScroll: true });
    else if (inList) byId("tree-way").querySelector("[aria-current]").scrollIntoView({ block: "nearest" });
  }
  function go(node) {
    if (node !== zoomed) location.hash = address(node);
  } // the address changes first, then `openFromAddress` zooms
  function openFromAddress() {
    const found = /^#tree-([\d.]+|all)$/.exec(location.hash),
      node = found && byPath.get(found[1]);
    if (!node) return;
    if (node !== zoomed) zoom(node);
    const top = byId("tree").getBoundingClientRect().top;
    if (top < 0 - innerHeight / 2 || top > innerHeight * 0.8) byId("tree").scrollIntoView();
  }
  const ofTopic = new Map(); // the largest node of each topic
  for (const node of nodes) if (node.topic !== null && !ofTopic.has(node.topic)) ofTopic.set(node.topic, node);
  function pathOf(number) {
    if (!tree.branching.length) return ofTopic.get(number)?.path ?? [];
    let index = number;
    const path = [];
    for (const n of [...tree.branching].reverse()) {
      path.unshift(index % n);
      index = Math.floor(index / n);
    }
    return path;
  }
  function nodeAt(path, depth) {
    // the node of the page that is nearest to this place
    while (depth && !byPath.has(path.slice(0, depth).join("."))) depth -= 1;
    return byPath.get(path.slice(0, depth).join(".") || "all");
  }
  function groupsOf(topics) {
    // by the branches at the deepest level that has few
    const branches = (depth) => {
      const parts = new Map();
      for (const topic of topics) {
        const node = nodeAt(pathOf(topic.number), depth);
        parts.set(node, [...(parts.get(node) ?? []), topic]);
      }
      return parts;
    };
    let found = branches(1);
    for (let depth = 2; depth < tree.n_levels; depth++) {
      const finer = branches(depth);
      if (finer.size > MOST_BRANCHES) break;
      found = finer;
    }
    return [...found]
      .sort((a, b) => b[0].share - a[0].share)
      .map(([node, inside]) => ({ name: gist(node, 3, [...found.keys()]), topics: inside }));
  }
  function placeOf(number) {
    const path = pathOf(number),
      list = el("ul", { class: "similar" });
    for (const node of way(nodeAt(path, path.length)).slice(1))
      list.append(el("li", {}, link(node, word(`${title(node)} ${gist(node, 2)}`))));
    return list.childElementCount ? el("div", {}, el("h3", {}, "Its path in the tree"), list) : null;
  }

  const itself = root.own > 0 ? " Where a node has words that are in none below it, these are pale, at its right end." : "";
  const part =
    nodes.length < tree.n_nodes
      ? ` The ${whole(nodes.length)} largest of ${plural(tree.n_nodes, "node")} are on this page. The others are pale, or only counted.`
      : "";
  byId("tree-hint").textContent =
    `Each row is a level of the tree. The width of a node is its share of the tokens. A node is called by ${nodes.some((node) => node.name) ? "its name, then by " : ""}its words that are not also those of the node above, then by the others. Topics with none below are outlined.${itself} Choose a node to look closer, and the top node to go back up.${part}`;
  return { draw, openFromAddress, placeOf, groupsOf, has: (path) => byPath.has(path) };
}
