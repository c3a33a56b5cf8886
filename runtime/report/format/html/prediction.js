// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a pattern of messages costs for each split of the ranks over nodes: predicted, and measured
// where that is known.

const MOST_SPLITS = 32;  // the table has all
const microseconds = (us) => duration(1e3 * us);
const signed = (share) => `${share < 0 ? "−" : "+"}${percent(Math.abs(share))}`;
const hasMeasured = (splits) => splits.some((split) => split.measured_us !== undefined);
const errorOf = (split) => split.time_us.median / split.measured_us.median - 1;

// A bar up to the median, and a line from the lower to the upper quartile.
function timeBar(times, x, y, scale, part, hint) {
  const middle = y + 6;
  return [
    rect(x, y, Math.max(times.median * scale, 0.5), 12, `bar ${part}`,
      `${hint}: ${microseconds(times.median)}, quartiles ${microseconds(times.q1)} and ${microseconds(times.q3)}`),
    line(x + times.q1 * scale, middle, x + times.q3 * scale, middle, "whisker"),
    ...[times.q1, times.q3].map((us) => line(x + us * scale, middle - 4, x + us * scale, middle
      + 4, "whisker")),
  ];
}

function splitRow(split, y, left, scale) {
  const narrow = NARROW.matches, barTop = narrow ? y + 34 : y + 4;
  const measured = split.measured_us;
  const ends = [split.time_us.q3, split.time_us.median, measured?.q3 ?? 0, measured?.median ?? 0];
  const words = measured === undefined ? microseconds(split.time_us.median)
    : `${microseconds(split.time_us.median)}, measured ${microseconds(measured.median)}: ${signed(errorOf(split))}`;
  return svg("g", {},
    text(0, y + 14, shorten(split.split, 22), "name"),
    text(0, y + 28, `order ${split.order}${split.binds === null ? "" : `, ${split.binds} binds`}`,
      "soft small"),
    ...timeBar(split.time_us, left, barTop, scale, "sync", `${split.split}: predicted`),
    ...(measured === undefined ? [] : timeBar(measured, left, barTop + 13, scale, "imbalance",
      `${split.split}: measured`)),
    narrow ? text(pictureWidth(), y + 14, words, "small end")
      : text(left + Math.max(...ends) * scale + 8, y + 20, words, "small"));
}

function drawSplits(splits) {
  const [left, right, top, step] = NARROW.matches ? [6, 26, 48, 68] : [190, 260, 34, 38];
  const shown = splits.slice(0, MOST_SPLITS);
  const most = Math.max(...shown.flatMap((split) =>
    [split.time_us.q3, split.measured_us?.q3 ?? 0]), 1e-3);
  const scale = (pictureWidth() - left - right) / most;
  const bottom = top + shown.length * step;
  const parts = [["sync", "predicted"], ...(hasMeasured(splits) ? [["imbalance", "measured"]]
    : [])];
  const legendRow = parts.flatMap(([part, meaning], i) => [
    rect(i * 130, 4, 12, 12, `legend-colour ${part}`), text(i * 130 + 18, 14, meaning, "small")]);
  const marks = ticks(most).flatMap((us) => [
    ...(us === 0 ? [] : [line(left + us * scale, top, left + us * scale, bottom, "grid")]),
    text(left + us * scale, bottom + 16, us === 0 ? "0" : microseconds(us), "soft small middle"),
  ]);
  return picture("splits", bottom + 24,
    `${hasMeasured(splits) ? "Predicted and measured" : "Predicted"} times of each split`,
    "A row for each split of the ranks over nodes, with a bar for the predicted time, and one for the measured time where there is one.",
    ...legendRow, text(...(NARROW.matches ? [0, 34] : [270, 14]),
      "bars are medians, lines go from quartile to quartile", "soft small"),
    ...marks, ...shown.map((split, i) => splitRow(split, top + i * step, left, scale)),
    ...axisAtZero(left, top, bottom));
}

