// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report: how it was measured, all sites in one picture, and a section for each site, which is
// drawn when it is opened.

function offsetOf(clock) {
  if (clock.offset_problem !== "") return `between packages not measured: ${clock.offset_problem}`;
  if (clock.packages === 0) return "between packages not measured";
  if (clock.packages === 1) return "none: all cpus of this process are in one package";
  return `${duration(clock.offset_ns)} at most between the clocks of ${clock.packages} packages, known to ${duration(clock.offset_error_ns)}`;
}

function factsSection(report) {
  const {process, clock, lost} = report;
  const facts = [
    ["runtime", report.runtime],
    ["tool", `hierbar ${report.hierbar}`],
    ["processes", report.processes > 1 ? `${report.processes} on ${process.host}`
      : `process ${process.pid} on ${process.host}${process.rank >= 0 ? `, rank ${process.rank}` : ""}`],
    ["clock",
      `${clock.name}, resolution ${duration(clock.resolution_ns)}; a stamp costs ${duration(clock.stamp_ns)}, two for each thread and barrier`],
    ["offset", offsetOf(clock)],
    ["placement", report.placement],
    ["levels", report.levels],
    ["sampled", report.sample > 1 ? `one barrier in ${number(report.sample)}` : "every barrier"],
    ["left out",
      `${plural(lost.left_out, "barrier")} after the tool's own work, ${number(lost.incomplete)} that not all threads took part in`],
    ["idle", `${duration(report.idle_ns)} of threads between two regions, in no barrier`],
  ];
  if (process.job !== "0") facts.splice(3, 0, ["job", process.job]);
  const section = html("section", {class: "panel"}, html("h2", {}, "Measured with"),
    factsList(facts));
  if (lost.backwards > 0)
    section.append(html("p", {class: "warning"},
      `In ${plural(lost.backwards, "barrier")} somebody left before the last arrival: the cpus' clocks differ.`));
  return section;
}

function siteSection(site, index, report) {
  const means =
    `mean imbalance ${duration(site.imbalance_ns.mean)}, mean sync ${duration(site.sync_ns.mean)}`;
  const section = html("details", {class: "panel site"}, html("summary", {},
    html("h2", {}, `${index + 1}  `, html("code", {title: hintOf(site)}, site.site)),
    html("span", {class: "soft"},
      `${site.kind}, ${plural(site.team_size, site.participant)}, ${plural(site.barriers, "barrier")}, ${means}`)));
  let drawn = false;
  section.addEventListener("toggle", () => {
    if (section.open && !drawn) section.append(...treeParts(site, report),
      ...histogramParts(site, report), ...matrixParts(site));
    drawn = drawn || section.open;
  });
  return section;
}

function siteSections(report) {
  const sections = report.sites.map((site, i) => siteSection(site, i, report));
  if (sections.length > 0) sections[0].open = true;
  if (sections.length < 2) return sections;
  const all = html("button", {type: "button"}, "open all sites");
  all.addEventListener("click", () => sections.forEach((section) => { section.open = true; }));
  return [html("p", {class: "buttons"}, all), ...sections];
}

function wordsSection(report) {
  const words = [
    ...report.meanings,
    ["gather, exchange, release",
      "the barrier's time along its critical path: up, across and down the tree, 1 nearest to the exchange"],
    ["outside", "the rest: a rank's way out of MPI_Barrier, and nothing for threads"],
  ];
  return html("section", {class: "panel"}, html("h2", {}, "Words"), factsList(words));
}

drawPage((report) => [factsSection(report), barsSection(report.sites), ...siteSections(report),
  wordsSection(report)]);
