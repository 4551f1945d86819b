// What was found, in a sentence and in numbers, at the top of a report.
"use strict";
const NAMED = 3; // topics that the sentence names
function drawHeadline(data, nTopics, topicLink) {
  const { byId, el, whole, fixed, plural, percent, duration } = pageTools();
  const { corpus, topics } = data;
  const broken = [...topics].sort((a, b) => b.token_share - a.token_share);
  byId("lead").append(
    el("strong", {}, plural(nTopics, "topic")),
    `${data.tree === null ? "" : `, ${data.tree.branching.length ? "the leaves of" : "in"} a tree of ${plural(data.tree.n_levels, "level")},`} in ${plural(corpus.n_documents, "document")}.`,
    ...(nTopics > 1
      ? broken
          .slice(0, NAMED)
          .flatMap((topic, i) => [i ? " · " : " The largest: ", topicLink(topic), ` ${percent(topic.token_share)}`])
      : []),
    nTopics > 1 ? "." : "",
    ...changed(),
    ...cutShort(),
  );
  // That a fit was stopped before its topics were what it would find.
  function cutShort() {
    const cut = /^interrupted|No sample yet|not tried yet/.test(data.fit.stop_reason ?? "");
    return cut ? [" ", el("a", { href: "#fit" }, "The fit ended early.")] : [];
  }
  // How many topics change over time by more than chance; nothing where none does.
  function changed() {
    const sure = (data.time?.trends ?? []).filter((t) => t.p !== null && t.p < CHANCE),
      grown = sure.filter((t) => t.change > 0).length,
      told = [
        [grown, "grow"],
        [sure.length - grown, "shrink"],
      ].filter(([n]) => n > 0);
    if (!told.length) return [];
    return [
      " ",
      el("a", { href: "#changes" }, told.map(([n, verb], i) => `${i ? whole(n) : plural(n, "topic")} ${verb}${n === 1 ? "s" : ""}`).join(" and ")),
      " by more than chance.",
    ];
  }
  // How many of the largest topics hold half of the words; null where those that are shown do not.
  function inHalf() {
    let sum = 0;
    const last = broken.findIndex((topic) => {
      sum += topic.token_share;
      return sum >= 0.5;
    });
    return last < 0 ? null : last + 1;
  }
  if (data.span !== null) {
    const { column, since, until, n_documents: n, n_undated: undated } = data.span;
    const days = [since === null ? "" : `from ${since} on`, until === null ? "" : `up to ${until}`];
    byId("span").hidden = false;
    byId("span").textContent =
      `This report shows ${plural(n, "document")} of these: those ${since === null || until === null ? days.join("") : `from ${since} to ${until}`}, by the column ${column}. Shares within documents, over time and by class are of them alone. The shares of topics in all words stay those of the fit.${undated ? ` ${plural(undated, "document")} without a date ${undated === 1 ? "is" : "are"} left out.` : ""}${data.time === null ? " They are too few, or of a single period, for shares over time." : ""}`;
  }
  const facts = byId("facts");
  const add = (name, value, unit) =>
    facts.append(
      el(
        "div",
        {},
        el("dt", {}, name),
        el("dd", {}, el("span", { class: "value" }, value), el("span", { class: "unit" }, ...[unit].flat())),
      ),
    );
  const half = inHalf();
  add(
    "Topics",
    whole(nTopics),
    half === null || nTopics < 2
      ? ""
      : half === 1
        ? "the largest has half of the words, or more"
        : `the ${whole(half)} largest have half of the words`,
  );
  add("Documents", whole(corpus.n_documents), `of ${plural(corpus.n_tokens / Math.max(corpus.n_documents, 1), "word")} on average`);
  add("Words", whole(corpus.n_tokens), `${whole(corpus.n_words)} of them different`);
  if (data.held_out !== null) {
    if (data.held_out.unigram !== null) {
      const times = Math.exp(data.held_out.active - data.held_out.unigram);
      add(
        "Held-out words",
        `${fixed(times, times < 1.05 ? 2 : times < 99.95 ? 1 : 0)} ×`,
        times < 1.05 ? "as well guessed as by frequency" : "better guessed than by frequency",
      );
    }
    add("Held-out score", fixed(data.held_out.active), "nats per token, closer to 0 is better");
    add("Perplexity", whole(data.held_out.perplexity), "equally probable words to choose among");
  }
  if (data.mean_coherence !== null)
    add("Mean coherence", fixed(data.mean_coherence, 2), "how much the top 10 words of a topic occur together, 1 is best (NPMI)");
  if (data.diversity !== null && topics.length > 1)
    add("Diversity", percent(data.diversity), "different words among the top 25 words of all topics");
  const short = (seconds) => duration(seconds).replaceAll(" ", "\u00a0");
  const known = topics.filter((topic) => topic.found !== null),
    total = known.reduce((sum, topic) => sum + topic.token_share, 0);
  if (total > 0)
    add(
      "Stability",
      percent(known.reduce((sum, topic) => sum + topic.token_share * topic.found, 0) / total),
      "of the words are in a topic that another fit finds, too",
    );
  if (data.fit.n_laps !== null)
    add(
      "Passes",
      whole(data.fit.n_laps),
      [
        `over the documents${data.fit.seconds === null ? "" : ` in ${short(data.fit.seconds)}`}${data.fit.start_seconds >= LEAST_START ? `, after a start of ${short(data.fit.start_seconds)}` : ""}`,
        ...(data.fit.stop_reason && !data.fit.converged ? ["; ", el("a", { href: "#fit" }, "how the fit ended")] : []),
      ],
    );
  if (data.fit.objective !== null) add("Objective", fixed(data.fit.objective), `${data.fit.objective_name === "objective" ? "" : `${data.fit.objective_name}, `}in nats per token`);
}
