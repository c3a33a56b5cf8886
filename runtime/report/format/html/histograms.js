// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Histograms one below the other on a common axis, so that levels can be compared.

const MARKS = ["p50", "p90", "p99"];

// The histograms of a site: the waits of its threads, the barrier, and the levels.
function histogramsOf(site) {
  const all = columnsOf(site).map(([name, times]) => ({name, times, isLevel: false}));
  for (const level of site.levels) all.push({name: level.level, times: level.ns, isLevel: true});
  return all.filter(({times}) => times.count > 0);
}

// A logarithmic axis between two powers of ten. Times of 0 have a place of their own, left of it.
class TimeAxis {
  constructor(histograms, left, right) {
    const ends = histograms.flatMap(({times}) => times.buckets);
    const positive = ends.filter(([first]) => first > 0);
    this.hasZero = ends.some(([first]) => first === 0);
    this.low = Math.floor(Math.log10(Math.min(...positive.map(([first]) => first), 1e3)) + 1e-9);
    this.high = Math.max(Math.ceil(Math.log10(Math.max(...positive.map(([, end]) => end),
      1)) - 1e-9), this.low + 1);
    this.left = left + (this.hasZero ? 46 : NARROW.matches ? 20 : 0);  // room for half a label
    this.zeroLeft = left + 6;
    this.right = right;
  }
  place(ns) {
    const share = (Math.log10(Math.max(ns, 1e-3)) - this.low) / (this.high - this.low);
    return this.left + Math.min(Math.max(share, 0), 1) * (this.right - this.left);
  }
  // Where a single duration is drawn, such as a percentile.
  mark(ns) {
    return ns === 0 && this.hasZero ? this.zeroLeft + 11 : this.place(ns);
  }
  span([first, end]) {
    return first === 0 ? [this.zeroLeft, this.zeroLeft + 22] : [this.place(first), this.place(end)];
  }
  draw(top, bottom) {
    const drawn = [];
    if (this.hasZero) drawn.push(text(this.zeroLeft + 11, bottom + 16, "0", "soft small middle"));
    const every = NARROW.matches && this.high - this.low > 4 ? 2 : 1;
    for (let power = this.low; power <= this.high; ++power) {
      const x = this.place(10 ** power);
      drawn.push(line(x, top, x, bottom, "grid"));
      if ((this.high - power) % every === 0) drawn.push(text(x, bottom + 16, duration(10 ** power),
        "soft small middle"));
    }
    return drawn;
  }
}

// Bars whose area is their share. The highest one fills the height. The bar of 0 does not count for
// that, because 0 has no width on this axis.
function histogramBars({name, times}, axis, top, height) {
  const bars = times.buckets.map((bucket) => {
    const [x, end] = axis.span(bucket);
    return {bucket, x, width: Math.max(end - x, 0.8), density: bucket[2] / Math.max(end - x, 0.8)};
  });
  const highest = Math.max(...bars.filter(({bucket}) => bucket[0] > 0).map(({density}) => density),
    0)
    || Math.max(...bars.map(({density}) => density));
  return bars.map(({bucket: [first, end, count], x, width, density}) => {
    const size = Math.max(Math.min(density / highest, 1) * height, 0.8);
    const range = first === 0 ? "0 ns" : `${duration(first)} to ${duration(end)}`;
    return rect(x, top + height - size, width, size, `histogram-bar ${name}`,
      `${name}, ${range}: ${percent(count / times.count)}`);
  });
}

function marksLegend(x, y) {
  const group = svg("g", {class: "legend"});
  MARKS.forEach((mark, i) => group.append(line(x + i * 70, y, x + i * 70 + 22, y, mark),
    text(x + i * 70 + 28, y + 4, mark, "small")));
  return group;
}

function drawHistograms(histograms, resolution) {
  const narrow = NARROW.matches, top = 26, height = 44;
  const [left, right, step] = narrow ? [0, pictureWidth() - 24, 92]
    : [180, pictureWidth() - 190, 58];
  const axis = new TimeAxis(histograms, left, right);
  const bottom = top + histograms.length * step;
  const drawn = [marksLegend(left, 8), ...axis.draw(top, bottom)];
  histograms.forEach((histogram, row) => {
    const {name, times} = histogram, y = top + row * step + step - height;
    const words = narrow ? y - 24 : y + 26;  // the upper one of two lines
    drawn.push(text(0, words, shorten(name, narrow ? 20 : 26), "name"),
      text(0, words + 15, `mean ${duration(times.mean)}`, "soft small"));
    drawn.push(line(left, y + height, right, y + height, "axis"));
    if (!levelIsTold(histogram, resolution)) {
      drawn.push(text(left + 60, y + 30, "shorter than the clock can tell", "soft"));
      return;
    }
    drawn.push(...histogramBars(histogram, axis, y, height));
    for (const mark of MARKS) drawn.push(line(axis.mark(times[mark]), y - 4,
      axis.mark(times[mark]), y + height, mark));
    const [x, end] = narrow ? [pictureWidth(), " end"] : [right + 14, ""];
    drawn.push(text(x, words, MARKS.map((mark) => duration(times[mark])).join(" / "),
      `small${end}`));
    drawn.push(text(x, words + 15, `max ${duration(times.max)}`, `soft small${end}`));
  });
  return picture("histograms", bottom + 24, "Histograms of waiting times and levels",
    "One histogram for each of imbalance, sync, barrier and the levels, on one logarithmic axis, p50, p90 and p99 marked.", ...drawn);
}

// Only levels can be so short that the clock's ticks make them noise. An imbalance of 0 is a fact.
function levelIsTold({times, isLevel}, resolution) {
  return !isLevel || times.mean >= 2 * resolution;
}

function histogramParts(site, report) {
  const heading = html("h3", {}, "How long it took");
  const histograms = histogramsOf(site);
  if (histograms.length === 0) return [heading,
    html("p", {class: "note absent"}, "No time was recorded here.")];
  return [heading,
    html("p", {class: "soft"},
    "Imbalance and sync are those of each thread; the barrier, from the last arrival to the last "
    + "release, and its levels those of each episode. A bar's area is its share; at the right p50 / p90 / p99."),
    drawHistograms(histograms, report.clock.resolution_ns),
    timesTable("times", histograms.map(({name, times}) => [name, times]))];
}
