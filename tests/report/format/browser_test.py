#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Opens HTML reports and predictions in Chromium and looks at what it draws.

    browser_test.py --hierbar build/release/bin/hierbar [--keep DIRECTORY]
                    --sample tests/report/format/two_threads.json
                    --costs tests/fuzz/corpus/network_profile/shared_channels.json

The sample is a report of a real run, made by
`HIERBAR_REPORT=json KMP_BARRIER=hier barriers imbalanced 5000 20000`. A machine of 4 times 128
threads and the costs of a network are made up. --keep leaves the pages and pictures for people to
look at.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import png
import synthetic

ARGUMENTS = None
WIDTH, HEIGHT = 1280, 2100
# The steps of the colour scale as the style has them, from little to much.
PALETTES = {
    "light": ["ffffd9", "edf8b1", "c7e9b4", "7fcdbb", "41b6c4", "1d91c0", "225ea8", "0c2c84"],
    "dark": ["440154", "46327e", "365c8d", "277f8e", "1fa187", "4ac16d", "a0da39", "fde725"],
}
PAGE = {"light": "f6f7f9", "dark": "12161c"}

OPEN_ALL = """<script>
addEventListener("load", () => {
  for (const part of document.querySelectorAll("details")) part.open = true;
  setTimeout(() => {
    for (const part of document.querySelectorAll("details")) part.open = true;
  }, 50);
});
</script></body>"""

# Put at the end of a copy of the page: what a person would see without measuring. Boxes are in the
# window's pixels.
PROBE = """<script>
addEventListener("load", () => setTimeout(() => {
  const box = (element) => {
    const r = element.getBoundingClientRect();
    return [r.left, r.top, r.right, r.bottom];
  };
  const all = (selector) => [...document.querySelectorAll(selector)];
  const found = {overflow: document.documentElement.scrollWidth - innerWidth, collisions: [],
    outside: [], pictures: {}};
  for (const picture of all("svg.picture")) {
    const frame = box(picture);
    const texts = [...picture.querySelectorAll("text")].map(
      (text) => [text.textContent, box(text)]);
    for (const [words, [left, top, right, bottom]] of texts)
      if (left < frame[0] - 1 || right > frame[2] + 1 || top < frame[1] - 1 ||
          bottom > frame[3] + 1)
        found.outside.push(words);
    texts.forEach(([words, a], i) => texts.slice(i + 1).forEach(([others, b]) => {
      if (a[0] < b[2] - 1 && b[0] < a[2] - 1 && a[1] < b[3] - 3 && b[1] < a[3] - 3)
        found.collisions.push([words, others]);
    }));
    const boxes = (selector) => [...picture.querySelectorAll(selector)].map(
      (part) => [part.getAttribute("class"), box(part)]);
    (found.pictures[picture.classList[1]] ??= []).push({frame, cells: boxes(".cell"),
      levels: boxes(".level"), threads: boxes(".thread").length, bars: boxes(".bar"),
      buckets: boxes(".histogram-bar").length, marks: boxes("line.p50").length,
      colours: boxes(".legend-colour"), title: picture.querySelector("title").textContent});
  }
  found.width = innerWidth;
  found.scrolled = all(".scroll")
    .filter((room) => room.querySelector("svg") && room.scrollWidth > room.clientWidth + 1)
    .map((room) => room.querySelector("title").textContent);
  found.errors = all(".error").map((error) => error.textContent);
  found.rows = all("details.table").map((table) => table.querySelectorAll("tbody tr").length);
  found.absent = all(".absent").map((note) => note.textContent);
  found.textIsOpen = document.getElementById("text").open;
  found.markup = all("main b").length;
  found.theme = document.documentElement.dataset.theme;
  const probe = document.createElement("script");
  probe.type = "application/json";
  probe.id = "probe";
  probe.textContent = JSON.stringify(found);
  document.body.append(probe);
}, 100));
</script></body>"""


