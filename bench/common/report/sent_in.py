#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shows what the bench bundle measured on other machines, from the files that its run_here.sh
writes: hierbar beside the best other runtime for each construct and size, and beside the
predictions of bench/model for a machine of that shape and with its latencies.

The columns of the first table are summary.py's. The second one has the measured median, the model's
prediction with the least and the most of its parameter sets, and measured / predicted. The model
simulates cache lines only: what a thread does alone in the runtime is missing, and where costs are
borrowed from another machine, figures are within 40 % (docs/results/model.md).

--plot draws the first table as README's plot, for light and dark pages. With several files
each gets a number: OUTPUT-1-light.svg. --json writes both tables of all files. Exit status: 0 done,
1 some files could not be read, 2 wrong arguments, or none could."""

import argparse
import json
import math
import pathlib
import re
import sys

import machine_model
import plot_summary
import summary

FORMAT = "hierbar-bundle-"
SCHEMA = 1  # bench/bundle/bundle_results.cpp writes it
OUTPUT_FORMAT = "hierbar-sent-in-1"
CONSTRUCTS = {
    "barrier": "barrier",
    "isolated": "one barrier alone",
    "parallel": "region",
    "reduction": "region with reduction",
    "decode": "decode with barriers",
    "decode-regions": "decode with regions",
}
DEFAULT_MODEL = pathlib.Path(__file__).resolve().parents[3] / "build/release/bin/barrier_model"


# What comes of a member that is missing, or is not what it should be.
BROKEN = (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError)


class BadFile(Exception):
    """Why a file cannot be used."""


def printable(value):
    """The same without characters that a terminal obeys: who sends a file may be anybody."""
    if isinstance(value, str):
        return "".join(one if one.isprintable() else "?" for one in value)
    if isinstance(value, list):
        return [printable(one) for one in value]
    if isinstance(value, dict):
        return {printable(name): printable(one) for name, one in value.items()}
    return value


def finite(text):
    """A number of JSON, which has neither infinity nor NaN."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is no number")
    return number


def read_results(path):
    """A file of the bundle. Errors: BadFile."""
    try:
        text = pathlib.Path(path).read_text(encoding="utf-8")
        results = printable(json.loads(text, parse_float=finite, parse_constant=finite))
    except OSError as error:
        raise BadFile(error.strerror) from error
    except ValueError as error:
        raise BadFile(f"is no JSON, or not all of it: {error}") from error
    except RecursionError as error:
        raise BadFile("is nested too deeply") from error
    check_format(results)
    if results.get("openmp") is None:
        ended = results.get("ended")
        raise BadFile(f"has no figures, the measurement was {ended}: please measure again")
    machine = results.get("machine")
    if not isinstance(machine, dict) or machine.get("topology") is None:
        raise BadFile("has no topology of the machine: please measure again")
    return results


def check_format(results):
    name = results.get("format") if isinstance(results, dict) else None
    if name is None and isinstance(results, dict) and {"bundle", "barriers"} <= results.keys():
        raise BadFile("is of a bundle without schema numbers; build a new one and measure again")
    found = re.fullmatch(re.escape(FORMAT) + r"(\d+)", name if isinstance(name, str) else "")
    if not found:
        raise BadFile(f"is no file of the bench bundle: format {name!r}, not {FORMAT}{SCHEMA}")
    if int(found[1]) != SCHEMA:
        newer = int(found[1]) > SCHEMA
        what = "take a newer hierbar to read it" if newer else "measure again with a new bundle"
        raise BadFile(f"has the schema {found[1]}, and this reads {SCHEMA}: {what}")


def groups_of(report):
    """(construct, group), in the order of the tables."""
    for construct in CONSTRUCTS:
        groups = [one for one in report["groups"] if one["construct"] == construct]
        for group in sorted(groups, key=lambda one: one["threads"]):
            if group["threads"] >= 2:
                yield construct, group


def compared_rows(report):
    """Rows as summary.py's, one for each construct and size."""
    return [
        {"title": f"{CONSTRUCTS[construct]}, {group['threads']} threads"}
        | summary.compared(group, "hier", summary.PEERS)
        for construct, group in groups_of(report)
    ]


def predicted_rows(report, model):
    """Rows of what was measured and is predicted."""
    rows = []
    for construct, group in groups_of(report):
        for series in group["series"]:
            measured = summary.median(series)
            predicted = measured and model.predict(construct, series["name"], group["threads"])
            if not predicted:
                continue
            rows.append(
                {
                    "title": f"{CONSTRUCTS[construct]}, {group['threads']} threads",
                    "configuration": series["name"],
                    "measured_ns": measured,
                    "predicted_ns": predicted["median_ns"],
                    "predicted_least_ns": predicted["least_ns"],
                    "predicted_most_ns": predicted["most_ns"],
                    "ratio": measured / predicted["median_ns"],
                    "disturbed": group["disturbed"] is not None,
                }
            )
    return rows


