// The numbers of the charts over time and by class as tables, for readers who do not see the charts, and for paper.
"use strict";
function shareTables({ byId, el, whole, fixed, percent, topicLink }) {
  const CHANCE = 0.05;
  const shown = (v) => (v === null || v === undefined ? "–" : percent(v));

  // A table is made when it is opened, and again when what it shows has changed: it may have thousands of cells.
  function keep(id, make) {
    const wrap = byId(`${id}-wrap`),
      draw = () => {
        if (wrap.open) byId(id).replaceChildren(make());
      };
    wrap.addEventListener("toggle", draw);
    return draw;
  }
  // A row for each period, a column for each group of topics.
  function overTime(time, groups, periodName) {
    const { groups: periods, documents, shares } = time.shares;
    const share = (group, p) => group.topics.reduce((sum, topic) => sum + (shares[topic.index][p] ?? 0), 0);
    return tableOf(
      [time.by, "documents", ...groups.map((group) => group.name)],
      periods.map((start, p) => [
        periodName(start),
        whole(documents[p]),
        ...groups.map((group) => shown(share(group, p))),
      ]),
    );
  }
  // A row for each topic, a column for each class; bold is what differs from the other classes by more than chance.
  function byClass(grouped, rows) {
    const cell = (k, g) => {
      const text = shown(grouped.shares[k][g]),
        p = grouped.p.length ? grouped.p[k][g] : null;
      return p !== null && p < CHANCE ? el("b", {}, text) : text;
    };
    return tableOf(
      ["topic", ...grouped.groups],
      rows.map((topic) => [
        `#${topic.number} ${topic.label}`,
        ...grouped.groups.map((_, g) => cell(topic.index, g)),
      ]),
    );
  }
  // A row for each trend; grey is what may be chance. `points`: a change as text.
  function ofTrends(trends, topics, points) {
    const table = tableOf(
      ["topic", "points a year", "95 % interval", "p"],
      trends.map((t) => [
        topicLink(topics[t.topic]),
        points(t.change),
        t.low === null ? "–" : `${points(t.low)} to ${points(t.high)}`,
        t.p === null ? "–" : t.p < 0.001 ? "<0.001" : fixed(t.p, 3),
      ]),
    );
    trends.forEach((t, i) => {
      if (t.p === null || t.p >= CHANCE) table.tBodies[0].rows[i].className = "unsure";
    });
    return table;
  }
  return { keep, overTime, byClass, ofTrends };
}