function splitsTable(splits) {
  const times = (quartiles) => (quartiles === undefined ? "–"
    : `${microseconds(quartiles.median)} (${microseconds(quartiles.q1)} to ${microseconds(quartiles.q3)})`);
  const channels = (split) => split.channels.map((one) =>
    `${one.channel} ${one.largest_cf}/${digits(one.mean_cf)}`).join(", ") || "–";
  return table("times of each split, and how many pairs share channels",
    ["split", "order", "predicted (quartiles)", "measured (quartiles)", "error",
    "binds", "cf largest/mean"], splits.map((split) =>
      [split.split, String(split.order), times(split.time_us), times(split.measured_us),
    split.measured_us === undefined ? "–" : signed(errorOf(split)), split.binds ?? "–",
      channels(split)]));
}

function splitsSection(prediction) {
  const {splits} = prediction;
  const section = html("section", {class: "panel"},
    html("h2", {}, hasMeasured(splits) ? "Predicted and measured" : "Predicted"),
    html("p", {class: "soft"},
      "Every way in which a launcher spreads the ranks over nodes, the fastest prediction first. Splits inside each other's quartiles have one place in the order."),
    drawSplits(splits));
  if (splits.length > MOST_SPLITS) section.append(html("p", {class: "note"},
    `${splits.length - MOST_SPLITS} more splits are in the table.`));
  section.append(splitsTable(splits));
  return section;
}

// The tables t(m, cf): what a message of m bytes costs when cf pairs of ranks exchange messages
// over one channel at the same time. A row for each cf, a column for each size.

const CHANNELS = {l3: "inside an L3 cache", numa: "inside a NUMA node, between L3 caches",
  "across-numa": "between NUMA nodes of a package",
  package: "between packages", network: "between nodes"};

function bytes(count) {
  for (const [size, unit] of [[2 ** 30, "GiB"], [2 ** 20, "MiB"],
    [2 ** 10, "KiB"]]) if (count >= size) return `${digits(count / size)} ${unit}`;
  return `${count} B`;
}
// The cells as the file of costs has them, [bytes, pairs, q1, median, q3], with what they say. A
// slowdown is 0 where one pair was not measured.
function cellsOf(table) {
  const alone = new Map(table.cells.filter(([, cf]) => cf === 1)
    .map(([size, , , median]) => [size, median]));
  return table.cells.map(([size, cf, q1, median, q3]) => {
    const slowdown = alone.has(size) ? median / alone.get(size) : 0;
    return {bytes: size, cf, time_us: {q1, median, q3}, slowdown, collapse: slowdown > cf};
  });
}
const distinct = (values) => [...new Set(values)].sort((a, b) => a - b);

// One cell: its slowdown, with a star where one exchange after the other would be faster. In the
// row of one pair there is no slowdown to show, so it has the time.
function slowdownCell(cell, x, y, width, height, scale) {
  const exact =
    `${bytes(cell.bytes)}, ${plural(cell.cf, "pair")}: ${microseconds(cell.time_us.median)}, quartiles ${microseconds(cell.time_us.q1)} and ${microseconds(cell.time_us.q3)}`;
  const step = scale.index(cell.slowdown);
  const known = cell.slowdown > 0;
  const words = cell.cf === 1 || !known ? microseconds(cell.time_us.median) : digits(cell.slowdown)
    + (cell.collapse ? "*" : "");
  return [rect(x, y, width, height, known ? `cell box q${step}` : "cell none", known
    ? `${exact}, ${digits(cell.slowdown)} times one pair` : exact),
    text(x + width / 2, y + 15, words, `small middle${known ? ` t${step}` : ""}`)];
}

