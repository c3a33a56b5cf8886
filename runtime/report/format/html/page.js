// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Elements, and numbers as people read them. Text gets into the page only as text nodes, so that no
// name in a report can be markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}
const html = (name, attributes = {}, ...children) =>
  fill(document.createElement(name), attributes, children);
const svg = (name, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, name), attributes, children);

// In a narrow window, such as a phone's, names stand above what they name, so that pictures fit
// without being scrolled sideways. page.js draws anew where the window becomes narrow or wide.
const NARROW = matchMedia("(max-width: 639px)");
const pictureWidth = () => (NARROW.matches ? 350 : 1160);
// The vertical line at 0, which would go through the names above the bars.
const axisAtZero = (x, top, bottom) => (NARROW.matches ? [] : [line(x, top, x, bottom, "axis")]);
let numPictures = 0;

// A picture with a title and a description for screen readers.
function picture(kind, height, title, description, ...children) {
  const id = `picture${++numPictures}`;
  return html("div", {class: "scroll"}, svg("svg", {
    class: `picture ${kind}`, viewBox: `0 0 ${pictureWidth()} ${height}`, role: "img",
      "aria-labelledby": `${id}t ${id}d`,
  }, svg("title", {id: `${id}t`}, title), svg("desc", {id: `${id}d`}, description), ...children));
}

const text = (x, y, content, classes = "") => svg("text", {x, y, class: classes}, content);
const line = (x1, y1, x2, y2, classes) => svg("line", {x1, y1, x2, y2, class: classes});

// The hint is shown while the pointer rests on the rectangle.
function rect(x, y, width, height, classes, hint) {
  const box = svg("rect", {x: round(x), y: round(y), width: round(width), height: round(height),
    class: classes});
  if (hint !== undefined) box.append(svg("title", {}, hint));
  return box;
}
const round = (x) => Math.round(x * 100) / 100;

// Cuts the middle out, because both ends of a symbol are useful.
function shorten(name, most) {
  if (name.length <= most) return name;
  const head = Math.ceil((most - 1) / 2);
  return name.slice(0, head) + "…" + name.slice(name.length - (most - 1 - head));
}

// Shows three digits: 0.52, 17.3, 418.
function digits(value) {
  const places = value >= 100 || value === 0 ? 0 : value >= 10 ? 1 : 2;
  return String(Number(value.toFixed(places)));
}
// Shows two digits, for the borders of colours: 781 becomes 780.
const rounded = (value) => Number(value.toPrecision(2));

const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]];
function duration(ns) {
  // If rounding to three digits reaches the next unit, that unit is used.
  for (const [size, unit] of UNITS) if (ns >= 0.9995 * size) return `${digits(ns / size)} ${unit}`;
  return `${digits(ns)} ns`;
}
const number = (value) => value.toLocaleString("en-US", {maximumFractionDigits: 0});
const percent = (share) => `${digits(100 * share)} %`;
const plural = (count, noun) => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;

// Maps values to positions and colours.

// The smallest of 1, 2, 5, 10, ... that is not less.
function nice(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  for (const step of [1, 2, 5]) if (value <= step * power * (1 + 1e-9)) return step * power;
  return 10 * power;
}

// About four round values from 0 to about `most`.
function ticks(most) {
  const step = nice(most / 5);
  return Array.from({length: Math.floor(most / step + 1e-9) + 1}, (_, i) => i * step);
}

// Eight colours. The last one's upper border is a round number not below `most`. The border of each
// other one is the next one's divided by `ratio`: with equal steps all but the slowest would have
// one colour. The exact figures are in the tables.
const NUM_COLOURS = 8;
class ColourScale {
  constructor(most, ratio) {
    this.top = nice(most);
    this.ratio = ratio;
  }
  upper(index) {
    return this.top / this.ratio ** (NUM_COLOURS - 1 - index);
  }
  index(value) {
    for (let i = 0; i < NUM_COLOURS; ++i) if (value <= this.upper(i) * (1 + 1e-9)) return i;
    return NUM_COLOURS - 1;
  }
}

