#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs libFuzzer's programs of the preset `fuzz`, one after the other, and tells what each of them
found.

The time is shared out evenly. A program starts from the inputs of corpus/ and of former runs, and
begins again behind each finding until its time is over. Exit status: 0 nothing found, 1 a finding,
2 it could not be run.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = ROOT / "build" / "fuzz"
# An input is small, so it may cost little: seconds, and megabytes in all and at once. The memory is
# that of both sanitizers too.
LIMITS = ["-timeout=20", "-rss_limit_mb=2048", "-malloc_limit_mb=1024"]
LARGEST_INPUT = 1 << 16
# A target with so many is not run on: they are most often one and the same.
MOST_FINDINGS = 5


# ---- inputs that are text, many in one file: corpus/<target>.txt. replay.cpp reads it too ----
#
#     == name of an input
#     its lines
#
# A backslash at the end of a line joins it with the next one, or says that the input has no newline
# there. \\ is a backslash, \xNN any other byte.

HEAD = b"== "
SPECIAL = re.compile(rb"\\|[^\n\t\x20-\x7e]|^=(?== )", re.MULTILINE)


def escaped(found):
    return b"\\\\" if found[0] == b"\\" else b"\\x%02x" % found[0][0]


def pack(inputs):
    """The text of a file with these inputs: a dictionary of names and bytes."""
    text = b""
    for name, content in sorted(inputs.items()):
        text += HEAD + name.encode() + b"\n" + SPECIAL.sub(escaped, content)
        if content and not content.endswith(b"\n"):
            text += b"\\\n"
    return text


def unpack(text):
    """The inputs of a file, by name."""
    inputs, name = {}, None
    for line in text.splitlines(keepends=True):
        if line.startswith(HEAD):
            name = line[len(HEAD) :].strip().decode()
            inputs[name] = b""
        elif name is not None:
            inputs[name] += unescaped(line)
    return inputs


def unescaped(line):
    def byte(found):
        if found[1] == b"\n":
            return b""
        return b"\\" if found[1] == b"\\" else bytes([int(found[1][1:], 16)])

    return re.sub(rb"\\(\n|\\|x[0-9a-f]{2})", byte, line)


# ---- the programs ----


def fail(reason):
    print(f"run.py: {reason}", file=sys.stderr)
    sys.exit(2)


def build():
    """Brings the programs up to date."""
    commands = [["cmake", "--build", "--preset", "fuzz"]]
    if not (BUILD / "CMakeCache.txt").exists():
        commands.insert(0, ["cmake", "--preset", "fuzz"])
    for command in commands:
        done = subprocess.run(
            command,
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            fail(f"{' '.join(command)} failed:\n{done.stdout}")


def environment():
    """Without the developer's own settings."""
    variables = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("HIERBAR_", "OMP_", "KMP_"))
    }
    variables.update(
        HIERBAR_PROFILE="off",
        UBSAN_OPTIONS="print_stacktrace=1",
        LSAN_OPTIONS="print_suppressions=0",
    )
    if symbolizer := shutil.which("llvm-symbolizer-19") or shutil.which("llvm-symbolizer"):
        variables["ASAN_SYMBOLIZER_PATH"] = symbolizer
    return variables


