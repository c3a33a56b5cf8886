// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the threads waited for, site by site: imbalance and the barrier itself; and, apart from
// both, the tasks that they ran meanwhile.

const MOST_BARS = 24;  // the table has all sites
const PARTS = [["imbalance", "waiting for the last thread"], ["sync", "the barrier itself"],
  ["tasks", "tasks run while waiting"]];

function partsOf(site) {
  return {imbalance: site.imbalance_ns.sum, sync: site.sync_ns.sum, tasks: site.tasks_ns};
}
const sum = (values) => values.reduce((total, value) => total + value, 0);
const totalOf = (site) => sum(Object.values(partsOf(site)));

function barsLegend(y) {
  const group = svg("g", {class: "legend"});
  PARTS.forEach(([part, meaning], i) => {
    const [x, top] = NARROW.matches ? [0, y + 18 * i] : [250 * i, y];
    group.append(rect(x, top, 12, 12, `legend-colour ${part}`),
      text(x + 18, top + 10, `${part}: ${meaning}`, "small"));
  });
  return group;
}

// Whole names and paths, which are left out where a site is named. Older reports have none.
function hintOf(site) {
  const frames = site.code === undefined ? [] : site.code.frames;
  return [site.site,
    ...frames.map((frame) => `${frame.function}\n    ${frame.file}:${frame.line}`)].join("\n");
}

// One row: name, bar and time; one below the other in a narrow window.
function barRow(site, index, y, left, scale) {
  const group = svg("g", {});
  const [barTop, barHeight] = NARROW.matches ? [y + 34, 14] : [y + 4, 20];
  const name = text(0, y + 13, `${index + 1}  ${shorten(site.site, 40)}`, "name");
  name.append(svg("title", {}, hintOf(site)));
  group.append(name);
  group.append(text(16, y + 28,
    `${site.kind}, ${plural(site.team_size, site.participant)}, ${plural(site.barriers, "barrier")}`, "soft small"));
  let x = left;
  for (const [part] of PARTS) {
    const ns = partsOf(site)[part];
    if (ns === 0) continue;
    if (part === "tasks" && x > left) x += 3;  // set apart, because it is no wait
    const width = Math.max(ns * scale, 0.5);
    group.append(rect(x, barTop, width, barHeight, `bar ${part}`,
      `${site.site}: ${part} ${duration(ns)}`));
    x += width;
  }
  const {imbalance, sync} = partsOf(site);
  const share = imbalance + sync > 0 ? `, ${percent(imbalance / (imbalance + sync))} imbalance`
    : "";
  const [wordsLeft, baseline] = NARROW.matches ? [left, y + 61] : [x + 8, y + 18];
  group.append(text(wordsLeft, baseline, duration(totalOf(site)) + share, "small"));
  return group;
}

function drawBars(sites) {
  const [left, right, top, step] = NARROW.matches ? [6, 26, 66, 72] : [330, 170, 34, 36];
  const shown = sites.slice(0, MOST_BARS);
  const most = Math.max(...shown.map(totalOf), 1);
  const scale = (pictureWidth() - left - right) / most;
  const bottom = top + shown.length * step;
  const marks = ticks(most).flatMap((ns) => [
    ...(ns === 0 ? [] : [line(left + ns * scale, top, left + ns * scale, bottom, "grid")]),
    text(left + ns * scale, bottom + 16, ns === 0 ? "0" : duration(ns), "soft small middle"),
  ]);
  const bars = shown.map((site, i) => barRow(site, i, top + i * step, left, scale));
  return picture("bars", bottom + 24, "Imbalance versus sync for each site",
    "A bar for each site, made of imbalance, sync and tasks, of all threads together.",
      barsLegend(4), ...marks, ...bars,
    ...axisAtZero(left, top, bottom));
}

function barsTable(sites) {
  const rows = sites.map((site, i) => {
    const parts = partsOf(site);
    return [html("span", {title: hintOf(site)}, `${i + 1}  ${site.site}`), site.kind,
      number(site.team_size), number(site.barriers),
      ...PARTS.map(([part]) => duration(parts[part])), duration(site.imbalance_ns.mean),
        duration(site.sync_ns.mean)];
  });
  return table("time of all threads for each site",
    ["site", "kind", "threads or ranks", "barriers", ...PARTS.map(([part]) => part),
    "mean imbalance", "mean sync"], rows);
}

function barsSection(sites) {
  const section = html("section", {class: "panel"}, html("h2", {}, "Imbalance versus sync"),
    html("p", {class: "soft"},
      "The time that all threads together spent in the barriers of each site, the most expensive first."));
  if (sites.length === 0) {
    section.append(html("p", {class: "note"}, "No barrier of more than one thread was seen."));
    return section;
  }
  section.append(drawBars(sites));
  if (sites.length > MOST_BARS) section.append(html("p", {class: "note"},
    `${sites.length - MOST_BARS} more sites are in the table.`));
  section.append(barsTable(sites));
  return section;
}
