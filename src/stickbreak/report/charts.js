// Charts by plotly.js, which lies in this file compressed. It is unpacked when the first chart comes into view.
"use strict";
const charts = (() => {
  const drawn = new Map(); // holder -> what draws it
  let ready = null;

  async function unpack() {
    if (typeof DecompressionStream === "undefined") throw new Error("this browser cannot unpack");
    const packed = atob(document.getElementById("plotly").textContent),
      bytes = new Uint8Array(packed.length);
    for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
    const script = document.createElement("script"); // runs only if its hash is in the policy of the page
    script.textContent = await new Response(
      new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate")),
    ).text();
    document.head.append(script);
    if (typeof Plotly === "undefined") throw new Error("the script did not run");
  }
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const isDark = () => matchMedia("(prefers-color-scheme: dark)").matches;
  // Hues a golden angle apart: neighbours in the order are never alike.
  const hue = (i, alpha = 1) =>
    `hsla(${Math.round((172 + 137.508 * i) % 360)}, ${isDark() ? 48 : 52}%, ${isDark() ? 62 - 8 * (i % 2) : 38 + 8 * (i % 2)}%, ${alpha})`;

  // Plotly takes some HTML; texts of documents are none.
  const plain = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

  function layout(holder, more) {
    const axis = { gridcolor: colour("--line"), linecolor: colour("--line"), zeroline: false, automargin: true };
    const { xaxis = {}, yaxis = {}, ...rest } = more;
    return {
      autosize: true,
      showlegend: false,
      separators: ".,",
      dragmode: false,
      margin: { l: 56, r: 16, t: 16, b: 48 },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("--soft"), activecolor: colour("--accent") },
      font: { family: getComputedStyle(document.body).fontFamily, size: 13, color: colour("--soft") },
      hoverlabel: {
        bgcolor: colour("--card"),
        bordercolor: colour("--line"),
        font: { color: colour("--ink") },
        namelength: 40,
      },
      xaxis: { ...axis, ...xaxis },
      yaxis: { ...axis, ...yaxis },
      ...rest,
    };
  }
  // `make`: holder -> traces and what is special in the layout. It is asked again where colours or the width change.
  function draw(holder, name, make) {
    const show = () => {
      const { traces, ...more } = make(holder);
      return Plotly.react(holder, traces, layout(holder, more), {
        responsive: true,
        displaylogo: false,
        displayModeBar: holder.clientWidth < 600 ? false : "hover",
        modeBarButtons: [["toImage"]],
        toImageButtonOptions: { filename: `stickbreak-${name}`, format: "svg" },
      });
    };
    drawn.set(holder, show);
    const begin = () => {
      ready ??= unpack();
      ready.then(
        () => {
          if (holder.isConnected && drawn.get(holder) === show) show();
        },
        () => {
          holder.classList.add("message");
          holder.textContent = "The chart could not be drawn here. The table has its numbers.";
        },
      );
    };
    if (typeof IntersectionObserver === "undefined") {
      begin();
      return;
    }
    const watch = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) {
          watch.disconnect();
          begin();
        }
      },
      { rootMargin: "300px" },
    );
    watch.observe(holder);
  }
  function again() {
    for (const [holder, show] of drawn)
      if (holder.isConnected && holder.classList.contains("js-plotly-plot")) show();
      else if (!holder.isConnected) drawn.delete(holder);
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  addEventListener("beforeprint", () => {
    for (const holder of drawn.keys()) if (holder.classList.contains("js-plotly-plot")) Plotly.Plots.resize(holder);
  });
  return { draw, colour, hue, plain };
})();
