// What every page draws with. Words and names come from documents that nobody has checked: they are only ever set as text
// (textContent, setAttribute on harmless attributes), never as markup.
"use strict";
function pageTools() {
  const SVG = "http://www.w3.org/2000/svg";
  const byId = (id) => document.getElementById(id);
  const reader = "en";
  const whole = (x) => Math.round(x).toLocaleString(reader);
  const fixed = (x, n = 3) => x.toLocaleString(reader, { minimumFractionDigits: n, maximumFractionDigits: n }).replace("-", "−");
  const plural = (n, noun) => `${whole(n)} ${noun}${n === 1 ? "" : "s"}`;
  const percent = (x) => (x > 0 && x < 0.001 ? "<0.1%" : `${(100 * x).toFixed(x < 0.9995 ? 1 : 0)}%`);
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
  const word = (text) => { const node = el("bdi"); node.textContent = text; return node; };
  const bar = (part) => { const fill = el("i"); fill.style.width = `${100 * part}%`; return el("span", { class: "bar", "aria-hidden": "true" }, fill); };
  const term = (name, value) => el("div", {}, el("dt", {}, name), el("dd", {}, value));
  const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
  const sentence = (text) => capital(text) + (/[.!?]$/.test(text) ? "" : ".");
  function duration(seconds) {
    if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
    const minutes = Math.round(seconds / 60);
    return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  }
  function textAt(text, attributes) { const node = svg("text", attributes); node.textContent = text; return node; }
  const ruler = document.createElement("canvas").getContext("2d");
  function textWidth(text) { ruler.font = `600 12.5px ${getComputedStyle(document.body).fontFamily}`; return ruler.measureText(text).width; }
  return { byId, el, svg, whole, fixed, plural, percent, word, bar, term, capital, sentence, duration, textAt, textWidth };
}
