// Draws the report on a model of vectors. Names come from files that nobody has checked: they are only ever set as text.
(() => {
  const data = JSON.parse(document.getElementById("report-data").textContent);
  const { byId, el, svg, whole, fixed, plural, percent, word, bar, term, duration } = pageTools();
  const fit = fitSection(data.fit, { unit: "vector", column: "n_components", noun: "components", over: "the vectors" });
  const NAMED = 3; // components that the sentence at the top names
  const components = data.components,
    size = data.patch_size;
  const number = (x) =>
    (Math.abs(x) >= 1e5 || (x !== 0 && Math.abs(x) < 1e-3)
      ? x.toExponential(2)
      : String(Number(x.toPrecision(4)))
    ).replace("-", "−");

  function patch(picture, name) {
    const canvas = el("canvas", { width: size, height: size, class: "patch", role: "img", "aria-label": name });
    const image = new ImageData(size, size),
      grey = atob(picture.grey);
    for (let i = 0; i < grey.length; i++)
      image.data.set([grey.charCodeAt(i), grey.charCodeAt(i), grey.charCodeAt(i), 255], 4 * i);
    canvas.getContext("2d").putImageData(image, 0, 0);
    return canvas;
  }
  const nameOf = (i) => (i ? `Direction ${i}` : "Mean");

  function drawHeadline() {
    const of =
      data.n_groups === null
        ? plural(data.n_vectors, "vector")
        : `${plural(data.n_vectors, "vector")} in ${plural(data.n_groups, "group")}`;
    const largest = [...components]
      .sort((a, b) => b.weight - a.weight)
      .slice(0, NAMED)
      .map((component) => `#${component.number} ${percent(component.weight)}`);
    byId("lead").append(
      el("strong", {}, plural(data.n_components, "component")),
      ` of ${of}, ${size === null ? `each of ${plural(data.dim, "number")}` : `patches of ${size} x ${size} pixels`}.`,
      data.n_components > 1 ? ` The largest: ${largest.join(" · ")}.` : "",
    );
    const add = (name, value, unit) =>
      byId("facts").append(
        el(
          "div",
          {},
          el("dt", {}, name),
          el("dd", {}, el("span", { class: "value" }, value), el("span", { class: "unit" }, unit)),
        ),
      );
    add("Components", whole(data.n_components), "");
    add(
      "Vectors",
      whole(data.n_vectors),
      data.n_groups === null ? `of ${plural(data.dim, "number")}` : `of ${plural(data.dim, "number")}, in ${plural(data.n_groups, "group")}`,
    );
    if (data.held_out !== null) add("Held-out score", fixed(data.held_out), "nats per vector, higher is better");
    if (data.fit.n_laps !== null)
      add(
        "Passes",
        whole(data.fit.n_laps),
        data.fit.seconds === null ? "over the vectors" : `over the vectors in ${duration(data.fit.seconds)}`,
      );
    if (data.fit.objective !== null) add("Objective", fixed(data.fit.objective), `${data.fit.objective_name === "objective" ? "" : `${data.fit.objective_name}, `}in nats per vector`);
  }
  function drawStick() {
    const holder = byId("stick"),
      width = holder.clientWidth,
      height = 56;
    const picture = svg("svg", {
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": `Expected weights of ${components.length} components; the list below has them all`,
    });
    let x = 0;
    components.forEach((component, i) => {
      const length = component.weight * width,
        title = svg("title");
      title.textContent = `#${component.number} · ${percent(component.weight)}`;
      const part = svg(
        "rect",
        {
          x,
          y: 0,
          width: Math.max(0, length - (length > 4 ? 1.5 : 0)),
          height,
          rx: Math.min(3, length / 4),
          class: i % 2 ? "b" : "a",
        },
        title,
      );
      part.addEventListener("click", () => open(component.number));
      picture.append(part);
      x += length;
    });
    holder.replaceChildren(picture);
  }

  function coordinateTable(component) {
    const head = ["Coordinate", "Mean", "Spread", ...component.shares.map((_, i) => nameOf(i + 1))],
      body = el("tbody");
    for (const entry of component.coordinates) {
      body.append(
        el(
          "tr",
          {},
          el("th", { scope: "row" }, word(entry.name)),
          ...[entry.mean, entry.spread, ...entry.directions].map((x) => el("td", {}, number(x))),
        ),
      );
    }
    const rows = () => [
      head,
      ...component.coordinates.map((entry) => [entry.name, entry.mean, entry.spread, ...entry.directions]),
    ];
    return el(
      "div",
      {},
      el(
        "h3",
        {},
        component.coordinates.length < data.dim
          ? `The ${component.coordinates.length} coordinates that tell it from the others`
          : "Coordinates, those that tell it from the others first",
      ),
      el(
        "div",
        { class: "scroll" },
        el("table", {}, el("thead", {}, el("tr", {}, ...head.map((name) => el("th", { scope: "col" }, name)))), body),
      ),
      csvButton(rows),
    );
  }
  function patches(component) {
    if (size === null) return null;
    const row = (pictures, caption) =>
      el(
        "div",
        { class: "patches" },
        ...pictures.map((picture, i) =>
          el("figure", {}, patch(picture, caption(picture, i)), el("figcaption", {}, caption(picture, i))),
        ),
      );
    const examples = component.examples.length
      ? [el("h3", {}, "Some of its patches"), row(component.examples, () => "")]
      : [];
    return el(
      "div",
      {},
      el("h3", {}, "Mean and leading directions, with their share of the variance"),
      row(component.pictures, (picture) => (picture.share === null ? "Mean" : percent(picture.share))),
      ...examples,
    );
  }
  function groupList(component) {
    if (!component.groups.length) return null;
    const list = el("ol", { class: "documents" });
    for (const group of component.groups) {
      const name = word(group.name);
      name.className = "name";
      list.append(
        el("li", {}, el("div", { class: "head" }, name, el("span", { class: "meta" }, percent(group.share)))),
      );
    }
    return el("div", {}, el("h3", {}, "Groups with most of it"), list);
  }
  function detail(component) {
    const numbers = el(
      "dl",
      { class: "numbers" },
      term("Expected weight", percent(component.weight)),
      term("Share of the vectors", percent(component.share)),
      term("Vectors in the fit", whole(component.count)),
    );
    return el(
      "div",
      { class: "component" },
      numbers,
      patches(component),
      coordinateTable(component),
      groupList(component),
    );
  }
  function row(component) {
    const gist = el("span", { class: "gist" });
    if (size === null)
      component.coordinates
        .slice(0, 4)
        .forEach((entry) => gist.append(word(`${entry.name} ${number(entry.mean)}`), " "));
    else gist.append(...component.pictures.slice(0, 6).map((picture, i) => patch(picture, nameOf(i))));
    const box = el(
      "details",
      {},
      el(
        "summary",
        {},
        el("span", { class: "number" }, `#${component.number}`),
        gist,
        el("span", { class: "spark" }),
        el(
          "span",
          { class: "share" },
          bar(component.weight / components[0].weight),
          el("b", {}, percent(component.weight)),
        ),
        el("span", { class: "chevron", "aria-hidden": "true" }),
      ),
    );
    box.addEventListener("toggle", () => {
      if (box.open && box.childElementCount === 1) box.append(detail(component));
    });
    return el("li", { id: `component-${component.number}` }, box);
  }
  function open(k) {
    const item = byId(`component-${k}`);
    if (item === null) return;
    item.firstElementChild.open = true;
    history.replaceState(null, "", `#component-${k}`);
    item.scrollIntoView({ block: "start" });
  }
  function openFromAddress() {
    const found = /^#component-(\d+)$/.exec(location.hash);
    if (found) open(Number(found[1]));
  }

  function drawNotes() {
    const note = (text) => byId("notes").append(el("li", {}, text));
    if (data.fit.objective !== null) note(objectiveNote(data.fit, "vectors"));
    note("The number of a component is its row in means_ and its column in the result of transform or predict_proba.");
    note(
      "Expected weight: the weight that the model itself gives the component. Share of the vectors: the share for which it is the most probable component.",
    );
    note(
      "Directions are eigenvectors of the covariance of a component, of length one. Their sign has no meaning. Spread is the standard deviation of a coordinate.",
    );
    if (size !== null)
      note(
        `Each picture has its own scale of grey. In directions, and in patches with negative numbers or without their mean, zero is the middle grey. In other patches zero is black. ${data.dim < size * size ? "Patches are drawn without their mean." : "A vector holds the pixels of a patch, row by row."}`,
      );
    if (data.n_described < data.n_vectors)
      note(
        `Shares of vectors and examples are those of a random sample of ${whole(data.n_described)} of the ${plural(data.n_vectors, "vector")}.`,
      );
    if (data.held_out !== null || data.fit.objective !== null)
      note(
        "Nats per vector: the mean natural logarithm of the density of a vector. 0.1 higher means that vectors are 1.105 times as likely. It depends on the scale of the coordinates, so compare it only on the same vectors.",
      );
    byId("colophon").textContent = `Written by stickbreak ${data.version}. This file needs no network.`;
  }

  byId("components-hint").textContent =
    `${components.length < data.n_components ? `The ${whole(components.length)} largest of ${plural(data.n_components, "component")}.` : "The largest come first."} Choose one to see more of it. Bars are compared with the largest.`;
  drawHeadline();
  fit.drawText();
  fit.drawSettings();
  drawNotes();
  drawStick();
  byId("list").append(...components.map(row));
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth !== width) {
      width = innerWidth;
      drawStick();
    }
  });
  addEventListener("hashchange", openFromAddress);
  fit.draw();
  openFromAddress();
})();
