// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tables t(m, cf): what a message of m bytes costs when cf pairs of ranks exchange messages over
// one channel at the same time. A row for each cf, a column for each size.

const CHANNELS = {l3: "inside an L3 cache", numa: "inside a NUMA node, between L3 caches", "across-numa": "between NUMA nodes of a package",
  package: "between packages", network: "between nodes"};

function bytes(count) {
  for (const [size, unit] of [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]]) if (count >= size) return `${digits(count / size)} ${unit}`;
  return `${count} B`;
}
// The cells as the file of costs has them, [bytes, pairs, q1, median, q3], with what they say. A
// slowdown is 0 where one pair was not measured.
function cellsOf(table) {
  const alone = new Map(table.cells.filter(([, cf]) => cf === 1).map(([size, , , median]) => [size, median]));
  return table.cells.map(([size, cf, q1, median, q3]) => {
    const slowdown = alone.has(size) ? median / alone.get(size) : 0;
    return {bytes: size, cf, time_us: {q1, median, q3}, slowdown, collapse: slowdown > cf};
  });
}
const distinct = (values) => [...new Set(values)].sort((a, b) => a - b);

// One cell: its slowdown, with a star where one exchange after the other would be faster. In the row
// of one pair there is no slowdown to show, so it has the time.
function slowdownCell(cell, x, y, width, height, scale) {
  const exact = `${bytes(cell.bytes)}, ${plural(cell.cf, "pair")}: ${microseconds(cell.time_us.median)}, quartiles ${microseconds(cell.time_us.q1)} and ${microseconds(cell.time_us.q3)}`;
  const step = scale.index(cell.slowdown);
  const known = cell.slowdown > 0;
  const words = cell.cf === 1 || !known ? microseconds(cell.time_us.median) : digits(cell.slowdown) + (cell.collapse ? "*" : "");
  return [rect(x, y, width, height, known ? `cell box q${step}` : "cell none", known ? `${exact}, ${digits(cell.slowdown)} times one pair` : exact),
    text(x + width / 2, y + 15, words, `small middle${known ? ` t${step}` : ""}`)];
}

function drawSlowdowns(channel, scale) {
  const narrow = NARROW.matches, left = narrow ? 62 : 90, top = 54, height = 22;
  const sizes = distinct(channel.cells.map((cell) => cell.bytes)), counts = distinct(channel.cells.map((cell) => cell.cf));
  const columns = narrow ? Math.min(sizes.length, 5) : sizes.length;  // further sizes go on in a band below
  const bandHeight = counts.length * height + 26, numBands = Math.ceil(sizes.length / columns);
  const width = Math.min((pictureWidth() - left - 2) / columns, 80);
  const xOf = (i) => left + (i % columns) * width, bandTop = (i) => top + Math.floor(i / columns) * bandHeight;
  const bottom = top + numBands * bandHeight - 26;
  const star = narrow ? "* one after the other would be faster" : "* more than cf times slower: one exchange after the other would be faster";
  return picture("slowdowns", bottom + 42, `Slowdown ${CHANNELS[channel.channel]}`,
    `${plural(counts.length, "row")} by ${plural(sizes.length, "column")}; each cell is t(m, cf) over t(m, 1).`,
    legend(scale, left, 16, "slowdown, up to", digits),
    ...channel.cells.flatMap((cell) => {
      const column = sizes.indexOf(cell.bytes);
      return slowdownCell(cell, xOf(column), bandTop(column) + counts.indexOf(cell.cf) * height, width, height, scale);
    }),
    ...Array.from({length: numBands}, (_, band) => counts.map((cf, i) =>
      text(left - 8, top + band * bandHeight + i * height + 15, plural(cf, "pair"), "small end"))).flat(),
    ...sizes.map((size, i) => text(xOf(i) + width / 2, bandTop(i) + counts.length * height + 16, bytes(size), "soft small middle")),
    text(left, bottom + 34, star, "soft small"));
}

function slowdownsTable(channel) {
  return table(`times ${CHANNELS[channel.channel]}`, ["message", "pairs", "q1", "median", "q3", "slowdown"], channel.cells.map((cell) => [bytes(cell.bytes),
    String(cell.cf), ...["q1", "median", "q3"].map((key) => microseconds(cell.time_us[key])), cell.slowdown > 0 ? digits(cell.slowdown) + (cell.collapse ? "*" : "") : "–"]));
}

function slowdownsSection(tables) {
  const channels = tables.map((one) => ({channel: one.channel, cells: cellsOf(one)}));
  // One scale for all, so that channels can be compared. Borders are a factor of 1.5 apart.
  const scale = new ColourScale(Math.max(...channels.flatMap(({cells}) => cells.map((cell) => cell.slowdown)), 2), 1.5);
  return html("section", {class: "panel"}, html("h2", {}, "Shared channels"), html("p", {class: "soft"}, "How much longer an exchange of "
    + "messages takes when several pairs of ranks exchange theirs over the same channel: t(m, cf) / t(m, 1), of medians. The first row has the times of one pair."),
    ...channels.flatMap((channel) => [html("h3", {}, CHANNELS[channel.channel]), drawSlowdowns(channel, scale), slowdownsTable(channel)]));
}