def find_browser():
    return next(
        (
            path
            for name in ("chromium", "chromium-browser", "google-chrome")
            if (path := shutil.which(name))
        ),
        None,
    )


class Browser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.profile = pathlib.Path(scratch.name) / "profile"
        cls.directory = ARGUMENTS.keep or pathlib.Path(scratch.name)
        cls.directory.mkdir(parents=True, exist_ok=True)
        cls.sample = cls.page("sample", [ARGUMENTS.sample])
        header = json.loads(ARGUMENTS.sample.read_text())
        files = []
        for rank in range(synthetic.RANKS):
            files.append(cls.directory / f"rank{rank}.json")
            files[-1].write_text(json.dumps(synthetic.report(header, rank)))
        cls.large = cls.page("large", files)

    @classmethod
    def page(cls, name, reports):
        return cls.written(name, ["report", *reports])

    @classmethod
    def written(cls, name, command):
        """A copy of the page that the command writes, which measures itself."""
        page = cls.directory / f"{name}.html"
        subprocess.run([ARGUMENTS.hierbar.resolve(), *command, "--html", page], check=True)
        return cls.changed(page, f"{name}-measured", "</body>", PROBE)

    @classmethod
    def changed(cls, page, name, old, new):
        text = page.read_text()
        assert text.count(old) == 1
        copy = cls.directory / f"{name}.html"
        copy.write_text(text.replace(old, new))
        return copy

    def show(self, page, dark, fragment="", size=(WIDTH, HEIGHT)):
        """What was found in the page, and the picture."""
        picture = self.directory / f"{page.stem}-{'dark' if dark else 'light'}-{size[0]}.png"
        command = [
            find_browser(),
            "--headless",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
            "--force-device-scale-factor=1",
            f"--window-size={size[0]},{size[1]}",
            f"--user-data-dir={self.profile}",
            f"--blink-settings=preferredColorScheme={0 if dark else 1}",
            "--virtual-time-budget=2000",
            f"--screenshot={picture}",
            "--dump-dom",
        ]
        if os.geteuid() == 0:
            command.append("--no-sandbox")
        ending = subprocess.run(
            [*command, page.resolve().as_uri() + fragment],
            text=True,
            capture_output=True,
            timeout=60,
        )
        probe = re.search(
            r'<script type="application/json" id="probe">(.*?)</script>', ending.stdout, re.DOTALL
        )
        self.assertIsNotNone(
            probe, f"the page's scripts did not come to their end: {ending.stderr[-2000:]}"
        )
        return json.loads(probe.group(1)), png.Image(picture.read_bytes())

    def check_layout(self, found):
        self.assertEqual(found["errors"], [])
        self.assertLessEqual(found["overflow"], 0, "the page is wider than the window")
        self.assertEqual(found["outside"], [], "text is cut off")
        self.assertEqual(found["collisions"], [], "text stands on text")
        self.assertEqual(found["markup"], 0, "a name became markup")

    def one(self, found, kind):
        self.assertEqual(
            len(found["pictures"].get(kind, [])), 1, f"pictures: {list(found['pictures'])}"
        )
        return found["pictures"][kind][0]

    def colour_at(self, image, box, place=0.2):
        """Near the upper left corner, where no label is."""
        left, top, right, bottom = box
        return "%02x%02x%02x" % image.pixel(
            left + place * (right - left), top + place * (bottom - top)
        )

    def check_colours(self, image, theme, boxes):
        """Each box has the colour that its class says."""
        for classes, box in boxes:
            step = re.search(r"\bq(\d)\b", classes)
            if step is not None and box[3] < image.height:
                self.assertEqual(
                    self.colour_at(image, box),
                    PALETTES[theme][int(step.group(1))],
                    f"{classes} at {box}",
                )

    def check_drawn(self, found, image):
        for kind, pictures in found["pictures"].items():
            left, top, right, bottom = pictures[0]["frame"]
            if bottom < image.height:
                self.assertGreater(
                    len(image.colours(left, top, right, bottom)), 8, f"{kind} is blank"
                )

    def test_sample(self):
        report = json.loads(ARGUMENTS.sample.read_text())
        images = {}
        for theme in PALETTES:
            found, images[theme] = self.show(self.sample, theme == "dark")
            self.assertEqual(found["theme"], theme, "the browser's preference is followed")
            self.check_layout(found)
            self.check_drawn(found, images[theme])
            self.assertEqual("%02x%02x%02x" % images[theme].pixel(2, 2), PAGE[theme])
            self.assertEqual(len(self.one(found, "matrix")["cells"]), 2)
            self.assertEqual(self.one(found, "tree")["threads"], 2)
            self.assertEqual(len(self.one(found, "tree")["levels"]), 1, "the exchange")
            site = report["sites"][0]
            shown = [
                site["imbalance_ns"],
                site["sync_ns"],
                site["barrier_ns"],
                *(level["ns"] for level in site["levels"]),
            ]
            shown = [times for times in shown[:3] if times["count"]] + [
                times for times in shown[3:] if times["mean"] >= 20.1
            ]
            self.assertEqual(
                self.one(found, "histograms")["buckets"],
                sum(len(times["buckets"]) for times in shown),
            )
            self.assertEqual(
                self.one(found, "histograms")["marks"], len(shown) + 1, "and the legend's"
            )
            self.assertEqual(found["rows"], [2, 1, len(shown), 2], "a table under each picture")
            for kind in ("matrix", "tree"):
                for part in ("cells", "levels", "colours"):
                    self.check_colours(images[theme], theme, self.one(found, kind)[part])

    def expected_steps(self):
        """The colour of each cell, by rank and thread; None for a thread that was never last. The
        scale ends at 50 %."""

        def step(count):
            share = count / synthetic.EPISODES
            return (
                next((i for i in range(8) if share <= 0.5 / 2 ** (7 - i)), None) if count else None
            )

        return [
            step(count)
            for rank in range(synthetic.RANKS)
            for count in synthetic.last_arrivals(rank)
        ]

    def test_large_machine(self):
        for theme in PALETTES:
            found, image = self.show(self.large, theme == "dark")
            self.check_layout(found)
            self.check_drawn(found, image)
            cells = self.one(found, "matrix")["cells"]
            steps = [
                int(step.group(1)) if (step := re.search(r"\bq(\d)\b", classes)) else None
                for classes, _ in cells
            ]
            self.assertEqual(steps, self.expected_steps())
            self.check_colours(image, theme, cells)
            tree = self.one(found, "tree")
            self.assertEqual(
                (len(tree["levels"]), tree["threads"]),
                (1 + 2 + 14, 128),
                "the exchange, packages, their other L3 caches",
            )
            self.check_colours(image, theme, tree["levels"])
            self.assertEqual(
                len({classes for classes, _ in tree["levels"]}),
                3,
                "three levels, three latencies, three colours",
            )
            self.assertEqual(
                len(self.one(found, "bars")["bars"]),
                3 * 2 + 1,
                "three sites, one of them with tasks",
            )
            self.assertEqual(self.one(found, "histograms")["marks"], 3 + 6 + 1)

    def predicted(self):
        """The page of a prediction, with measurements of two splits."""
        costs = self.directory / "costs.json"
        costs.write_text(json.dumps(synthetic.costs(json.loads(ARGUMENTS.costs.read_text()))))
        runs = self.directory / "runs.csv"
        runs.write_text("# a line for each run\n1x8,25000\n1x8,26000\n2x4,1700000\n2x4,1900000\n")
        return self.written(
            "prediction",
            [
                "predict",
                "--traffic",
                "alltoall:1M",
                "-n",
                "8",
                "--topology",
                synthetic.MACHINE,
                "--network",
                costs,
                "--measured",
                runs,
            ],
        )

    def test_a_prediction(self):
        page = self.predicted()
        opened = self.changed(page, "prediction-opened", "</body>", OPEN_ALL)
        for theme in PALETTES:
            found, image = self.show(page, theme == "dark")
            self.check_layout(found)
            self.check_drawn(found, image)
            splits = len(re.findall(r'"split":', page.read_text()))
            self.assertEqual(
                len(self.one(found, "splits")["bars"]),
                splits + 2,
                "each is predicted, and two are measured",
            )
            channels = found["pictures"]["slowdowns"]
            self.assertEqual(
                [picture["title"] for picture in channels],
                [
                    "Slowdown inside an L3 cache",
                    "Slowdown between packages",
                    "Slowdown between nodes",
                ],
            )
            for picture in channels:
                self.assertEqual(len(picture["cells"]), len(synthetic.SIZES) * len(synthetic.PAIRS))
                self.check_colours(image, theme, picture["cells"])
            self.assertEqual(
                len({classes for classes, _ in channels[0]["cells"]}),
                1,
                "nobody is slowed down, so one colour",
            )
            self.assertEqual(
                len({classes for classes, _ in channels[2]["cells"]}),
                4,
                "a colour for each number of pairs",
            )
        self.check_layout(self.show(opened, dark=False, size=(700, 1000))[0])

    def test_all_opened_in_a_narrow_window_and_another_theme(self):
        page = self.changed(self.large, "large-opened", "</body>", OPEN_ALL)
        found, image = self.show(page, dark=False, fragment="#dark", size=(700, 1000))
        self.assertEqual(found["theme"], "dark", "as the address says")
        self.assertEqual("%02x%02x%02x" % image.pixel(2, 2), PAGE["dark"])
        self.check_layout(found)
        self.assertEqual(
            [len(matrix["cells"]) for matrix in found["pictures"]["matrix"]],
            [4 * 128, 4 * 128, 4 * 200],
        )
        self.assertEqual(found["rows"], [3, 3, 9, 128, 3, 128, 3, 200])
        self.assertEqual(len(found["absent"]), 2, "sites without levels say so")
        self.assertIn("are not known", found["absent"][0])

    def test_pictures_fit_a_phone(self):
        """Nothing but tables and the text must be scrolled sideways, and no word stands on another
        one."""
        pages = [
            self.changed(page, f"{page.stem}-phone", "</body>", OPEN_ALL)
            for page in (self.sample, self.large, self.predicted())
        ]
        for page in pages:
            for theme in PALETTES:
                found, image = self.show(page, theme == "dark", size=(400, 4000))
                self.assertLess(found["width"], 640, "the window is narrow")
                self.check_layout(found)
                self.check_drawn(found, image)
                self.assertEqual(found["scrolled"], [])
        self.assertEqual(
            [
                len(matrix["cells"])
                for matrix in self.show(pages[1], dark=False, size=(400, 4000))[0]["pictures"][
                    "matrix"
                ]
            ],
            [4 * 128, 4 * 128, 4 * 200],
            "bands have all cells",
        )

    def test_a_failure_is_told(self):
        page = self.changed(self.sample, "broken", '"lost":{', '"found":{')
        found, _ = self.show(page, dark=False, size=(700, 400))
        self.assertEqual(len(found["errors"]), 1)
        self.assertIn("could not be drawn", found["errors"][0])
        self.assertTrue(found["textIsOpen"])


def main():
    global ARGUMENTS
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hierbar", type=pathlib.Path, required=True, help="the hierbar command")
    parser.add_argument(
        "--sample", type=pathlib.Path, required=True, help="a report in JSON of a run of 2 threads"
    )
    parser.add_argument(
        "--costs", type=pathlib.Path, required=True, help="a file of costs with shared channels"
    )
    parser.add_argument("--keep", type=pathlib.Path, help="where pages and pictures stay")
    ARGUMENTS, rest = parser.parse_known_args()
    if find_browser() is None:
        print(
            "browser_test: Skipped\n  no chromium, so nobody looked at the HTML reports (Debian: chromium)"
        )
        return
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
