// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table under each picture.

// Rows are lists of strings. The first cell of a row is its name, a string or an element.
function table(caption, head, rows) {
  const cells = (tag, values) => values.map((value) => html(tag, tag === "th" ? {scope: "col"} : {}, value));
  const body = rows.map(([name, ...values]) => html("tr", {}, html("th", {scope: "row"}, name), ...cells("td", values)));
  return html("details", {class: "table"}, html("summary", {}, `Table: ${caption}`),
    html("div", {class: "scroll"}, html("table", {},
      html("thead", {}, html("tr", {}, ...cells("th", head))), html("tbody", {}, ...body))));
}

const TIMES_HEAD = ["count", "mean", "p50", "p90", "p99", "p99.9", "max"];
function timesRow(name, times) {
  const shown = ["mean", "p50", "p90", "p99", "p99.9", "max"].map((key) => duration(times[key]));
  return [name, number(times.count), ...(times.count === 0 ? shown.map(() => "–") : shown)];
}
