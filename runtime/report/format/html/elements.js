// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements, and numbers as people read them. Text gets into the page only as text nodes, so that no
// name in a report can be markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}
const html = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children);
const svg = (name, attributes = {}, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

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
    class: `picture ${kind}`, viewBox: `0 0 ${pictureWidth()} ${height}`, role: "img", "aria-labelledby": `${id}t ${id}d`,
  }, svg("title", {id: `${id}t`}, title), svg("desc", {id: `${id}d`}, description), ...children));
}

const text = (x, y, content, classes = "") => svg("text", {x, y, class: classes}, content);
const line = (x1, y1, x2, y2, classes) => svg("line", {x1, y1, x2, y2, class: classes});

// The hint is shown while the pointer rests on the rectangle.
function rect(x, y, width, height, classes, hint) {
  const box = svg("rect", {x: round(x), y: round(y), width: round(width), height: round(height), class: classes});
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