function drawSlowdowns(channel, scale) {
  const narrow = NARROW.matches, left = narrow ? 62 : 90, top = 54, height = 22;
  const sizes = distinct(channel.cells.map((cell) => cell.bytes)), counts =
    distinct(channel.cells.map((cell) => cell.cf));
  // Further sizes go on in a band below.
  const columns = narrow ? Math.min(sizes.length, 5) : sizes.length;
  const bandHeight = counts.length * height + 26, numBands = Math.ceil(sizes.length / columns);
  const width = Math.min((pictureWidth() - left - 2) / columns, 80);
  const xOf = (i) => left + (i % columns) * width, bandTop = (i) => top
    + Math.floor(i / columns) * bandHeight;
  const bottom = top + numBands * bandHeight - 26;
  const star = narrow ? "* one after the other would be faster"
    : "* more than cf times slower: one exchange after the other would be faster";
  return picture("slowdowns", bottom + 42, `Slowdown ${CHANNELS[channel.channel]}`,
    `${plural(counts.length, "row")} by ${plural(sizes.length, "column")}; each cell is t(m, cf) over t(m, 1).`,
    legend(scale, left, 16, "slowdown, up to", digits),
    ...channel.cells.flatMap((cell) => {
      const column = sizes.indexOf(cell.bytes);
      return slowdownCell(cell, xOf(column), bandTop(column) + counts.indexOf(cell.cf) * height,
        width, height, scale);
    }),
    ...Array.from({length: numBands}, (_, band) => counts.map((cf, i) =>
      text(left - 8, top + band * bandHeight + i * height + 15, plural(cf, "pair"), "small end")))
        .flat(),
    ...sizes.map((size, i) => text(xOf(i) + width / 2, bandTop(i) + counts.length * height + 16,
      bytes(size), "soft small middle")),
    text(left, bottom + 34, star, "soft small"));
}

function slowdownsTable(channel) {
  return table(`times ${CHANNELS[channel.channel]}`,
    ["message", "pairs", "q1", "median", "q3", "slowdown"],
    channel.cells.map((cell) => [bytes(cell.bytes),
    String(cell.cf), ...["q1", "median", "q3"].map((key) => microseconds(cell.time_us[key])),
      cell.slowdown > 0 ? digits(cell.slowdown) + (cell.collapse ? "*" : "") : "–"]));
}

function slowdownsSection(tables) {
  const channels = tables.map((one) => ({channel: one.channel, cells: cellsOf(one)}));
  // One scale for all, so that channels can be compared. Borders are a factor of 1.5 apart.
  const scale = new ColourScale(Math.max(...channels.flatMap(({cells}) =>
    cells.map((cell) => cell.slowdown)), 2), 1.5);
  return html("section", {class: "panel"}, html("h2", {}, "Shared channels"),
    html("p", {class: "soft"}, "How much longer an exchange of "
    + "messages takes when several pairs of ranks exchange theirs over the same channel: t(m, cf) / t(m, 1), of medians. The first row has the times of one pair."),
    ...channels.flatMap((channel) => [html("h3", {}, CHANNELS[channel.channel]),
      drawSlowdowns(channel, scale), slowdownsTable(channel)]));
}

// The page of `hierbar predict`: from what it predicts, the splits, and the tables behind them.

function requestSection(prediction) {
  const facts = [
    ["messages", `${prediction.traffic} among ${plural(prediction.num_ranks, "rank")}`],
    ["nodes", prediction.machine],
    ["model", prediction.model],
    ["costs", prediction.source],
  ];
  if (prediction.contention.single_copy !== "") facts.push(["copies inside a node",
    prediction.contention.single_copy]);
  if (prediction.measured !== undefined) {
    const {num_splits, mean_error, kendall_tau} = prediction.measured;
    facts.push(["measured",
      `${plural(num_splits, "split")}, mean error of the prediction ${percent(mean_error)}; order: `
      + (kendall_tau === null ? "no two times differ by more than their quartiles"
        : `Kendall's tau ${digits(kendall_tau)} where times differ by more than their quartiles`)]);
  }
  return html("section", {class: "panel"}, html("h2", {}, "Predicted for"), factsList(facts));
}

drawPage((prediction) => [requestSection(prediction), splitsSection(prediction),
  slowdownsSection(prediction.contention.tables)]);
