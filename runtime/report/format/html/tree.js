// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tree of the barriers, as boxes over their threads. Each level is coloured by its latency.

// The levels from the top: the exchange, then each level with its gather and its release. The file
// lists them in the order of the path through the tree: up, exchange, down, outside. A level that
// is shorter than two of the clock's ticks is noise, and its time is not shown.
function levelsOf(site, resolution) {
  const depth = (site.levels.length - 2) / 2;
  const levels = [[site.levels[depth]]];
  for (let d = 0; d < depth; ++d) levels.push([site.levels[depth - 1 - d],
    site.levels[depth + 1 + d]]);
  return levels.map((parts) => {
    const seen = parts.filter((part) => part.ns.count > 0);
    const measured = seen.filter((part) => part.ns.mean >= 2 * resolution);
    const median = sum(measured.map((part) => part.ns.p50));
    const silent = seen.length > 0 ? "shorter than the clock can tell"
      : "never on the critical path";
    return {
      title: parts.length === 2 ? parts[0].level.replace("gather", "level") : parts[0].level,
        measured, median, latency: measured.length > 0 ? duration(median) : silent,
    };
  });
}

// Threads of several ranks are called rank.thread.
const memberName = (site, number) => site.members?.[number] ?? String(number);

// The threads in the order in which they are drawn and, for each thread that gathers, where its
// subtree begins and ends. The first thread of a group is the one that gathers. Level 0 is the
// leaders.
function layTree(groups) {
  const gathered = new Map(groups.filter((group) => group.level > 0)
    .map((group) => [group.threads[0], group]));
  const order = [], boxes = [];
  const visit = (thread) => {
    const group = gathered.get(thread), first = order.length;
    gathered.delete(thread);  // so that a wrong file cannot make an endless tree
    order.push(thread);
    if (group === undefined) return;
    group.threads.slice(1).forEach(visit);
    boxes.push({level: group.level, unit: group.unit, thread, others: group.threads.length - 1,
      first, size: order.length - first});
  };
  groups.filter((group) => group.level === 0).forEach((group) => group.threads.forEach(visit));
  return {order, boxes};
}

// `group` is null for all threads.
function levelBox(level, group, x, y, width, height, scale, site) {
  const colour = level.measured.length > 0 ? scale.index(level.median) : -1;
  const who = group === null ? "all"
    : `${group.unit}${group.unit && ": "}${site.participant} ${memberName(site, group.thread)} gathers from ${group.others}`;
  const ways = level.measured.map((part) => `${part.level} ${duration(part.ns.p50)}`).join(", ")
    || level.latency;
  const box = svg("g", {}, rect(x, y, width, height, colour < 0 ? "level none"
    : `level box q${colour}`, `${who}: ${ways}`));
  // A character is about 6.5 wide. A label that does not fit is only in the hint and in the table.
  const labels = group === null ? [level.latency]
    : [who, group.unit, String(group.others)].filter((words) => words !== "");
  const label = labels.find((words) => words.length * 6.5 < width - 6);
  if (label !== undefined) box.append(text(x + width / 2, y + height / 2 + 4, label, colour < 0
    ? "middle" : `middle t${colour}`));
  return box;
}

function threadRow(order, x, y, width, site) {
  const step = width / order.length, every = order.length <= (NARROW.matches ? 10 : 40) ? 1
    : NARROW.matches ? 16 : 8;
  const row = svg("g", {});
  order.forEach((thread, i) => {
    row.append(rect(x + i * step, y, step, 18, "thread none",
      `${site.participant} ${memberName(site, thread)}`));
    if (i % every === 0) row.append(text(Math.max(x + (i + 0.5) * step, 4), y + 32,
      memberName(site, thread), "soft small middle"));
  });
  return row;
}

// If groups are not known, each level is drawn as wide as all threads.
function drawTree(site, resolution) {
  const levels = levelsOf(site, resolution);
  const narrow = NARROW.matches, left = narrow ? 1 : 200, width = pictureWidth() - left - 2,
    height = 34, top = 54;
  // A narrow picture has names above the boxes.
  const above = narrow ? 18 : 0, rowHeight = above + height + 4;
  const {order, boxes} = layTree(site.groups);
  const step = width / order.length;
  const scale = new ColourScale(Math.max(...levels.map((level) => level.median), 1), Math.SQRT2);
  const drawn = [legend(scale, left, 16, "median latency of a level, up and down together",
    duration, "not told")];
  levels.forEach((level, row) => {
    const y = top + row * rowHeight + above;
    drawn.push(text(0, narrow ? y - 5 : y + 15, shorten(level.title, narrow ? 24 : 28), "name"),
      narrow ? text(pictureWidth(), y - 5, level.latency, "soft small end")
        : text(0, y + 30, level.latency, "soft small"));
    if (row === 0 || order.length === 0) drawn.push(levelBox(level, null, left, y, width, height,
      scale, site));
    for (const group of boxes.filter((box) => box.level === row))
      drawn.push(levelBox(level, group, left + group.first * step, y, group.size * step, height,
        scale, site));
  });
  const bottom = top + levels.length * rowHeight + above;
  if (order.length > 0) drawn.push(text(0, narrow ? bottom - 5 : bottom + 13,
    `${site.participant}s`, "name"), threadRow(order, left, bottom, width, site));
  return picture("tree", bottom + (order.length > 0 ? 38 : 4),
    "The barrier's tree, coloured by latency",
    levels.map((level) => `${level.title}: ${level.latency}`).join("; "), ...drawn);
}

function treeTable(site, resolution) {
  const namesOf = (group) => group.threads.map((thread) => memberName(site, thread)).join(" ");
  const rows = levelsOf(site, resolution).map((level, row) => [level.title, level.latency,
    level.measured.map((part) =>
      `${part.level} ${duration(part.ns.p50)} (mean ${duration(part.ns.mean)})`).join(", "),
    site.groups.filter((group) => group.level === row)
      .map((group) => `${group.unit} ${namesOf(group)}`.trim()).join("; ")]);
  return table("the levels of the tree", ["level", "median", "of it",
    `groups of ${site.participant}s, first the one that gathers`], rows);
}

function treeParts(site, report) {
  const heading = html("h3", {}, "Levels of the barrier");
  if (site.levels.length === 0) {
    const why = `Levels of this site are not known. Levels in this report: ${report.levels}.`;
    return [heading, html("p", {class: "note absent"}, why)];
  }
  const notes = site.groups.length > 0 ? [] : [html("p", {class: "note"},
    "The report does not say who forms a group.")];
  return [heading,
    html("p", {class: "soft"},
    `The tree that the barriers ran on: leaders exchange at the top, below it the ${site.participant}s `
    + `that gather from others, at the bottom all ${site.participant}s.`), ...notes,
    drawTree(site, report.clock.resolution_ns), treeTable(site, report.clock.resolution_ns)];
}
