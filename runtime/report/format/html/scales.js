// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Maps values to positions and colours.

// The smallest of 1, 2, 5, 10, ... that is not less.
function nice(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  for (const step of [1, 2, 5]) if (value <= step * power * (1 + 1e-9)) return step * power;
  return 10 * power;
}

// About four round values from 0 to about `most`.
function ticks(most) {
  const step = nice(most / 5);
  return Array.from({length: Math.floor(most / step + 1e-9) + 1}, (_, i) => i * step);
}

// Eight colours. The last one's upper border is a round number not below `most`. The border of each
// other one is the next one's divided by `ratio`: with equal steps all but the slowest would have
// one colour. The exact figures are in the tables.
const NUM_COLOURS = 8;
class ColourScale {
  constructor(most, ratio) {
    this.top = nice(most);
    this.ratio = ratio;
  }
  upper(index) {
    return this.top / this.ratio ** (NUM_COLOURS - 1 - index);
  }
  index(value) {
    for (let i = 0; i < NUM_COLOURS; ++i) if (value <= this.upper(i) * (1 + 1e-9)) return i;
    return NUM_COLOURS - 1;
  }
}

// The colours with the values at their borders, and before them the colour of what has no value.
function legend(scale, x, y, caption, format, none) {
  const width = NARROW.matches ? 34 : 58, every = NARROW.matches ? 2 : 1;
  if (NARROW.matches) x = 18;  // half of the first words are left of their colour's middle
  const group = svg("g", {class: "legend"}, text(x, y - 6, caption, "soft small"));
  if (none !== undefined) {
    group.append(rect(x, y, width - 8, 12, "none"), text(x + (width - 8) / 2, y + 25, none, "soft small middle"));
    x += width;
  }
  for (let i = 0; i < NUM_COLOURS; ++i) {
    group.append(rect(x + i * width, y, width, 12, `legend-colour q${i}`));
    if ((i + 1) % every === 0) group.append(text(x + (i + 1) * width, y + 25, format(rounded(scale.upper(i))), "soft small middle"));
  }
  return group;
}
