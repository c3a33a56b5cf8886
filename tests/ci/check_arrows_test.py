#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of .ci/check_arrows on a small repository: one header in each room, with one fault planted."""

import importlib.machinery
import importlib.util
import pathlib
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / ".ci" / "check_arrows"
LOADER = importlib.machinery.SourceFileLoader("check_arrows", str(SCRIPT))
check_arrows = importlib.util.module_from_spec(
    importlib.util.spec_from_loader("check_arrows", LOADER)
)
LOADER.exec_module(check_arrows)

HEADERS = {f"{room}/some.hpp": "" for room in check_arrows.USES}
HEADERS.update(
    {
        "runtime/plan/plan.h": "",
        "runtime/service/plan_service.h": "",
        "runtime/service/lstopo_service.h": "",
    }
)
# The rules of docs/architecture.md, written once more: the folders that each of these may use beside
# itself and the public header. Every other one is forbidden.
RULES = {
    "runtime/base": "",
    "runtime/symbol": "runtime/base",
    "runtime/trace": "runtime/base",
    "runtime/topology": "runtime/base",
    "runtime/plan": "runtime/base runtime/topology",
    "runtime/network": "runtime/base",
    "runtime/barrier": "runtime/base",
    "runtime/placement/share": "runtime/base runtime/topology runtime/plan",
    "runtime/placement/evidence": "runtime/base runtime/topology runtime/plan runtime/placement/share",
    "runtime/placement/meeting": "runtime/base runtime/topology runtime/plan runtime/placement/share runtime/placement/evidence",
    "runtime/placement/decision": "runtime/base runtime/topology runtime/plan runtime/placement",
    "runtime/report": "runtime/base runtime/symbol runtime/trace runtime/topology",
}
LAYERS_OF_MPI = (
    "settings",
    "node",
    "library",
    "between",
    "record",
    "barrier",
    "team",
    "entry",
)
# What no room below a folder may use.
NEVER = {
    "runtime": "mpi ompt-tools bench tests",
    "mpi": "ompt-tools bench tests",
    "ompt-tools": "mpi bench tests",
    "bench": "tests",
}


def forbidden_arrows():
    rooms = check_arrows.USES
    for room, allowed in RULES.items():
        yield from (
            (room, other)
            for other in rooms
            if not check_arrows.is_in(other, f"{room} runtime/include {allowed}")
        )
    for room in rooms:
        yield from (
            (room, other)
            for top, others in NEVER.items()
            if check_arrows.is_in(room, top)
            for other in rooms
            if check_arrows.is_in(other, others)
        )
    for i, layer in enumerate(LAYERS_OF_MPI):
        yield from ((f"mpi/{layer}", f"mpi/{above}") for above in LAYERS_OF_MPI[i + 1 :])
    yield from [
        ("mpi/library", "mpi/node"),
        ("mpi/between", "mpi/node"),
        ("runtime/cli", "runtime/api"),
        ("runtime/cli", "runtime/service"),
        ("runtime/libomp", "runtime/report"),
        ("runtime/service", "runtime/api"),
    ]


def quoted(target):
    return f'#include "{target.removeprefix("runtime/")}"\n'


class CheckArrowsTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = pathlib.Path(directory.name)
        for name, text in HEADERS.items():
            self.plant(name, text)

    def plant(self, name, text):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text, encoding="utf-8")

    def faults_with(self, room, text):
        self.plant(f"{room}/some.hpp", text)
        faults = check_arrows.all_faults(self.root)
        self.plant(f"{room}/some.hpp", "")
        return faults

    def expect(self, room, text, *words):
        faults = self.faults_with(room, text)
        self.assertEqual(len(faults), 1, faults)
        for word in (room, *words):
            self.assertIn(word, faults[0])

    def test_a_repository_without_includes_has_no_fault(self):
        self.assertEqual(check_arrows.all_faults(self.root), [])

    def test_every_permitted_arrow_is_no_fault(self):
        for room, uses in check_arrows.USES.items():
            for other in (
                other
                for other in check_arrows.USES
                if check_arrows.is_in(other, f"{room} {uses} runtime/include")
            ):
                with self.subTest(room=room, other=other):
                    self.assertEqual(self.faults_with(room, quoted(f"{other}/some.hpp")), [])

    def test_every_forbidden_arrow_is_a_fault(self):
        arrows = set(forbidden_arrows())
        self.assertGreater(len(arrows), 300)
        for room, other in sorted(arrows):
            with self.subTest(room=room, other=other):
                self.expect(room, quoted(f"{other}/some.hpp"), f"includes {other}/some.hpp")

    def test_a_room_may_be_open_for_one_header_only(self):
        self.assertEqual(self.faults_with("runtime/barrier", quoted("runtime/plan/plan.h")), [])
        self.assertEqual(
            self.faults_with("runtime/report", quoted("runtime/service/lstopo_service.h")), []
        )
        self.expect("runtime/report", quoted("runtime/service/plan_service.h"), "plan_service.h")

    def test_some_system_headers_belong_to_one_room(self):
        self.expect("runtime/plan", "#include <hwloc.h>\n", "hwloc.h")
        self.expect("runtime/service", "#include <mpi.h>\n", "mpi.h")
        self.expect("mpi/node", "#include <mpi.h>\n", "mpi.h")
        self.expect("mpi/settings", "  #  include <mpi.h>\n", "mpi.h")
        self.assertEqual(self.faults_with("mpi/entry", "#include <mpi.h>\n"), [])

    def test_plan_asks_for_nothing_of_the_process(self):
        for call in (
            "getenv",
            "trusted_variable",
            "pthread_atfork",
            "own_environment",
            "sched_getaffinity",
        ):
            self.expect("runtime/plan", f"int value = {call}();  // yes\n", call, ":1:")
        self.assertEqual(self.faults_with("runtime/plan", "// unlike getenv()\n"), [])

    def test_a_quoted_path_begins_at_a_root(self):
        self.expect("mpi/node", '#include "node/some.hpp"\n', "no file")
        self.expect("mpi/node", '#include "some.hpp"\n', "no file")
        self.assertEqual(self.faults_with("tests", '#include "some.hpp"\n'), [])

    def test_a_new_folder_needs_a_room(self):
        self.plant("runtime/cellar/some.hpp", "")
        self.assertEqual(
            check_arrows.all_faults(self.root),
            ["runtime/cellar/some.hpp: in no room of .ci/check_arrows"],
        )


if __name__ == "__main__":
    unittest.main()
