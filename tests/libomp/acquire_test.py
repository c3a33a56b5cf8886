#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks in the machine code of an AArch64 libomp.so that our code has an acquire after every wait
of libomp's.

    acquire_test.py --objdump aarch64-linux-gnu-objdump --addr2line aarch64-linux-gnu-addr2line \\
        --wait-in await_go --wait-in await_child build/aarch64/lib/libomp.so

kmp_flag_64::wait ends in a plain load. What the thread reads next may have been read before that
load, by the processor, unless a barrier stands in between. No run on x86 or under qemu-user can
show that one is missing.

1. Functions of ours are those whose source is a file kmp_hierbar*. The library needs line tables
   (-g1).
2. A wait is the code of __kmp_wait_template<kmp_flag_64<...>>, called or inlined. It is left behind
   a call, and where an instruction that was inlined from it, and that comes after one of its loads,
   is followed by one that was not. (The compiler mixes what prepares the wait with what is before
   it.)
3. From there, on every path, a barrier that orders loads (dmb ish, ishld and the like) must come
   before the next load, call or return. Loads from the thread's own stack do not count.
4. Each function named by --wait-in must have a wait. Otherwise this script no longer finds what it
   is to look at, and fails.
"""

import argparse
import bisect
import collections
import re
import subprocess
import sys

OUR_FILES = re.compile(r"(^|/)kmp_hierbar\w*\.(cpp|h)$")
WAIT = re.compile(r"__kmp_wait_template<kmp_flag_64<|kmp_flag_64<[^>]*>::wait\b")
BARRIERS = re.compile(r"^dmb\s+(sy|ld|ish|ishld|osh|oshld|nsh|nshld)$")
LOAD = re.compile(r"^(ld|cas|swp)")
CALL = re.compile(r"^(bl|blr|blraa|blrab)\s")
JUMP = re.compile(r"^(b|b\.\w+|bc\.\w+|cbz|cbnz|tbz|tbnz)\s.*?\b([0-9a-f]+) <")
LEAVES = re.compile(r"^(ret|retaa|retab|br|braa|brab|udf|brk)\b")
OWN_STACK = re.compile(r"\[(sp|x29)\b")

FUNCTION_LINE = re.compile(r"^([0-9a-f]+) <(.*)>:$")
INSTRUCTION_LINE = re.compile(r"^\s*([0-9a-f]+):\s+(\S.*)$")

Frame = collections.namedtuple("Frame", "function file")
# Where a wait ends: the frames of its last instruction, innermost first, and the addresses to go on
# from.
Exit = collections.namedtuple("Exit", "address frames next_addresses")


class Function:
    def __init__(self, name, instructions):
        self.name = name
        self.instructions = instructions  # (address, text), in order
        self.index_of = {address: index for index, (address, _) in enumerate(instructions)}

    def successors(self, address):
        """The addresses to which the instruction may go on, None for one outside of the function."""
        index = self.index_of[address]
        text = self.instructions[index][1]
        if LEAVES.match(text):
            return [None]
        following = (
            [self.instructions[index + 1][0]] if index + 1 < len(self.instructions) else [None]
        )
        jump = JUMP.match(text)
        if jump is None:
            return following
        target = int(jump.group(2), 16)
        target = target if target in self.index_of else None
        return [target] if jump.group(1) == "b" else [target] + following


def read_listing(text):
    """The functions of what objdump -d --no-show-raw-insn prints."""
    functions, name, instructions = [], None, []
    for line in text.splitlines() + ["0 <end>:"]:
        header = FUNCTION_LINE.match(line)
        if header:
            if instructions:
                functions.append(Function(name, instructions))
            name, instructions = header.group(2), []
            continue
        instruction = INSTRUCTION_LINE.match(line)
        if instruction:
            text = instruction.group(2).split("//")[0]
            instructions.append((int(instruction.group(1), 16), " ".join(text.split())))
    return functions


def is_wait(frames):
    return any(WAIT.search(frame.function) for frame in frames)


def is_load(text):
    return bool(LOAD.match(text)) and not OWN_STACK.search(text)


def find_waiting(function, frames_of):
    """The addresses of a wait's loads, and of what of the wait comes after them."""
    waiting = set()
    to_do = [
        address
        for address, text in function.instructions
        if is_load(text) and is_wait(frames_of(address))
    ]
    while to_do:
        address = to_do.pop()
        if address is not None and address not in waiting and is_wait(frames_of(address)):
            waiting.add(address)
            to_do += function.successors(address)
    return waiting


