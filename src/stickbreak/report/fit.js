// How a fit went: its sentence, its table, its curves, its settings. `names`: what is counted, what is found, and of what.
"use strict";
const LEAST_START = 0.05; // seconds of a start that are told
// What the objective says, for those who do not know it.
const objectiveNote = (fit, documents) =>
  `Objective${fit.objective_name === "objective" ? "" : `: the ${fit.objective_name}`}. It says how well the model explains the ${documents} that it learned from; higher is better. Compare it only between fits to the same ${documents} by the same method.`;
function fitSection(fit, names) {
  const { byId, el, whole, fixed, plural, capital, sentence, duration } = pageTools();
  function drawText() {
    const parts = [];
    if (fit.n_laps !== null)
      parts.push(
        `${fit.family}, ${fit.n_laps === 1 ? "1 pass" : `${whole(fit.n_laps)} passes`} over ${names.over}${fit.seconds === null ? "" : ` in ${duration(fit.seconds)}`}.`,
      );
    if (fit.start_seconds >= LEAST_START)
      parts.push(
        `Before the first pass, a start of ${duration(fit.start_seconds)} made the ${names.noun} that the fit began with. The curves and the table do not show it.`,
      );
    if (fit.stop_reason) parts.push(sentence(fit.stop_reason));
    const last = (fit.trace[names.column] ?? []).at(-1) ?? null;
    if (last !== null && last !== fit.n_found)
      parts.push(
        `The curve ends with ${whole(last)} ${names.noun}, and the model has ${whole(fit.n_found)}: topics were joined after the fit, or the model is a mean over several passes, or of one that is not the last.`,
      );
    byId("fit-text").textContent = parts.join(" ");
    const columns = ["lap", ...Object.keys(fit.trace).filter((name) => name !== "lap")];
    const table = el(
      "table",
      {},
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          ...columns.map((name) =>
            el(
              "th",
              { scope: "col" },
              (name === "objective"
                ? fit.objective_name
                : name === "lap"
                  ? "pass"
                  : name === names.column
                    ? names.noun
                    : name
              ).replaceAll("_", " "),
            ),
          ),
        ),
      ),
    );
    const body = el("tbody");
    const cell = (v) => (v === null || v === undefined ? "–" : Number.isInteger(v) ? whole(v) : fixed(v, 4));
    (fit.trace.lap ?? []).forEach((_, i) =>
      body.append(el("tr", {}, ...columns.map((name) => el("td", {}, cell(fit.trace[name][i]))))),
    );
    table.append(body);
    byId("fit-table").append(table);
    byId("fit-csv").append(
      csvButton(() => [columns, ...(fit.trace.lap ?? []).map((_, i) => columns.map((name) => fit.trace[name][i]))]),
    );
    drawMoves();
  }
  function drawMoves() {
    byId("fit-moves").hidden = !fit.moves.length;
    const row = (kind, ...cells) => el("tr", {}, ...cells.map((text) => el(kind, kind === "th" ? { scope: "col" } : {}, text)));
    const words = (topics) => topics.map((topic) => topic.join(" ") || "(no tokens)").join(" | ");
    const body = fit.moves.map((move) =>
      row("td", whole(move.pass), move.move, fixed(move.gain, 1), whole(move.n_topics), words(move.topics)),
    );
    const head = row("th", "pass", "move", "gain, nats", `${names.noun} after it`, "words of each topic that was merged, deleted or born");
    byId("fit-moves-table").append(el("table", {}, el("thead", {}, head), el("tbody", {}, ...body)));
  }
  function draw() {
    const holder = byId("fit-plot"),
      trace = fit.trace,
      laps = trace.lap ?? [],
      objective = fit.objective_name;
    holder.setAttribute("aria-label", `${capital(objective)} and number of ${names.noun} after each pass`);
    if (laps.length < 2) {
      holder.classList.add("message");
      holder.textContent = "The fit made fewer than two passes, so there is no curve to draw.";
      return;
    }
    const mode = laps.length > 60 ? "lines" : "lines+markers";
    charts.draw(holder, "fit", () => {
      const curves = [],
        colour = charts.colour;
      const curve = (name, label, axisName, shape, colourName, format) =>
        trace[name] &&
        curves.push({
          x: laps,
          y: trace[name],
          name: label,
          mode,
          type: "scatter",
          yaxis: axisName,
          line: { color: colour(colourName), width: 2, shape },
          marker: { size: 5 },
          hovertemplate: `pass %{x}: %{y:${format}}<extra>${label}</extra>`,
        });
      curve("objective", objective, "y", "linear", "--accent", ".4f");
      curve(names.column, names.noun, "y2", "hv", "--focus", ",d");
      const ruled = { gridcolor: colour("--line"), zeroline: false, automargin: true, linecolor: colour("--line") };
      return {
        traces: curves,
        hovermode: "x unified",
        margin: { l: 60, r: 20, t: 48, b: 60 },
        xaxis: {
          title: { text: `pass over ${names.over}`, font: { size: 13 }, standoff: 8 },
          anchor: "y2",
          tickformat: ",d",
          ...(laps.length < 12 ? { dtick: 1 } : {}),
        },
        yaxis: { domain: [0.56, 1], tickformat: "~f" },
        yaxis2: { ...ruled, domain: [0, 0.42], rangemode: "tozero", tickformat: ",d" },
        annotations: [
          [`${capital(objective)},${holder.clientWidth < 600 ? "<br>" : " "}nats per ${names.unit}`, 1],
          [`Number of ${names.noun}`, 0.42],
        ].map(([text, y]) => ({
          text,
          x: 0,
          y,
          align: "left",
          xref: "paper",
          yref: "paper",
          xanchor: "left",
          yanchor: "bottom",
          showarrow: false,
          font: { color: colour("--ink") },
        })),
      };
    });
  }
  function drawSettings() {
    byId("settings-heading").textContent = `Parameters of ${fit.family}`;
    for (const [name, value] of fit.settings)
      byId("settings").append(
        el("dt", {}, name),
        el("dd", {}, name === "n_laps" ? `${value} (a lap is a pass over the data)` : value),
      );
  }
  return { drawText, draw, drawSettings };
}
