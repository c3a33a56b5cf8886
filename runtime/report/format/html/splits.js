// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
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
    rect(x, y, Math.max(times.median * scale, 0.5), 12, `bar ${part}`, `${hint}: ${microseconds(times.median)}, quartiles ${microseconds(times.q1)} and ${microseconds(times.q3)}`),
    line(x + times.q1 * scale, middle, x + times.q3 * scale, middle, "whisker"),
    ...[times.q1, times.q3].map((us) => line(x + us * scale, middle - 4, x + us * scale, middle + 4, "whisker")),
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
    text(0, y + 28, `order ${split.order}${split.binds === null ? "" : `, ${split.binds} binds`}`, "soft small"),
    ...timeBar(split.time_us, left, barTop, scale, "sync", `${split.split}: predicted`),
    ...(measured === undefined ? [] : timeBar(measured, left, barTop + 13, scale, "imbalance", `${split.split}: measured`)),
    narrow ? text(pictureWidth(), y + 14, words, "small end") : text(left + Math.max(...ends) * scale + 8, y + 20, words, "small"));
}

function drawSplits(splits) {
  const [left, right, top, step] = NARROW.matches ? [6, 26, 48, 68] : [190, 260, 34, 38];
  const shown = splits.slice(0, MOST_SPLITS);
  const most = Math.max(...shown.flatMap((split) => [split.time_us.q3, split.measured_us?.q3 ?? 0]), 1e-3);
  const scale = (pictureWidth() - left - right) / most;
  const bottom = top + shown.length * step;
  const parts = [["sync", "predicted"], ...(hasMeasured(splits) ? [["imbalance", "measured"]] : [])];
  const legendRow = parts.flatMap(([part, meaning], i) => [
    rect(i * 130, 4, 12, 12, `legend-colour ${part}`), text(i * 130 + 18, 14, meaning, "small")]);
  const marks = ticks(most).flatMap((us) => [
    ...(us === 0 ? [] : [line(left + us * scale, top, left + us * scale, bottom, "grid")]),
    text(left + us * scale, bottom + 16, us === 0 ? "0" : microseconds(us), "soft small middle"),
  ]);
  return picture("splits", bottom + 24, `${hasMeasured(splits) ? "Predicted and measured" : "Predicted"} times of each split`,
    "A row for each split of the ranks over nodes, with a bar for the predicted time, and one for the measured time where there is one.",
    ...legendRow, text(...(NARROW.matches ? [0, 34] : [270, 14]), "bars are medians, lines go from quartile to quartile", "soft small"),
    ...marks, ...shown.map((split, i) => splitRow(split, top + i * step, left, scale)),
    ...axisAtZero(left, top, bottom));
}

function splitsTable(splits) {
  const times = (quartiles) => (quartiles === undefined ? "–" : `${microseconds(quartiles.median)} (${microseconds(quartiles.q1)} to ${microseconds(quartiles.q3)})`);
  const channels = (split) => split.channels.map((one) => `${one.channel} ${one.largest_cf}/${digits(one.mean_cf)}`).join(", ") || "–";
  return table("times of each split, and how many pairs share channels", ["split", "order", "predicted (quartiles)", "measured (quartiles)", "error",
    "binds", "cf largest/mean"], splits.map((split) => [split.split, String(split.order), times(split.time_us), times(split.measured_us),
    split.measured_us === undefined ? "–" : signed(errorOf(split)), split.binds ?? "–", channels(split)]));
}

function splitsSection(prediction) {
  const {splits} = prediction;
  const section = html("section", {class: "panel"}, html("h2", {}, hasMeasured(splits) ? "Predicted and measured" : "Predicted"),
    html("p", {class: "soft"}, "Every way in which a launcher spreads the ranks over nodes, the fastest prediction first. Splits inside each other's quartiles have one place in the order."),
    drawSplits(splits));
  if (splits.length > MOST_SPLITS) section.append(html("p", {class: "note"}, `${splits.length - MOST_SPLITS} more splits are in the table.`));
  section.append(splitsTable(splits));
  return section;
}
