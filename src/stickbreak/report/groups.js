// Shares over time and by class, where the documents have such columns: of all topics here, of one on its page.
"use strict";
const CHANCE = 0.05; // p from which a change may be chance
function groupedSections(data, tools) {
  const { byId, el, svg, whole, fixed, percent, plural, word, textWidth } = tools;
  const { topics, time, classes } = data;
  const HEAT_ROWS = 40,
    MOST_TRENDS = 10,
    MOST_CHANGES = 5,
    MOST_BANDS = 12, // of the picture that are told apart; the others are one
    MOST_BARS = 12, // of classes on the page of a topic
    MOST_LETTERS = 24; // of the name of a class
  const tables = shareTables(tools);
  const exact = (v) => (v === null ? "" : v);
  const periodName = (start) => start.slice(0, { year: 4, quarter: 7, month: 7 }[time.by] ?? 10);

  // ---------------------------------------------------------------------------------------------- over time
  function rowsOf(grouped, name, chosen = topics.map((_, k) => k)) {
    const rows = [["topic", "label", name, "mean_weight", "low", "high", "documents", ...(grouped.p.length ? ["p"] : [])]];
    chosen.forEach((k) =>
      grouped.groups.forEach((group, g) =>
        rows.push([
          topics[k].number,
          topics[k].label,
          group,
          exact(grouped.shares[k][g]),
          exact(grouped.low[k][g]),
          exact(grouped.high[k][g]),
          grouped.documents[g],
          ...(grouped.p.length ? [exact(grouped.p[k][g])] : []),
        ]),
      ),
    );
    return rows;
  }
  let banded = []; // what the picture shows now
  const timeTable = time === null ? null : tables.keep("time-table", () => tables.overTime(time, banded, periodName));
  function bandsOf(groups) {
    // the largest groups, and the others as one where these are several
    if (groups.length <= MOST_BANDS + 1) return groups.map((group, i) => ({ ...group, fill: () => charts.hue(i, 0.85) }));
    const others = groups.slice(MOST_BANDS);
    return [
      ...bandsOf(groups.slice(0, MOST_BANDS)),
      {
        name: plural(others.length, "smaller group"),
        topics: others.flatMap((group) => group.topics),
        fill: () => charts.colour("--rest"),
      },
    ];
  }
  // A period is drawn as wide as it has documents, next to the one that has most.
  const DAYS = { day: 1, week: 7, month: 30, quarter: 91, year: 365 },
    LEAST_WIDTH = 0.02;
  function widths() {
    const most = Math.max(...time.shares.documents);
    return time.shares.documents.map((n) => DAYS[time.by] * 864e5 * Math.max(n / most, LEAST_WIDTH));
  }
  // `alone`: the band that is shown without the others, from its button in the legend.
  function drawBands(groups, alone = null) {
    if (time === null) return;
    const bands = bandsOf(groups);
    const holder = byId("time-plot"),
      periods = time.shares.groups;
    holder.setAttribute(
      "aria-label",
      `Shares of ${groups.length} groups of topics in each ${time.by} from ${periodName(periods[0])} to ${periodName(periods.at(-1))}; the table below has the numbers`,
    );
    banded = groups;
    timeTable();
    charts.draw(holder, "over-time", () => ({
      traces: (alone === null ? bands : [bands[alone]]).map((group) => ({
        x: periods,
        y: periods.map((_, p) =>
          group.topics.reduce((sum, topic) => sum + (time.shares.shares[topic.index][p] ?? 0), 0),
        ),
        name: group.name,
        type: "bar",
        width: widths(),
        marker: { color: group.fill() },
        textposition: "none",
        text: periods.map((start, p) => `${periodName(start)}, ${plural(time.shares.documents[p], "document")}`),
        hovertemplate: `%{y:.2%} ${charts.plain(group.name)}<extra>%{text}</extra>`,
      })),
      barmode: "stack",
      hovermode: "closest",
      xaxis: { type: "date", showgrid: false },
      yaxis: {
        ...(alone === null ? { tickformat: ".0%", range: [0, 1] } : { tickformat: ".3~%", rangemode: "tozero", autorange: true }),
        title: { text: "mean weight", font: { size: 13 } },
      },
    }));
    const legend = bands.map((group, i) => {
      const key = el("i"),
        button = el("button", { type: "button", "aria-pressed": String(i === alone) }, key, word(group.name));
      key.style.background = group.fill();
      button.addEventListener("click", () => {
        drawBands(groups, i === alone ? null : i);
        byId("time-legend").children[i].firstElementChild.focus();
      });
      return el("li", {}, button);
    });
    byId("time-legend").replaceChildren(...legend);
  }
  const points = (v) => {
    const text = fixed(100 * v, 2);
    return v > 0 && text !== fixed(0, 2) ? `+${text}` : text;
  };
  function drawTrends() {
    const grows = time.trends.slice(0, MOST_TRENDS),
      falls = time.trends.slice(MOST_TRENDS).slice(-MOST_TRENDS).reverse();
    const list = (trends) => tables.ofTrends(trends, topics, points);
    const rows = () => [
      ["topic", "label", "change_in_a_year", "low", "high", "p"],
      ...time.trends.map((t) => [
        topics[t.topic].number,
        topics[t.topic].label,
        t.change,
        exact(t.low),
        exact(t.high),
        exact(t.p),
      ]),
    ];
    const grown = grows.filter((t) => t.change > 0),
      fell = [...falls, ...grows.filter((t) => t.change <= 0)].filter((t) => t.change < 0).slice(0, MOST_TRENDS);
    byId("time-trends").append(
      el(
        "div",
        {},
        el("h3", {}, "Topics that grow fastest"),
        el("div", { class: "scroll" }, list(grown)),
        csvButton(rows),
      ),
      el("div", {}, el("h3", {}, "Topics that fall fastest"), el("div", { class: "scroll" }, list(fell))),
    );
  }
  // The topics that change most beyond chance, high on the page, each with its line.
  function drawChanges() {
    const sure = time.trends.filter((t) => t.p !== null && t.p < CHANCE),
      grown = sure.filter((t) => t.change > 0),
      fallen = sure.filter((t) => t.change < 0).reverse();
    byId("changes").hidden = false;
    document.querySelector('nav a[href="#changes"]').hidden = false;
    const told = sure.length
      ? `${whole(grown.length)} of ${plural(topics.length, "topic")} grow and ${whole(fallen.length)} shrink by more than chance (p below ${CHANCE}, adjusted for all topics). Lines are shares by ${time.by}, each on its own scale.`
      : "No topic grows or shrinks by more than chance.";
    byId("changes-hint").append(`${told} `, el("a", { href: "#time" }, "All topics over time"));
    const list = (trends, title) => {
      if (!trends.length) return null;
      const rows = trends.slice(0, MOST_CHANGES).map((t) => {
        const topic = topics[t.topic];
        return el(
          "li",
          {},
          el(
            "a",
            { href: `#topic-${topic.number}` },
            el("span", {}, el("span", { class: "number" }, `#${topic.number} `), word(topic.label)),
            spark(time.shares.shares[t.topic]),
            el("b", {}, points(t.change)),
          ),
        );
      });
      return el("div", {}, el("h3", {}, title), el("ol", { class: "changes" }, ...rows));
    };
    const lists = [
      list(grown, "Growing, points of share in a year"),
      list(fallen, "Shrinking, points of share in a year"),
    ];
    byId("changes-lists").append(...lists.filter((one) => one !== null));
  }
  function spark(shares) {
    const known = shares.map((v, i) => [i, v]).filter(([, v]) => v !== null),
      top = Math.max(...known.map(([, v]) => v), 1e-9);
    const line = known.map(([i, v]) => `${((100 * i) / (shares.length - 1)).toFixed(1)},${(27 - (25 * v) / top).toFixed(1)}`);
    return svg(
      "svg",
      { class: "spark", viewBox: "0 0 100 28", preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("line", { class: "baseline", x1: 0, x2: 100, y1: 27, y2: 27 }),
      svg("polyline", { class: "edge", points: line.join(" ") }),
    );
  }
  function startTime() {
    if (time === null) return;
    drawChanges();
    const shares = time.shares,
      { n_dated: dated, n_wordless: wordless } = time,
      known = dated - wordless,
      used = shares.documents.reduce((a, b) => a + b, 0);
    const counted = [
      `${plural(dated, "document")} with a date`,
      wordless ? `, ${whole(wordless)} of them without a known word and so without shares` : "",
      used < known ? `; the shares are those of a random sample of ${whole(used)}` : "",
    ];
    byId("time").hidden = false;
    document.querySelector('nav a[href="#time"]').hidden = false;
    byId("time-hint").textContent =
      `By ${time.by}, from the column ${shares.column}, ${periodName(shares.groups[0])} to ${periodName(shares.groups.at(-1))}: ${counted.join("")}. Choose a name below the picture to see its share alone, and again to see all. The page of a topic shows its line with intervals. In the tables below, an interval is of one topic alone, and p is adjusted for all topics, of which some seem to change by chance: an interval may be without 0 where p is large. Rows in grey may change by chance alone (p of ${CHANCE} or more).`;
    byId("time-csv").append(csvButton(() => rowsOf(shares, time.by)));
    drawTrends();
  }

  // ---------------------------------------------------------------------------------------------- by class
  let heated = 0,
    order = topics,
    heatRows = [];
  const classTable = classes.length ? tables.keep("class-table", () => tables.byClass(classes[heated], heatRows)) : null;
  const mean = (grouped, k) => {
    const n = grouped.documents.reduce((a, b) => a + b, 0);
    return grouped.shares[k].reduce((sum, v, g) => sum + (v ?? 0) * grouped.documents[g], 0) / n;
  };
  function drawHeat() {
    if (!classes.length) return;
    const grouped = classes[heated],
      relative = byId("class-scale").value === "relative",
      holder = byId("class-plot");
    const chosen = [...topics]
      .sort((a, b) => b.token_share - a.token_share)
      .slice(0, HEAT_ROWS)
      .map((topic) => topic.index);
    const rows = order.filter((topic) => chosen.includes(topic.index));
    // A label loses whole words; a single word that is too long, its end.
    const cut = (text, n) => {
      const words = text.split(", "),
        fitting = words.filter((_, i) => words.slice(0, i + 1).join(", ").length <= n).join(", "),
        letters = Array.from(text);
      return letters.length <= n ? text : fitting || `${letters.slice(0, n - 1).join("")}…`;
    };
    // Names of classes often begin alike and differ at the end: what is left out is in the middle.
    const shortened = (text, n) => {
      const letters = Array.from(text),
        end = Math.floor((n - 1) / 2);
      return letters.length > n ? `${letters.slice(0, n - 1 - end).join("")}…${letters.slice(-end).join("")}` : text;
    };
    const label = (topic) => charts.plain(`#${topic.number} ${cut(topic.label, holder.clientWidth < 600 ? 14 : 34)}`);
    // Slanted names need columns of 26 pixels, and room at the right for the last one.
    const tight = holder.clientWidth < 600 || (holder.clientWidth - 120) / grouped.groups.length < 26;
    const last = shortened(grouped.groups.at(-1), MOST_LETTERS);
    const names = grouped.groups.map((name) => charts.plain(shortened(name, MOST_LETTERS))), // two may be cut to the same
      columns = names.map((_, g) => g),
      lines = rows.map((_, i) => i);
    holder.style.height = `${Math.max(300, 22 * rows.length + 150)}px`;
    holder.setAttribute(
      "aria-label",
      `Shares of ${rows.length} topics in ${grouped.groups.length} classes of ${grouped.column}; the table below has the numbers`,
    );
    heatRows = rows;
    classTable();
    byId("class-hint").textContent =
      `${grouped.groups.length} classes of the column “${grouped.column}”, ${rows.length < topics.length ? `the ${rows.length} largest topics` : "all topics"}. ${relative ? "Colour says how many times the topic's mean share it has in a class." : "Colour says how much of the words of a class a topic has."} In the table, bold shares differ from those of the other classes by more than chance (adjusted p below ${CHANCE}); where few documents have a topic, this is not tested.`;
    const value = (k, g) => {
      const v = grouped.shares[k][g],
        m = mean(grouped, k);
      return v === null
        ? null
        : relative
          ? Math.max(-3, Math.min(3, Math.log2(Math.max(v, 1e-9) / Math.max(m, 1e-9))))
          : v;
    };
    charts.draw(holder, "by-class", () => ({
      traces: [
        {
          type: "heatmap",
          x: columns,
          y: lines,
          z: rows.map((topic) => grouped.groups.map((_, g) => value(topic.index, g))),
          xgap: 1,
          ygap: 1,
          text: rows.map((topic) =>
            grouped.groups.map(
              (_, g) =>
                `${label(topic)}<br>${charts.plain(grouped.groups[g])}<br>${percent(grouped.shares[topic.index][g] ?? 0)} of the words, ${fixed((grouped.shares[topic.index][g] ?? 0) / Math.max(mean(grouped, topic.index), 1e-9), 1)} times the mean`,
            ),
          ),
          hovertemplate: "%{text}<extra></extra>",
          ...(relative ? { zmin: -3, zmax: 3 } : { zmin: 0 }),
          colorscale: relative
            ? [
                [0, charts.colour("--cold")],
                [0.5, charts.colour("--card")],
                [1, charts.colour("--warm")],
              ]
            : [
                [0, charts.colour("--card")],
                [1, charts.colour("--accent")],
              ],
          colorbar: {
            thickness: 10,
            outlinewidth: 0,
            ...(tight ? { orientation: "h", y: 0, yanchor: "top", len: 1 } : { len: 0.6 }),
            ...(relative
              ? { tickvals: [-3, -1.5, 0, 1.5, 3], ticktext: ["⅛", "⅓", "1 ×", "3 ×", "8 ×"] }
              : { tickformat: ".3~%" }),
          },
        },
      ],
      margin: { l: 20, r: tight ? 8 : Math.max(40, textWidth(last) / Math.SQRT2 - 15), t: 8, b: 20 }, // a slanted name that leaves the chart is not drawn
      xaxis: {
        side: "top",
        tickangle: tight ? -90 : -45,
        showgrid: false,
        tickfont: { size: tight ? 10 : 12 },
        tickvals: columns,
        ticktext: names,
      },
      yaxis: {
        autorange: "reversed",
        showgrid: false,
        tickfont: { size: 12 },
        tickvals: lines,
        ticktext: rows.map(label),
      },
    }));
  }
  function startClasses() {
    if (!classes.length) return;
    byId("classes").hidden = false;
    document.querySelector('nav a[href="#classes"]').hidden = false;
    const select = byId("class-column");
    classes.forEach((grouped, i) => select.append(el("option", { value: i }, grouped.column)));
    select.parentElement.hidden = classes.length < 2;
    select.addEventListener("change", () => {
      heated = Number(select.value);
      drawHeat();
    });
    byId("class-scale").addEventListener("change", drawHeat);
    byId("class-csv").append(csvButton(() => rowsOf(classes[heated], classes[heated].column)));
  }

  // ---------------------------------------------------------------------------------------------- of one topic
  // A band over each run of periods whose intervals are known: one over all would close over the gaps.
  function intervals(groups, low, high) {
    const runs = [];
    groups.forEach((_, p) => {
      if (low[p] === null) return;
      if (runs.at(-1)?.at(-1) === p - 1) runs.at(-1).push(p);
      else runs.push([p]);
    });
    return runs.map((run) => {
      const around = [...run, ...[...run].reverse()],
        alone = run.length === 1; // no area: a stroke
      return {
        x: around.map((p) => groups[p]),
        y: around.map((p, i) => (i < run.length ? high : low)[p]),
        mode: "lines",
        line: { width: alone ? 4 : 0, color: charts.colour("--accent-faint") },
        fill: "toself",
        fillcolor: charts.colour("--accent-faint"),
        hoverinfo: "skip",
      };
    });
  }
  function ofTopic(k) {
    const parts = [];
    if (time !== null) {
      const holder = el("div", {
          class: "small-plot",
          role: "figure",
          "aria-label": `Share of topic ${topics[k].number} by ${time.by}`,
        }),
        { groups, shares, low, high, documents } = time.shares,
        most = Math.max(...documents);
      charts.draw(holder, `topic-${topics[k].number}-over-time`, () => ({
        traces: [
          ...intervals(groups, low[k], high[k]),
          {
            x: groups,
            y: shares[k],
            mode: "lines+markers", // the area of a marker grows with the documents of its period
            line: { color: charts.colour("--accent"), width: 1 },
            marker: { size: documents.map((n) => 2 + 7 * Math.sqrt(n / most)) },
            text: documents.map((n) => plural(n, "document")),
            hovertemplate: "%{x}: %{y:.2%}<extra>%{text}</extra>",
          },
        ],
        xaxis: { type: "date", showgrid: false },
        yaxis: { tickformat: ".1~%", rangemode: "tozero" },
        margin: { l: 50, r: 10, t: 8, b: 30 },
      }));
      const rows = () => rowsOf(time.shares, time.by, [k]);
      parts.push(
        el("div", {}, el("h3", {}, `Mean weight by ${time.by}, with 95 % intervals`), holder, csvButton(rows)),
      );
    }
    for (const grouped of classes) {
      const known = grouped.groups
        .map((name, g) => ({
          name,
          share: grouped.shares[k][g],
          low: grouped.low[k][g],
          high: grouped.high[k][g],
          p: grouped.p[k][g],
        }))
        .filter((row) => row.share !== null)
        .sort((a, b) => b.share - a.share);
      const chosen = known.slice(0, MOST_BARS),
        which = chosen.length < known.length ? `, the ${chosen.length} largest of ${known.length}` : "";
      const top = Math.max(...chosen.map((row) => row.high ?? row.share), 1e-9);
      const list = el("ol", { class: "class-bars" });
      for (const row of chosen) {
        const fill = el("i"),
          reach = el("u");
        fill.style.width = `${(100 * row.share) / top}%`;
        if (row.low !== null) {
          reach.style.left = `${(100 * row.low) / top}%`;
          reach.style.width = `${(100 * (row.high - row.low)) / top}%`;
        }
        list.append(
          el(
            "li",
            {},
            word(row.name),
            el("span", { class: "bar wide", "aria-hidden": "true" }, fill, reach),
            el("span", { class: "p" }, percent(row.share)),
          ),
        );
      }
      parts.push(el("div", {}, el("h3", {}, `Mean weight by ${grouped.column}${which}, with 95 % intervals; bars are compared with the largest`), list, csvButton(() => rowsOf(grouped, grouped.column, [k]))));
    }
    return parts;
  }
  function regroup(groups) {
    order = groups.flatMap((group) => group.topics);
    drawBands(groups);
    drawHeat();
  }
  return {
    start: () => {
      startTime();
      startClasses();
    },
    regroup,
    ofTopic,
    whole,
  };
}
