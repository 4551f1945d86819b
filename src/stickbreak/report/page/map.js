// The map of documents. Points are drawn pixel by pixel on a canvas: the WebGL of plotly.js makes scripts from texts,
// which the policy of the page forbids, and 100,000 points are drawn in some milliseconds as it is.
const WHOLE = 65535; // places are whole numbers up to this
function startDocumentMap(map, alone) {
  const canvas = byId("map-canvas"), namesLayer = byId("map-names"), card = byId("map-card"), ring = byId("map-ring");
  const context = canvas.getContext("2d", { alpha: false, willReadFrequently: true });
  const n = map.n_shown, { buffer } = bytesOf(map.points);
  const rows = new Uint32Array(buffer, 0, n);
  const [xs, ys, topicOf] = [0, 1, 2].map((i) => new Uint16Array(buffer, 4 * n + 2 * n * i, n));
  const [left, right, low, high] = [xs, xs, ys, ys].map((v, i) => v.reduce((a, b) => (i % 2 ? Math.max(a, b) : Math.min(a, b)), v[0]));
  const view = { x: 0, y: 0, scale: 1, moved: false }; // the middle, and pixels of the canvas for a unit
  let pixels = null, ids = null, image = null, ratio = 1, level = 0, lit = null, nLit = 0, told = null, pinned = false, pending = false;

  // --------------------------------------------------------------------------------------------------- drawing
  const colourOf = (text) => { context.fillStyle = text; return [1, 3, 5].map((i) => parseInt(context.fillStyle.slice(i, i + 2), 16)); };
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  let palette = [], faint = null, paper = 0;
  function recolour() {
    const pair = ([r, g, b]) => [r | (b << 16), g << 8]; // red and blue beside each other, and green
    palette = map.topics.map((_, k) => pair(colourOf(groupColour(map.levels[level].groups[k]))));
    const [r, g, b] = colourOf(style("--card"));
    faint = pair(colourOf(isDark() ? "#4a5158" : "#c4c7ca"));
    paper = (0xff000000 | (b << 16) | (g << 8) | r) >>> 0;
  }
  const wholeScale = () => Math.min(canvas.width / (right - left || WHOLE), canvas.height / (high - low || WHOLE)) * 0.9;
  const zoom = () => view.scale / wholeScale();
  function disc(radius) { // offsets of its pixels, and how much each one covers, of 256
    const found = [], r = Math.ceil(radius);
    for (let y = -r; y <= r; y += 1)
      for (let x = -r; x <= r; x += 1) {
        const part = Math.min(1, radius + 0.5 - Math.hypot(x, y));
        if (part > 0.05) found.push([x, y, Math.round(200 * part)]);
      }
    return found;
  }
  function stamp(points, keep) {
    const { width, height } = canvas, s = view.scale, ox = width / 2 - view.x * s, oy = height / 2 + view.y * s;
    const edge = points.at(-1)[1] + 1, m = points.length, offset = points.map(([x, y]) => y * width + x), alpha = points.map((p) => p[2]);
    for (let i = 0; i < n; i += 1) {
      if (lit !== null && (lit[i] === 1) !== keep) continue;
      const x = (xs[i] * s + ox) | 0, y = (oy - ys[i] * s) | 0;
      if (x < edge || y < edge || x >= width - edge || y >= height - edge) continue;
      const [rb, g] = keep ? palette[topicOf[i]] : faint, at = y * width + x;
      for (let j = 0; j < m; j += 1) {
        const p = at + offset[j], a = alpha[j], was = pixels[p];
        pixels[p] = 0xff000000 | ((((was & 0xff00ff) * (256 - a) + rb * a) >>> 8) & 0xff00ff) | ((((was & 0xff00) * (256 - a) + g * a) >>> 8) & 0xff00);
        ids[p] = i + 1;
      }
    }
  }
  function draw() {
    pending = false;
    if (pixels === null) return;
    pixels.fill(paper);
    ids.fill(0);
    const room = Math.sqrt((canvas.width * canvas.height) / Math.max(n, 400)); // of a point, if all lay apart
    const radius = Math.min(5 * ratio, Math.max(0.6 * ratio, room * 0.22 * Math.sqrt(zoom())));
    if (lit !== null) stamp(disc(radius), false);
    stamp(disc(lit === null ? radius : Math.max(radius, (nLit < 500 ? 4 : 2) * ratio)), true);
    context.putImageData(image, 0, 0);
    placeNames();
    if (!pinned) ring.hidden = true;
    else if (pointed !== null) placeCard();
  }
  const redraw = () => { if (!pending) { pending = true; requestAnimationFrame(draw); } };

  // ------------------------------------------------------------------------- names: more and finer ones as one comes near
  const spans = new Map();
  const place = (x, y) => [((x - view.x) * view.scale + canvas.width / 2) / ratio, (canvas.height / 2 - (y - view.y) * view.scale) / ratio];
  function placeNames() {
    const at = Math.min(map.levels.length - 1, Math.max(0, Math.floor(Math.log2(zoom() * 1.1))));
    const { names, places, sizes } = map.levels[at], shown = new Set(), most = Math.max(...sizes), taken = [], width = canvas.width / ratio, height = canvas.height / ratio;
    for (const [g, name] of names.entries()) { // the largest first
      const [x, y] = place(...places[g]);
      if (!sizes[g] || x < 0 || y < 0 || x > width || y > height) continue;
      const key = `${at} ${g}`;
      if (!spans.has(key)) {
        const span = el("span", {}, word(name.length > 36 ? `${name.slice(0, 35)}…` : name));
        span.style.fontSize = `${Math.round((width < 500 ? 10 : 11.5) + 6 * Math.sqrt(sizes[g] / most))}px`;
        namesLayer.append(span);
        spans.set(key, { span, half: span.offsetWidth / 2 + 3, tall: span.offsetHeight / 2 });
      }
      const { span, half, tall } = spans.get(key);
      const [across, down] = [[x, half, width], [y, tall, height]].map(([v, edge, end]) => Math.min(Math.max(v, edge), Math.max(end - edge, edge)));
      if (taken.some((box) => Math.abs(box.across - across) < box.half + half && Math.abs(box.down - down) < box.tall + tall)) continue;
      taken.push({ across, down, half, tall });
      shown.add(key);
      span.style.transform = `translate(-50%, -50%) translate(${across}px, ${down}px)`;
    }
    for (const [key, { span }] of spans) span.style.visibility = shown.has(key) ? "visible" : "hidden";
  }

  // ----------------------------------------------------------------------------------------- moving, near and far
  function fit() {
    Object.assign(view, { x: (left + right) / 2, y: (low + high) / 2, scale: wholeScale(), moved: false });
    redraw();
  }
  function move(dx, dy) {
    view.x = Math.min(Math.max(view.x - dx / view.scale, left), right);
    view.y = Math.min(Math.max(view.y + dy / view.scale, low), high);
    view.moved = true;
    redraw();
  }
  function zoomBy(factor, x = canvas.width / 2, y = canvas.height / 2) { // what is at x, y stays there
    const before = view.scale;
    view.scale = Math.min(Math.max(before * factor, wholeScale() * 0.7), wholeScale() * 400);
    const kept = 1 / before - 1 / view.scale;
    view.x += (x - canvas.width / 2) * kept;
    view.y -= (y - canvas.height / 2) * kept;
    move(0, 0);
  }
  function resize() {
    const { clientWidth: width, clientHeight: height } = canvas, before = view.moved ? zoom() : 1;
    if (!width || !height) return;
    ratio = Math.min(devicePixelRatio || 1, 2);
    [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    image = context.createImageData(canvas.width, canvas.height);
    pixels = new Uint32Array(image.data.buffer);
    ids = new Uint32Array(pixels.length);
    if (view.moved) view.scale = wholeScale() * before;
    else fit();
    draw();
  }
  const held = new Map(); // pointers that are down
  let travelled = 0;
  const pointOf = (event) => {
    const box = canvas.getBoundingClientRect();
    return [(event.clientX - box.left) * ratio, (event.clientY - box.top) * ratio];
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    held.set(event.pointerId, pointOf(event));
    travelled = 0;
  });
  canvas.addEventListener("pointermove", (event) => {
    const now = pointOf(event), before = held.get(event.pointerId);
    if (before === undefined) { if (!pinned) point(pick(...now)); return; }
    held.set(event.pointerId, now);
    travelled += Math.hypot(now[0] - before[0], now[1] - before[1]);
    if (held.size === 1) { move(now[0] - before[0], now[1] - before[1]); return; }
    const other = [...held].find(([id]) => id !== event.pointerId)[1];
    const apart = (a) => Math.hypot(a[0] - other[0], a[1] - other[1]);
    zoomBy(apart(now) / Math.max(apart(before), 1), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
  });
  canvas.addEventListener("pointerup", (event) => {
    if (travelled < 5 * ratio && held.size === 1) choose(pick(...pointOf(event)));
  });
  for (const kind of ["pointerup", "pointercancel"]) canvas.addEventListener(kind, (event) => held.delete(event.pointerId));
  canvas.addEventListener("pointerleave", () => { if (!pinned) point(null); });
  canvas.addEventListener("dblclick", (event) => zoomBy(2, ...pointOf(event)));
  canvas.addEventListener("wheel", (event) => { // in a report the wheel scrolls, until the map is chosen
    if (!alone && !event.ctrlKey && document.activeElement !== canvas) return;
    event.preventDefault();
    zoomBy(Math.exp(-Math.max(-100, Math.min(event.deltaY, 100)) * 0.003), ...pointOf(event));
  }, { passive: false });
  const keys = { "+": () => zoomBy(1.5), "=": () => zoomBy(1.5), "-": () => zoomBy(1 / 1.5), 0: fit, Escape: () => { pinned = false; point(null); },
    ArrowLeft: () => move(60, 0), ArrowRight: () => move(-60, 0), ArrowUp: () => move(0, 60), ArrowDown: () => move(0, -60) };
  canvas.addEventListener("keydown", (event) => {
    if (!Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]();
  });
  for (const [id, act] of [["map-nearer", "+"], ["map-farther", "-"], ["map-whole", "0"]]) byId(id).addEventListener("click", keys[act]);

  // ------------------------------------------------------------------------------------------ texts, and the search
  const texts = () => { told ??= inflated(map.told).then(JSON.parse); return told; };
  function pick(x, y) {
    const r = Math.round(6 * ratio);
    let best = null, nearest = Infinity;
    for (let j = Math.max(0, Math.round(y) - r); j <= Math.min(canvas.height - 1, Math.round(y) + r); j += 1)
      for (let i = Math.max(0, Math.round(x) - r); i <= Math.min(canvas.width - 1, Math.round(x) + r); i += 1) {
        const far = (i - x) ** 2 + (j - y) ** 2;
        if (ids[j * canvas.width + i] && far < nearest) [best, nearest] = [ids[j * canvas.width + i] - 1, far];
      }
    return best;
  }
  let pointed = null;
  async function point(i) {
    pointed = i;
    if (i === null) { card.hidden = true; ring.hidden = true; return; }
    const { names, texts: beginnings } = await texts();
    if (pointed !== i) return;
    const [number, label] = map.topics[topicOf[i]];
    const topic = [el("span", { class: "number" }, `#${number} `), word(label)];
    const title = names === null ? `Document ${whole(rows[i])}` : names[i];
    card.replaceChildren(el("b", { dir: "auto" }, title),
      el("small", {}, alone ? topic[0] : el("a", { href: `#topic-${number}` }, topic[0], topic[1]), alone ? topic[1] : null),
      el("span", { dir: "auto" }, beginnings[i]));
    card.hidden = ring.hidden = false;
    card.classList.toggle("pinned", pinned);
    placeCard();
  }
  function placeCard() { // the ring around the document that is pointed at, and its card beside it; both go with the view
    const [x, y] = place(xs[pointed], ys[pointed]), width = canvas.width / ratio, height = canvas.height / ratio;
    card.hidden = ring.hidden = x < 0 || y < 0 || x > width || y > height;
    ring.style.transform = `translate(-50%, -50%) translate(${x}px, ${y}px)`;
    const across = Math.min(Math.max(x - card.offsetWidth / 2, 4), width - card.offsetWidth - 4), below = y + 14;
    const up = below + card.offsetHeight > height ? Math.max(4, y - 14 - card.offsetHeight) : below;
    card.style.transform = `translate(${across}px, ${up}px)`;
  }
  const choose = (i) => { pinned = i !== null; return point(i); };
  let haystack = null;
  async function search() {
    const parts = asked("map-query");
    const { names, texts: beginnings } = await texts();
    haystack ??= beginnings.map((text, i) => `${names === null ? "" : names[i]}\n${text}`.toLowerCase());
    if (parts.join(" ") !== asked("map-query").join(" ")) return;
    lit = parts.length ? Uint8Array.from(haystack, (text) => (parts.every((part) => text.includes(part)) ? 1 : 0)) : null;
    nLit = lit === null ? n : lit.reduce((sum, one) => sum + one, 0);
    byId("map-count").textContent = lit === null ? "" : `${whole(nLit)} of ${plural(n, "document")}.`;
    namesLayer.classList.toggle("dim", lit !== null);
    redraw();
  }
  byId("map-query").addEventListener("input", search);
  byId("map-form").addEventListener("submit", (event) => event.preventDefault());
  byId("map-colours").addEventListener("change", (event) => { level = Number(event.target.value); recolour(); redraw(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { recolour(); redraw(); });
  recolour();
  new ResizeObserver(resize).observe(canvas);
  return { draw, view, pick, point, choose, place, zoomBy, move, fit, search, rows, lit: () => lit, xs, ys };
}
