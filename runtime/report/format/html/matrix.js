// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who arrives last: a row for each process and a column for each thread. For barriers of ranks, a
// column for each rank.

const mostColumns = () => (NARROW.matches ? 32 : 128);  // larger teams go on in a band below

const shareOf = (row, thread) => (row.barriers > 0
  ? (row.last_arrivals[thread] ?? 0) / row.barriers : 0);
const rowName = (row, rows) => (rows.some((other) => other.host !== row.host)
  ? `${row.name} @${row.host}` : row.name);

function matrixBand(site, from, to, top, left, cell, scale) {
  const drawn = [];
  const height = 20, every = cell >= 16 ? 1 : 8;
  site.processes.forEach((row, i) => {
    const y = top + i * height;
    drawn.push(text(left - 8, y + 14, shorten(rowName(row, site.processes), NARROW.matches ? 14
      : 20), "small end"));
    for (let thread = from; thread < to; ++thread) {
      const share = shareOf(row, thread);
      const classes = share === 0 ? "cell none" : `cell box q${scale.index(share)}`;
      const x = left + (thread - from) * cell;
      drawn.push(rect(x, y, cell, height, classes,
        `${row.name}, ${site.participant} ${memberName(site, thread)}: last in ${percent(share)}`));
      if (cell >= 48 && share > 0) drawn.push(text(x + cell / 2, y + 14, percent(share),
        `small middle t${scale.index(share)}`));
    }
  });
  const y = top + site.processes.length * height;
  for (let thread = from; thread < to; thread += every)
    drawn.push(text(left + (thread - from + 0.5) * cell, y + 14, memberName(site, thread),
      "soft small middle"));
  return drawn;
}

function drawMatrix(site) {
  const [left, top] = NARROW.matches ? [100, 72] : [150, 54];
  const columns = Math.min(site.team_size, mostColumns());
  const cell = Math.min((pictureWidth() - left - 2) / columns, 64);
  const bandHeight = site.processes.length * 20 + 30;
  const shares = site.processes.flatMap((row) =>
    row.last_arrivals.map((_, thread) => shareOf(row, thread)));
  const scale = new ColourScale(Math.max(...shares, 0.01), 2);
  const drawn = [legend(scale, left, 16, "share of last arrivals", percent, "never")];
  const [wordsLeft, baseline] = NARROW.matches ? [0, 60] : [left + 540, 26];
  drawn.push(text(wordsLeft, baseline, `an even share is ${percent(1 / site.team_size)}`,
    "soft small"));
  let bands = 0;
  for (let from = 0; from < site.team_size; from += columns, ++bands)
    drawn.push(...matrixBand(site, from, Math.min(from + columns, site.team_size), top
      + bands * bandHeight, left, cell, scale));
  drawn.push(text(left - 18, top + bands * bandHeight - 16, site.participant, "soft small end"));
  return picture("matrix", top + bands * bandHeight, "Who arrives last",
    `${plural(site.processes.length, "row")} by ${plural(site.team_size, site.participant)}; each cell is the share of barriers in which the ${site.participant} was last.`,
    ...drawn);
}

// The table also has the mean waits, which answer the same question.
function matrixTable(site) {
  const timesOf = new Map(site.threads.map((thread) => [thread.thread, columnsOf(thread)]));
  const columns = site.threads.length > 0 ? columnsOf(site.threads[0]).map(([name]) => name) : [];
  const rows = Array.from({length: site.team_size}, (_, thread) => {
    const means = timesOf.get(thread)?.map(([, times]) =>
      (times.count > 0 ? duration(times.mean) : "–")) ?? columns.map(() => "–");
    return [`${site.participant} ${memberName(site, thread)}`,
      ...site.processes.map((row) => percent(shareOf(row, thread))), ...means];
  });
  return table("share of last arrivals, and mean waits of all processes together",
    ["", ...site.processes.map((row) => rowName(row, site.processes)), ...columns], rows);
}

function matrixParts(site) {
  const parts = [html("h3", {}, "Who arrives last"),
    html("p", {class: "soft"},
    `Of ${site.processes.length === 1 ? "the" : "each process's"} barriers `
    + `here, the share in which a ${site.participant} was the last to come, tasks included. All others waited for it.`)];
  return [...parts, drawMatrix(site), matrixTable(site)];
}