def predicted_table(rows):
    lines = [
        f"{'':<36} {'with':<8} {'measured':>9} {'predicted':>10}  "
        f"{'least .. most':<19} {'ratio':>6}"
    ]
    for row in rows:
        least, most = (
            summary.time_text(row[key]) for key in ("predicted_least_ns", "predicted_most_ns")
        )
        lines.append(
            f"{row['title']:<36} {row['configuration']:<8} "
            f"{summary.time_text(row['measured_ns']):>9} "
            f"{summary.time_text(row['predicted_ns']):>10}  {least + ' .. ' + most:<19} "
            f"{row['ratio']:>6.2f}{'  disturbed' if row['disturbed'] else ''}"
        )
    return "\n".join(lines)


def notes(results):
    """What a reader must know of the run."""
    machine, run = results["machine"], results["openmp"]["run"]
    lines = [
        f"bundle {results['bundle']['version']} ({results['bundle']['revision']}), "
        f"{run['repetitions']} repetitions in {run['seconds']:.0f} s"
    ]
    if results["ended"] != "complete":
        lines.append(f"not complete: ended by {results['ended']}")
    if machine["cpus_allowed"] < machine["cpus_online"]:
        allowed, online = machine["cpus_allowed"], machine["cpus_online"]
        lines.append(f"only {allowed} of {online} cpus were allowed")
    if machine["cpu_quota"] is not None:
        lines.append(f"the control group allowed {machine['cpu_quota']} cpus' worth of time")
    if results["latencies"] is None:
        lines.append("without latencies: the model takes those of another machine")
    return lines


def evaluate(path, program):
    """The tables of a file, and what is printed of them. Errors: BadFile."""
    results = read_results(path)
    report = results["openmp"]
    try:
        rows = compared_rows(report)
        result = {
            "file": pathlib.Path(path).name,
            "machine": summary.machine_text(report),
            "notes": notes(results),
            "cpu_share_of_others": report["run"]["cpu_share_of_others"],
            "rows": rows,
            "predictions": [],
            "model_problems": [],
        }
        if program:
            model = machine_model.Model(program, results)
            result["predictions"] = predicted_rows(report, model)
            result["model_problems"] = model.problems
        return result, text_of(result, report)
    except BROKEN as error:
        raise BadFile(f"is broken: {type(error).__name__} {error}") from error
    except RecursionError as error:
        raise BadFile("is broken: its tree is too deep") from error


def text_of(result, report):
    lines = [f"{result['file']}: {result['machine']}", *result["notes"]]
    lines += [summary.table(result["rows"]), summary.notes([report], result["rows"])]
    if result["predictions"]:
        lines.append(predicted_table(result["predictions"]))
    lines += [f"no prediction: {problem}" for problem in result["model_problems"]]
    return "\n".join(lines)


def draw(results, output):
    for number, result in enumerate(results, start=1):
        name = output if len(results) == 1 else f"{output}-{number}"
        for theme, colours in plot_summary.THEMES.items():
            plot_summary.draw(result, colours, f"{name}-{theme}.svg")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", metavar="FILE", nargs="+", help="what run_here.sh wrote")
    parser.add_argument("--plot", metavar="OUTPUT", help="the pictures' names, without -light.svg")
    parser.add_argument("--json", metavar="FILE", help="write the tables to this file too")
    parser.add_argument("--model", metavar="PROGRAM", default=DEFAULT_MODEL, help="barrier_model")
    parser.add_argument("--no-model", action="store_true", help="do not predict")
    options = parser.parse_args()
    done = []
    for path in options.files:
        try:
            done.append(evaluate(path, None if options.no_model else options.model))
        except BadFile as problem:
            print(f"sent_in.py: {path}: {problem}", file=sys.stderr)
    for _, text in done:
        print(text + "\n")
    results = [result for result, _ in done]
    try:
        if options.json:
            text = json.dumps({"format": OUTPUT_FORMAT, "machines": results}, indent=1)
            pathlib.Path(options.json).write_text(text + "\n", encoding="utf-8")
        if options.plot:
            draw(results, options.plot)
    except ImportError:
        print(
            "sent_in.py: --plot: matplotlib was not found (Debian: python3-matplotlib)",
            file=sys.stderr,
        )
        return 2
    except OSError as error:
        print(f"sent_in.py: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    return 0 if len(done) == len(options.files) else 1 if done else 2


if __name__ == "__main__":
    sys.exit(main())
