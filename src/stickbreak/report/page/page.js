// What every page has: texts and numbers, tables to open and to copy, charts by plotly.js.
// Words and names come from documents that nobody has checked: they are only ever set as text, never as markup.
"use strict";
const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("report-data").textContent);
const figures = JSON.parse(byId("figures").textContent);

function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children.filter((child) => child !== null));
  return node;
}
const word = (text) => el("bdi", {}, text);
const whole = (x) => Math.round(x).toLocaleString("en");
const fixed = (x, n = 3) =>
  x.toLocaleString("en", { minimumFractionDigits: n, maximumFractionDigits: n }).replace("-", "−");
const plural = (n, noun) => `${whole(n)} ${noun}${n === 1 ? "" : "s"}`;
const digits = (x) => (x === 0 || x >= 0.9995 ? 0 : x < 0.00995 ? 2 : 1); // small shares differ in the second
const percent = (x) => (x > 0 && x < 0.0001 ? "<0.01%" : `${(100 * x).toFixed(digits(x))}%`);
const isDark = () => matchMedia("(prefers-color-scheme: dark)").matches;
// As in Python: hues a golden angle apart, so that neighbours in the order never look alike.
const groupColour = (i) => `hsl(${Math.round((172 + 137.508 * i) % 360)}, 50%, ${(isDark() ? 54 : 44) + 10 * (i % 2)}%)`;
const asked = (id) => byId(id).value.trim().toLowerCase().split(/\s+/).filter(Boolean); // the words of a search
const bytesOf = (base64) => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
const inflated = (base64) =>
  new Response(new Blob([bytesOf(base64)]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
function bar(part) {
  const fill = el("i");
  fill.style.width = `${100 * part}%`;
  return el("span", { class: "bar", "aria-hidden": "true" }, fill);
}

// ------------------------------------------------------------------------------------------------------ tables
// Functions that return the rows of a table, the head first; a page adds its own. Elements name theirs in data-table.
const tables = {
  passes: () => {
    const names = ["lap", ...Object.keys(data.fit.trace).filter((name) => name !== "lap")];
    const head = names.map((name) => ({ lap: "pass", objective: data.fit.objective_name })[name] ?? name);
    return [head, ...data.fit.trace.lap.map((_, i) => names.map((name) => data.fit.trace[name][i]))];
  },
  moves: () => [
    ["pass", "move", "gain, nats", "topics after it", "words of each topic that was merged, deleted or born"],
    ...data.fit.moves.map((move) => {
      const words = move.topics.map((topic) => topic.join(" ") || "(no tokens)").join(" | ");
      return [move.pass, move.move, move.gain, move.n_topics, words];
    }),
  ],
};
// A text that a spreadsheet would take for a formula gets a single quote in front.
function csvOf(rows) {
  const cell = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    const safe = typeof value === "string" && /^\s*[=+@＝＋＠－-]|^[\t\r\n]/.test(text) ? `'${text}` : text;
    return /[",;\t\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return `${rows.map((row) => row.map(cell).join(",")).join("\n")}\n`;
}
async function toClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // A page that is a file may not; the old way may.
  }
  const area = el("textarea");
  area.value = text;
  area.style.cssText = "position:fixed;opacity:0";
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}
function tableOf([head, ...rows]) {
  const shown = (v) => (v === null || v === undefined || v === "" ? "–" : typeof v !== "number" ? v : shortNumber(v));
  const shortNumber = (v) => (Number.isInteger(v) ? whole(v) : String(Number(v.toPrecision(5))).replace("-", "−"));
  const line = (row, tag) => el("tr", {}, ...row.map((v, i) => el(i ? tag : "th", i ? {} : { scope: "row" }, shown(v))));
  return el(
    "table",
    {},
    el("thead", {}, el("tr", {}, ...head.map((name) => el("th", { scope: "col" }, name.replaceAll("_", " "))))),
    el("tbody", {}, ...rows.map((row) => line(row, "td"))),
  );
}
function csvButton(rows) {
  const button = el("button", { type: "button", class: "csv" }, "Copy as CSV");
  button.addEventListener("click", () => copy(button, rows()));
  return button;
}
async function copy(button, rows) {
  button.textContent = (await toClipboard(csvOf(rows))) ? "Copied" : "Your browser did not allow it";
  setTimeout(() => { button.textContent = "Copy as CSV"; }, 2500);
}
function startTables() {
  for (const button of document.querySelectorAll("button[data-table]"))
    button.addEventListener("click", () => copy(button, tables[button.dataset.table]()));
  for (const wrap of document.querySelectorAll("details[data-table]"))
    wrap.addEventListener("toggle", () => {
      if (wrap.open) wrap.querySelector(".scroll").replaceChildren(tableOf(tables[wrap.dataset.table]()));
    });
}

// ------------------------------------------------------------------------------------------------------ charts
// plotly.js lies in the file compressed; it is unpacked when the first chart comes into view.
const charts = (() => {
  let ready = null;
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  async function unpack() {
    const script = el("script"); // runs only if its hash is in the policy of the page
    script.textContent = await inflated(byId("plotly").textContent);
    document.head.append(script);
    if (typeof Plotly === "undefined") throw new Error("the script did not run");
  }
  function framed(layout) {
    const axis = { gridcolor: colour("--line"), linecolor: colour("--line"), zeroline: false, automargin: true, title: { font: { size: 13 } } };
    const font = { family: getComputedStyle(document.body).fontFamily, size: 13, color: colour("--ink") };
    const hoverlabel = { bgcolor: colour("--card"), bordercolor: colour("--line"), font: { color: font.color } };
    const clear = "rgba(0,0,0,0)";
    const modebar = { bgcolor: clear, color: font.color };
    const frame = { font, hoverlabel, modebar, paper_bgcolor: clear, plot_bgcolor: clear, xaxis: axis, yaxis: axis };
    return { ...layout, autosize: true, template: { layout: { ...frame, separators: ".," } } };
  }
  async function show(holder) {
    const name = holder.dataset.figure, { traces, layout } = holder.drawn;
    const narrow = holder.clientWidth < 600;
    if (narrow) for (const trace of traces) if (trace.mode === "markers+text") trace.mode = "markers"; // names would hide them
    holder.style.height = `${layout.height ?? 450}px`;
    holder.ariaBusy = "true";
    await Plotly.react(holder, traces, framed(layout), {
      responsive: true,
      displaylogo: false,
      displayModeBar: narrow ? false : "hover",
      modeBarButtons: [["toImage"]],
      toImageButtonOptions: { filename: `stickbreak-${name}`, format: "svg" },
    }).finally(() => { holder.ariaBusy = null; });
  }
  // Draws a figure when its holder comes into view, and calls `then` once; or draws it again with other traces.
  function draw(holder, traces, layout, then = () => {}) {
    const first = !holder.drawn;
    holder.drawn = { traces, layout };
    if (!first) {
      if (holder.classList.contains("js-plotly-plot")) show(holder);
      return;
    }
    const watch = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      watch.disconnect();
      ready ??= unpack();
      ready.then(() => show(holder)).then(() => then(holder), (error) => {
        holder.classList.add("message");
        holder.textContent = `The chart could not be drawn here (${error.message}). The tables have its numbers.`;
      });
    }, { rootMargin: "300px" });
    watch.observe(holder);
  }
  function again() {
    for (const holder of document.querySelectorAll(".js-plotly-plot")) show(holder);
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  addEventListener("beforeprint", () => {
    for (const holder of document.querySelectorAll(".js-plotly-plot")) Plotly.Plots.resize(holder);
  });
  return { draw };
})();
// `after`: what a chart does when it has been drawn, by its name.
function startCharts(after = {}) {
  for (const holder of document.querySelectorAll("[data-figure]")) {
    const { data: traces, layout } = figures[holder.dataset.figure];
    charts.draw(holder, traces, layout, after[holder.dataset.figure]);
  }
}
