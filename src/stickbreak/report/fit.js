// How a fit went: its sentence, its table, its curves, its settings. `names`: what is counted, what is found, and of what.
"use strict";
function fitSection(fit, names) {
  const { byId, el, whole, fixed, plural, capital, sentence, duration } = pageTools();
  const ended = fit.converged ? " The fit converged." : fit.stop_reason ? ` ${sentence(fit.stop_reason)}` : "";
  function drawText() {
    const parts = [];
    if (fit.n_laps !== null) parts.push(`${fit.family}, ${fit.n_laps === 1 ? "1 pass" : `${whole(fit.n_laps)} passes`} over ${names.over}${fit.seconds === null ? "" : ` in ${duration(fit.seconds)}`}.`);
    if (fit.stop_reason) parts.push(sentence(fit.stop_reason));
    byId("fit-text").textContent = parts.join(" ");
    const columns = ["lap", ...Object.keys(fit.trace).filter((name) => name !== "lap")];
    const table = el("table", {}, el("thead", {}, el("tr", {}, ...columns.map((name) => el("th", { scope: "col" }, (name === "objective" ? fit.objective_name : name === "lap" ? "pass" : name === names.column ? names.noun : name).replaceAll("_", " "))))));
    const body = el("tbody");
    const cell = (v) => (v === null || v === undefined ? "–" : Number.isInteger(v) ? whole(v) : fixed(v, 4));
    (fit.trace.lap ?? []).forEach((_, i) => body.append(el("tr", {}, ...columns.map((name) => el("td", {}, cell(fit.trace[name][i]))))));
    table.append(body);
    byId("fit-table").append(table);
  }
  function draw() {
    const holder = byId("fit-plot"), trace = fit.trace, laps = trace.lap ?? [], objective = fit.objective_name;
    holder.setAttribute("aria-label", `${capital(objective)} and number of ${names.noun} after each pass`);
    if (laps.length < 2 || typeof Plotly === "undefined") {
      holder.classList.add("message");
      holder.textContent = laps.length < 2 ? "The fit made fewer than two passes, so there is no curve to draw." : "The curves could not be drawn here. The table below has the numbers.";
      return;
    }
    const style = getComputedStyle(document.documentElement), colour = (name) => style.getPropertyValue(name).trim();
    const mode = laps.length > 60 ? "lines" : "lines+markers", curves = [];
    const curve = (name, label, axisName, shape, colourName, format) => trace[name] && curves.push({ x: laps, y: trace[name], name: label, mode, type: "scatter", yaxis: axisName,
      line: { color: colour(colourName), width: 2, shape }, marker: { size: 5 }, hovertemplate: `pass %{x}: %{y:${format}}<extra>${label}</extra>` });
    curve("objective", objective, "y", "linear", "--accent", ".4f");
    curve(names.column, names.noun, "y2", "hv", "--focus", ",d");
    const ruled = { gridcolor: colour("--line"), zeroline: false, automargin: true, linecolor: colour("--line") };
    const narrow = holder.clientWidth < 600;
    Plotly.react(holder, curves, {
      autosize: true, showlegend: false, hovermode: "x unified", dragmode: narrow ? false : "zoom", margin: { l: 60, r: 20, t: 48, b: 60 }, modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("--soft"), activecolor: colour("--accent") }, separators: ".,",
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { family: getComputedStyle(document.body).fontFamily, size: 13, color: colour("--soft") },
      hoverlabel: { bgcolor: colour("--card"), bordercolor: colour("--line"), font: { color: colour("--ink") } },
      xaxis: { ...ruled, title: { text: `pass over ${names.over}`, font: { size: 13 }, standoff: 8 }, anchor: "y2", tickformat: ",d", ...(laps.length < 12 ? { dtick: 1 } : {}) },
      yaxis: { ...ruled, domain: [0.56, 1], tickformat: "~f" }, yaxis2: { ...ruled, domain: [0, 0.42], rangemode: "tozero", tickformat: ",d" },
      annotations: [[`${capital(objective)}, nats per ${names.unit}`, 1], [`Number of ${names.noun}`, 0.42]].map(([text, y]) => ({ text, x: 0, y, xref: "paper", yref: "paper", xanchor: "left", yanchor: "bottom", showarrow: false, font: { color: colour("--ink") } })),
    }, { responsive: true, displaylogo: false, displayModeBar: narrow ? false : "hover", modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]], toImageButtonOptions: { filename: "stickbreak-fit", format: "svg" } });
  }
  function drawSettings() {
    byId("settings-heading").textContent = `Parameters of ${fit.family}`;
    for (const [name, value] of fit.settings) byId("settings").append(el("dt", {}, name), el("dd", {}, name === "n_laps" ? `${value} (a lap is a pass over the data)` : value));
  }
  return { ended, drawText, draw, drawSettings };
}
