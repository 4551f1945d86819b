// What every page draws with. Words and names come from documents that nobody has checked: they are only ever set as text
// (textContent, setAttribute on harmless attributes), never as markup.
"use strict";
function pageTools() {
  const SVG = "http://www.w3.org/2000/svg";
  const byId = (id) => document.getElementById(id);
  const reader = "en";
  const whole = (x) => Math.round(x).toLocaleString(reader);
  const fixed = (x, n = 3) =>
    x
      .toLocaleString(reader, { minimumFractionDigits: n, maximumFractionDigits: n })
      .replace(/^-(?=[0.]*$)/, "") // nothing but zeros has no sign
      .replace("-", "−");
  const plural = (n, noun) => `${whole(n)} ${noun}${n === 1 ? "" : "s"}`;
  // on a button that shows more of a list, at most `step` of the `rest`
  const moreText = (rest, step) =>
    rest > step ? `Show ${whole(step)} more of ${whole(rest)}` : `Show the other ${whole(rest)}`;
  const digits = (x) => (x === 0 || x >= 0.9995 ? 0 : x < 0.00995 ? 2 : 1); // small shares differ in the second
  const percent = (x) => (x > 0 && x < 0.0001 ? "<0.01%" : `${(100 * x).toFixed(digits(x))}%`);
  function el(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children.filter((child) => child !== null));
    return node;
  }
  function svg(tag, attributes = {}, ...children) {
    const node = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  }
  const word = (text) => {
    const node = el("bdi");
    node.textContent = text;
    return node;
  };
  // The pieces of a text in which commands stand between backticks; a command is broken at spaces only.
  const withCode = (text) =>
    text.split("`").map((piece, i) => {
      if (i % 2 === 0) return piece;
      const code = el("code");
      piece.split(" ").forEach((part, j) => code.append(j ? " " : "", el("span", {}, part)));
      return code;
    });
  const bar = (part) => {
    const fill = el("i");
    fill.style.width = `${100 * part}%`;
    return el("span", { class: "bar", "aria-hidden": "true" }, fill);
  };
  const term = (name, value) => el("div", {}, el("dt", {}, name), el("dd", {}, value));
  const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
  const sentence = (text) => capital(text) + (/[.!?]$/.test(text) ? "" : ".");
  function duration(seconds) {
    if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
    const minutes = Math.round(seconds / 60);
    return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  }
  function textAt(text, attributes) {
    const node = svg("text", attributes);
    node.textContent = text;
    return node;
  }
  const ruler = document.createElement("canvas").getContext("2d");
  function textWidth(text) {
    ruler.font = `600 12.5px ${getComputedStyle(document.body).fontFamily}`;
    return ruler.measureText(text).width;
  }
  // The words of a topic by relevance (Sievert and Shirley 2014): the weight is that of the probability against the lift.
  function byRelevance(topic, weight) {
    const log = (v) => Math.log(Math.max(v ?? 0, 1e-300));
    const relevance = (entry) => weight * log(entry.probability) + (1 - weight) * log(entry.lift);
    return [...topic.words, ...topic.more_words]
      .filter((entry) => entry.lift !== null)
      .sort((a, b) => relevance(b) - relevance(a));
  }
  // Names for a picture, no two alike: of a topic and a test of what fits, as much of its label as there is room for,
  // or null. A label of words may lose words, any other is whole or cut.
  function shortNames() {
    const taken = new Set();
    return (topic, fits) => {
      const words = topic.label.split(", "),
        letters = Array.from(topic.label);
      const shorter =
        words.length > 1
          ? [...words.map((_, i) => words.slice(0, words.length - i).join(", ")), ...words.slice(1)]
          : letters.slice(4).map((_, i) => `${letters.slice(0, letters.length - i - 1).join("")}…`);
      const name = [topic.label, ...shorter].find((text) => fits(text) && !taken.has(text));
      if (name === undefined) return null;
      taken.add(name).add(name.split(", ")[0]); // "python" alone does not stand beside "python, package"
      return name;
    };
  }
  return {
    byId,
    el,
    svg,
    whole,
    moreText,
    fixed,
    plural,
    percent,
    word,
    withCode,
    bar,
    term,
    capital,
    sentence,
    duration,
    textAt,
    textWidth,
    byRelevance,
    shortNames,
  };
}

// Tables as CSV: a button that puts all rows on the clipboard. A text that a spreadsheet would take for a formula gets a
// single quote in front.
function csvOf(rows) {
  const cell = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    const safe = typeof value === "string" && /^\s*[=+@-]|^[\t\r\n]/.test(text) ? `'${text}` : text;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return `${rows.map((row) => row.map(cell).join(",")).join("\n")}\n`;
}
async function toClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    /* a page that is a file may not; the old way may */
  }
  const area = document.createElement("textarea");
  area.value = text;
  area.style.cssText = "position:fixed;opacity:0";
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}
function csvButton(rows) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "csv";
  button.textContent = "Copy as CSV";
  button.addEventListener("click", async () => {
    button.textContent = (await toClipboard(csvOf(rows()))) ? "Copied" : "Your browser did not allow it";
    setTimeout(() => {
      button.textContent = "Copy as CSV";
    }, 2500);
  });
  return button;
}
// A table with a head, whose cells are texts or nodes, and with the button for it.
function tableOf(head, rows) {
  const { el } = pageTools();
  const body = el("tbody");
  for (const row of rows)
    body.append(
      el(
        "tr",
        {},
        ...row.map((value, i) =>
          el(i ? "td" : "th", i ? {} : { scope: "row" }, value instanceof Node ? value : String(value ?? "–")),
        ),
      ),
    );
  return el("table", {}, el("thead", {}, el("tr", {}, ...head.map((name) => el("th", { scope: "col" }, name)))), body);
}