class Target:
    """One program, with its inputs and what it has done."""

    def __init__(self, name, work):
        self.name = name
        self.program = BUILD / "fuzz" / f"{name}_fuzz"
        self.packed = HERE / "corpus" / f"{name}.txt"  # in the repository: text,
        self.files = HERE / "corpus" / name  # and what others read too
        self.seeds = work / "seeds" / name  # images, made by make_seeds
        self.kept = work / name / "kept"  # all of these, a file for each
        self.found = work / name / "corpus"  # by this run and former ones
        self.findings_dir = work / name / "findings"
        self.dictionary = work / name / "dictionary"
        self.executions = self.coverage = self.features = 0
        self.findings = []
        self.found.mkdir(parents=True, exist_ok=True)
        self.findings_dir.mkdir(parents=True, exist_ok=True)
        self.unpack()

    def unpack(self):
        """Writes what the repository has for this target, as libFuzzer reads it."""
        words = (HERE / "dictionaries.txt").read_text().split("\n== ")[1:]
        for lines in words:
            name, _, text = lines.partition("\n")
            if name == self.name:
                self.dictionary.write_text(text + "\n")
        shutil.rmtree(self.kept, ignore_errors=True)
        self.kept.mkdir(parents=True)
        if self.packed.exists():
            for name, content in unpack(self.packed.read_bytes()).items():
                (self.kept / name).write_bytes(content)
        for directory in (self.files, self.seeds):
            if directory.exists():
                shutil.copytree(directory, self.kept, dirs_exist_ok=True)

    def command(self, *options):
        words = [f"-dict={self.dictionary}"] if self.dictionary.exists() else []
        return [str(self.program), *LIMITS, *words, *options]

    def run(self, seconds, seed):
        """Until the time is over; behind each finding once more. Returns whether it could be run."""
        end = time.monotonic() + seconds
        log = self.findings_dir.parent / "log"
        with log.open("w") as output:
            while (left := int(end - time.monotonic())) > 0 and len(self.findings) < MOST_FINDINGS:
                options = [
                    f"-max_total_time={left}",
                    f"-max_len={LARGEST_INPUT}",
                    "-print_final_stats=1",
                    "-use_value_profile=1",
                    f"-artifact_prefix={self.findings_dir}/",
                    f"-seed={seed + len(self.findings)}",
                ]
                done = subprocess.run(
                    self.command(*options, str(self.found), str(self.kept)),
                    env=environment(),
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                    errors="replace",
                    check=False,
                )
                output.write(done.stdout)
                self.count(done.stdout)
                if done.returncode == 0:
                    return True
                artifact = re.search(r"Test unit written to (\S+)", done.stdout)
                if artifact is None:
                    print(done.stdout[-2000:], file=sys.stderr)
                    return False
                self.findings.append((artifact.group(1), summary(done.stdout)))
        return True

    def count(self, text):
        numbers = re.findall(r"^#(\d+)\s.*?cov: (\d+) ft: (\d+)", text, re.MULTILINE)
        if numbers:
            executions, coverage, features = map(int, numbers[-1])
            self.executions += executions
            self.coverage = max(self.coverage, coverage)
            self.features = max(self.features, features)

    def merge(self):
        """Puts what adds coverage into the repository's corpus."""
        subprocess.run(
            self.command("-merge=1", f"-max_len={LARGEST_INPUT}", str(self.kept), str(self.found)),
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
        )
        others = {path.name for path in (*self.files.glob("*"), *self.seeds.glob("*"))}
        added = {
            path.name: path.read_bytes() for path in self.kept.iterdir() if path.name not in others
        }
        if added:
            self.packed.write_bytes(pack(added))


def summary(text):
    """The line of a sanitizer or of a target that says what happened."""
    for pattern in (
        r"fuzz target: .*",
        r".*runtime error: .*",
        r"SUMMARY: .*",
        r"ERROR: libFuzzer: .*",
    ):
        if found := re.search(pattern, text):
            return found.group(0).strip()
    return "unknown"


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="which ones; default: all")
    parser.add_argument(
        "--seconds", type=int, default=600, help="for all of them together; default: 600"
    )
    parser.add_argument(
        "--seed", type=int, default=int(time.time()), help="of the first program's random numbers"
    )
    parser.add_argument(
        "--work",
        type=pathlib.Path,
        default=BUILD / "work",
        help="where inputs, findings and logs of the runs are kept; default: build/fuzz/work",
    )
    parser.add_argument(
        "--merge",
        action="store_true",
        help="afterwards add the inputs that reach new code to tests/fuzz/corpus",
    )
    parser.add_argument("--no-build", action="store_true", help="take the programs as they are")
    arguments = parser.parse_args()
    if arguments.seconds < 1:
        parser.error(f"--seconds: '{arguments.seconds}'; allowed: 1 or more")
    return arguments


def choose_targets(arguments):
    known = sorted(path.name.removesuffix("_fuzz.cpp") for path in HERE.glob("*_fuzz.cpp"))
    unknown = [name for name in arguments.targets if name not in known]
    if unknown:
        fail(f"there is no target '{unknown[0]}'; there are {', '.join(known)}")
    return arguments.targets or known


def make_seeds(directory):
    shutil.rmtree(directory, ignore_errors=True)
    done = subprocess.run([BUILD / "fuzz" / "make_seeds", directory], env=environment())
    if done.returncode != 0:
        fail(f"make_seeds failed: {done.returncode}")


def main():
    if shutil.which("clang++-19") is None:
        fail("it needs clang++-19 with libFuzzer (Debian: clang-19 libclang-rt-19-dev)")
    arguments = parse_arguments()
    names = choose_targets(arguments)
    if not arguments.no_build:
        build()
    work = arguments.work.resolve()
    make_seeds(work / "seeds")
    targets = [Target(name, work) for name in names]
    share = max(1, arguments.seconds // len(targets))
    could_run = True
    print(f"seed {arguments.seed}, {share} s for each of {len(targets)} targets", flush=True)
    for target in targets:
        print(f"{target.name} ...", flush=True)
        could_run = target.run(share, arguments.seed) and could_run
        for artifact, what in target.findings:
            print(f"  {what}\n    {artifact}", flush=True)
        if arguments.merge:
            target.merge()
    print(f"\n{'target':<16}{'executions':>12}{'coverage':>10}{'features':>10}{'findings':>10}")
    for target in targets:
        counts = f"{target.executions:>12}{target.coverage:>10}{target.features:>10}"
        print(f"{target.name:<16}{counts}{len(target.findings):>10}")
    if not could_run:
        sys.exit(2)
    sys.exit(1 if any(target.findings for target in targets) else 0)


if __name__ == "__main__":
    main()
