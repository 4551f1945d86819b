// A report on a model of vectors, and the comparison of two models.
for (const canvas of document.querySelectorAll("canvas[data-grey]")) {
  const image = new ImageData(canvas.width, canvas.height);
  Array.from(atob(canvas.dataset.grey), (letter) => letter.charCodeAt(0)).forEach((grey, i) =>
    image.data.set([grey, grey, grey, 255], 4 * i));
  canvas.getContext("2d").putImageData(image, 0, 0);
}
(data.components ?? []).forEach((component, i) => {
  const directions = component.shares.map((_, j) => `Direction ${j + 1}`);
  tables[`component-${i}`] = () => [
    ["Coordinate", "Mean", "Spread", ...directions],
    ...component.coordinates.map((entry) => [entry.name, entry.mean, entry.spread, ...entry.directions]),
  ];
});
function openFromAddress() {
  const item = /^#component-\d+$/.test(location.hash) ? byId(location.hash.slice(1)) : null;
  if (item === null) return;
  item.firstElementChild.open = true;
  item.scrollIntoView({ block: "start" });
}
startTables();
startCharts();
addEventListener("hashchange", openFromAddress);
openFromAddress();