def find_exits(function, frames_of):
    """Where the function leaves a wait."""
    exits = []
    waiting = find_waiting(function, frames_of)
    for address, text in function.instructions:
        frames = frames_of(address)
        if address in waiting:
            outside = [
                n for n in function.successors(address) if n is None or not is_wait(frames_of(n))
            ]
            # A call of something else, or the end of what never returns, is no way out.
            if outside and not LEAVES.match(text):
                exits.append(Exit(address, frames, outside))
        elif (
            not is_wait(frames)
            and (CALL.match(text) or text.startswith("b "))
            and WAIT.search(text)
        ):
            exits.append(Exit(address, frames, function.successors(address)))
    return exits


def find_fault(function, frames_of, way_out):
    """What follows the wait without a barrier in between, None if nothing does."""
    seen, to_do = set(), list(way_out.next_addresses)
    while to_do:
        address = to_do.pop()
        if address is None:
            return "the end of the function"
        if address in seen or is_wait(frames_of(address)):
            continue  # a way back into a wait has ways out of its own
        seen.add(address)
        text = function.instructions[function.index_of[address]][1]
        if BARRIERS.match(text):
            continue
        if is_load(text) or CALL.match(text) or LEAVES.match(text):
            return f"{address:x}: {text}"
        to_do += function.successors(address)
    return None


def check(functions, frames_of, wait_in):
    """The number of ways out of waits, and a line for everything that is wrong."""
    num_exits, problems, found = 0, [], set()
    for function in functions:
        for way_out in find_exits(function, frames_of):
            num_exits += 1
            names = [function.name] + [frame.function for frame in way_out.frames]
            found.update(
                wanted
                for wanted in wait_in
                for name in names
                if re.search(rf"\b{re.escape(wanted)}\b", name)
            )
            fault = find_fault(function, frames_of, way_out)
            if fault is not None:
                problems.append(
                    f"{function.name}: the wait that ends at {way_out.address:x} is followed by '{fault}'; expected a "
                    "barrier that orders loads (dmb ishld or dmb ish) before any load, call or return"
                )
    problems += [
        f"no wait was found in {wanted}: looked for calls and inlined code of __kmp_wait_template<kmp_flag_64<...>>"
        for wanted in wait_in
        if wanted not in found
    ]
    return num_exits, problems


class Lines:
    """Which functions and files an instruction comes from, innermost first, as addr2line says."""

    def __init__(self, addr2line, library):
        self.command = [addr2line, "-e", library, "-f", "-C", "-i", "-a"]
        self.frames = {}

    def read(self, addresses):
        addresses = [address for address in addresses if address not in self.frames]
        text = subprocess.run(
            self.command,
            input="".join(f"{address:#x}\n" for address in addresses),
            text=True,
            stdout=subprocess.PIPE,
            check=True,
        ).stdout
        current, function = None, None
        for line in text.splitlines():
            if line.startswith("0x"):
                current, function = self.frames.setdefault(int(line, 16), []), None
            elif function is None:
                function = line
            else:
                current.append(Frame(function, re.sub(r":\S+( \(discriminator \d+\))?$", "", line)))
                function = None

    def of(self, address):
        return self.frames[address]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--objdump", default="aarch64-linux-gnu-objdump")
    parser.add_argument("--addr2line", default="aarch64-linux-gnu-addr2line")
    parser.add_argument(
        "--wait-in",
        action="append",
        default=[],
        metavar="FUNCTION",
        help="a function that must have a wait",
    )
    parser.add_argument("library")
    arguments = parser.parse_args()

    listing = subprocess.run(
        [arguments.objdump, "-d", "-C", "--no-show-raw-insn", arguments.library],
        text=True,
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    functions = read_listing(listing)
    lines = Lines(arguments.addr2line, arguments.library)
    lines.read([function.instructions[0][0] for function in functions])
    ours = [
        function
        for function in functions
        if OUR_FILES.search(lines.of(function.instructions[0][0])[-1].file)
    ]
    lines.read([address for function in ours for address, _ in function.instructions])
    num_exits, problems = check(ours, lines.of, arguments.wait_in)
    print(
        f"{arguments.library}: {len(functions)} functions, {len(ours)} of them ours, which leave a wait in {num_exits} places"
    )
    for problem in problems:
        print(f"FAILED: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
