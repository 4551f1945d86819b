// What the numbers of a report mean, and how each was computed.
"use strict";
function drawNotes(data) {
  const { byId, el, whole, fixed, plural, withCode } = pageTools();
  const corpus = data.corpus;
  const note = (text) => byId("notes").append(el("li", {}, ...withCode(text)));
  const { n_documents: chosen, n_empty: unknown } = data.span ?? corpus;
  if (corpus.n_described < chosen - unknown)
    note(
      `Shares and examples are those of a random sample of ${whole(corpus.n_described)} of the ${plural(chosen, "document")}${data.span === null ? "" : " of these days"}.`,
    );
  if (unknown)
    note(`${plural(unknown, "document")} without a known word ${unknown === 1 ? "is" : "are"} left out of every share.`);
  note(
    data.tree === null || !data.tree.branching.length
      ? "The number of a topic is its row in topic_word_ and its column in the result of transform."
      : "The number of a topic is the place of its leaf in the tree, counted from the left, and its column in the result of transform.",
  );
  note(
    "Share: the part of all words of the fit that belongs to the topic. A word counts as often as it occurs. Mean weight: the mean of the weights of the topic in the documents of a period or class, each counted by its words.",
  );
  if (data.path !== null)
    note(
      data.path.scores.length > 0
        ? "Groups: some documents are set apart, and the topics are learned again from the others. Half of the words of each document apart is predicted, with topic weights from the other half. Compare these scores with each other, not with the held-out score. Fewer topics are said to predict better where they do so by more than two standard errors."
        : "Groups: topics are joined where they are alike, by the distances of the map (Ward's method).",
    );
  note(
    "Words are ranked by relevance (Sievert and Shirley 2014, λ = 0.6): words that are frequent in the topic and rare elsewhere come first. Bars show the probability in the topic.",
  );
  note(
    "Documents with most of a topic are ranked by the lower end of the 95% Wilson interval of its share. A document of three words thus does not come before a long one.",
  );
  note(
    "Coherence says how much more often the ten most probable words of a topic occur in the same documents than they would by chance (NPMI). 1: always together. 0: as by chance. -1: never. Exclusivity: the mean share that the topic has in the probability of these words over all topics.",
  );
  note(
    "The slider of words changes λ. It weighs the logarithm of the probability of a word against that of its lift: how many times its probability in all documents it has here.",
  );
  note(
    "The map is a t-SNE embedding of the topics. Their distance comes from the mean of two likenesses: of the word distributions (Bhattacharyya), and of the shares over the documents (cosine). The colour of a word in a document is the topic that it most probably has there.",
  );
  if (data.time !== null || data.classes.length)
    note(
      "Intervals of shares say how much a share would vary with other documents of the same kind (Bayesian bootstrap, 95%). Values of p are adjusted for their number.",
    );
  if (data.held_out !== null) {
    const { active, with_inactive: other, n_tokens: scored, unigram } = data.held_out;
    note(
      `Held-out score: each held-out document is split at random into two halves. Its topic weights come from one half, and the words of the other half are scored${scored === null ? "" : `, ${whole(scored)} in all`}.${other === null ? "" : ` If topics that no document has shown yet keep their share, the score is ${fixed(other)}.`}`,
    );
    if (unigram !== null)
      note(
        `The frequencies of words alone score ${fixed(unigram)} on the same words. The model gives a word ${fixed(Math.exp(active - unigram), 2)} times the probability that its frequency gives it (geometric mean).`,
      );
  } else
    note(
      "Held-out score: not known here. `stickbreak fit --held-out 0.1` keeps a tenth of the documents apart, and all reports on that model have the score on them. `stickbreak evaluate MODEL INPUT` scores a fitted model on documents that the fit has not seen.",
    );
  if (data.fit.objective !== null) note(objectiveNote(data.fit, "documents"));
  if (data.held_out !== null || data.fit.objective !== null) {
    note(
      "Nats per token: the mean natural logarithm of the probability of a word. 0.1 higher means that words are 1.105 times as probable. Perplexity is the same on another scale: the number of equally probable words among which a choice would be as uncertain.",
    );
  }
  note(
    data.topics.some((topic) => topic.found !== null)
      ? "Stability: the topics were matched with those of other fits. A topic is found again if half of the words that it or its match has are in both."
      : "Stability: not known. A fit with another seed finds partly other topics, and many small ones differ. Fit again, such as by `stickbreak fit INPUT --seed 2 --out OTHER`. Then `stickbreak compare MODEL OTHER` lists the topics that come again, and `stickbreak report MODEL INPUT --other OTHER` shows it here; in Python, `comparison.stability` and `comparison.found_again` do.",
  );
  byId("colophon").textContent = `Written on ${data.written} by stickbreak ${data.version}, when ${data.n_labelled ? plural(data.n_labelled, "topic") : "no topic"} had a label given by hand. Labels that are given later are not in this file: "stickbreak report" writes it again. This file needs no network.`;
}