// The colours with the values at their borders, and before them the colour of what has no value.
function legend(scale, x, y, caption, format, none) {
  const width = NARROW.matches ? 34 : 58, every = NARROW.matches ? 2 : 1;
  if (NARROW.matches) x = 18;  // half of the first words are left of their colour's middle
  const group = svg("g", {class: "legend"}, text(x, y - 6, caption, "soft small"));
  if (none !== undefined) {
    group.append(rect(x, y, width - 8, 12, "none"),
      text(x + (width - 8) / 2, y + 25, none, "soft small middle"));
    x += width;
  }
  for (let i = 0; i < NUM_COLOURS; ++i) {
    group.append(rect(x + i * width, y, width, 12, `legend-colour q${i}`));
    if ((i + 1) % every === 0) group.append(text(x + (i + 1) * width, y + 25,
      format(rounded(scale.upper(i))), "soft small middle"));
  }
  return group;
}

// The table under each picture.

// Rows are lists of strings. The first cell of a row is its name, a string or an element.
function table(caption, head, rows) {
  const cells = (tag, values) => values.map((value) =>
    html(tag, tag === "th" ? {scope: "col"} : {}, value));
  const body = rows.map(([name, ...values]) =>
    html("tr", {}, html("th", {scope: "row"}, name), ...cells("td", values)));
  return html("details", {class: "table"}, html("summary", {}, `Table: ${caption}`),
    html("div", {class: "scroll"}, html("table", {},
      html("thead", {}, html("tr", {}, ...cells("th", head))), html("tbody", {}, ...body))));
}

// The columns of times that an object of the report has, as [name, times].
const columnsOf = (figures) => Object.entries(figures)
  .filter(([, value]) => value.mean !== undefined)
  .map(([key, times]) => [key.replace(/_ns$/, ""), times]);

// A table with a row for each [name, times].
function timesTable(caption, all) {
  const keys = Object.keys(all[0][1]).filter((key) => !["count", "sum", "buckets"].includes(key));
  const rows = all.map(([name, times]) => [name, number(times.count),
    ...keys.map((key) => (times.count === 0 ? "–" : duration(times[key])))]);
  return table(caption, ["", "count", ...keys], rows);
}

// What all pages have in common: the choice of colours, lists of facts, and the text in place of
// pictures that cannot be drawn.

// page.html#light and page.html#dark have the effect of the buttons.
function themeButtons() {
  const preference = matchMedia("(prefers-color-scheme: dark)");
  const names = ["auto", "light", "dark"];
  let chosen = names.find((name) => location.hash === `#${name}`) ?? "auto";
  const buttons = names.map((name) => html("button", {type: "button"}, name));
  const show = () => {
    document.documentElement.dataset.theme = chosen === "auto"
      ? (preference.matches ? "dark" : "light") : chosen;
    buttons.forEach((button, i) => button.setAttribute("aria-pressed",
      String(names[i] === chosen)));
  };
  buttons.forEach((button, i) => button.addEventListener("click", () => {
    chosen = names[i];
    show();
  }));
  preference.addEventListener("change", show);
  show();
  return html("div", {class: "buttons", role: "group", "aria-label": "colours"}, ...buttons);
}

// Pairs of a name and what it is.
const factsList = (facts) => html("dl", {class: "facts"},
  ...facts.flatMap(([name, value]) => [html("dt", {}, name), html("dd", {}, value)]));

// Shows the elements that draw(data) returns. If a picture fails, now or when it is opened, the
// text below is opened and a warning is shown.
function drawPage(draw) {
  const pictures = document.getElementById("pictures");
  addEventListener("error", (event) => {
    document.getElementById("text").open = true;
    pictures.append(html("p", {class: "warning error"},
      `A picture could not be drawn (${event.message}). The text below has all figures.`));
  });
  document.querySelector("header").append(themeButtons());
  const show = () =>
    pictures.replaceChildren(...draw(JSON.parse(document.getElementById("data").textContent)));
  NARROW.addEventListener("change", show);
  show();
  document.getElementById("text").open = false;
}
