#!/usr/bin/env python3
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of acquire_test.py on listings that are good, and on ones in which a barrier is missing or
in the wrong place.
"""

import unittest

import acquire_test

WAIT = "__kmp_wait_template<kmp_flag_64<false, true>, 1, false, true>"
OTHER_WAIT = "__kmp_wait_template<kmp_hierbar_flag_t, 0, false, true>"

# Each instruction with where it is from: w is inlined from the wait, o is not.
INLINED = """
o 10: mov x19, x0
w 14: ldr x1, [x20, #64]
w 18: cmp x1, #0x4
w 1c: b.eq 28 <await_go+0x18>  // b.none
w 20: bl 500 <__kmp_yield>
w 24: b 14 <await_go+0x4>
"""
RETURN = """
o 40: ldp x29, x30, [sp], #32
o 44: ret
"""


def make(name, text):
    """A function as objdump lists it, and where its instructions are from."""
    lines = [line.split(maxsplit=1) for line in text.splitlines() if line]
    listing = f"0000000000000010 <{name}>:\n" + "".join(
        f"  {instruction}\n".replace(":", ":\t", 1) for _, instruction in lines
    )
    (function,) = acquire_test.read_listing(listing)
    own = acquire_test.Frame(name, "runtime/libomp/barrier/kmp_hierbar_phases.cpp")
    waits = {"w": WAIT, "x": OTHER_WAIT}
    frames = {
        int(instruction.split(":")[0], 16): (
            [acquire_test.Frame(waits[origin], "kmp_wait_release.h"), own]
            if origin in waits
            else [own]
        )
        for origin, instruction in lines
    }
    return function, frames


def problems_of(name, text, wait_in=()):
    function, frames = make(name, text)
    return acquire_test.check([function], frames.__getitem__, wait_in)[1]


class AcquireTest(unittest.TestCase):
    def assert_good(self, text):
        self.assertEqual(problems_of("await_go", text), [])

    def assert_bad(self, culprit, text):
        problems = problems_of("await_go", text)
        self.assertEqual(len(problems), 1, problems)
        self.assertIn(f"is followed by '{culprit}'", problems[0])
        self.assertIn("dmb ishld", problems[0])

    def test_barrier_after_an_inlined_wait(self):
        for barrier in ("dmb ishld", "dmb ish", "dmb sy"):
            self.assert_good(INLINED + f"o 28: {barrier}\no 2c: ldr w0, [x21]" + RETURN)

    def test_no_barrier_after_an_inlined_wait(self):
        self.assert_bad("28: ldr w0, [x21]", INLINED + "o 28: ldr w0, [x21]" + RETURN)
        self.assert_bad("44: ret", INLINED + RETURN.replace("40:", "28:"))
        self.assert_bad(
            "28: bl 600 <combine_child>", INLINED + "o 28: bl 600 <combine_child>" + RETURN
        )

    def test_barrier_that_does_not_order_loads(self):
        self.assert_bad(
            "2c: ldr w0, [x21]", INLINED + "o 28: dmb ishst\no 2c: ldr w0, [x21]" + RETURN
        )

    def test_barrier_behind_the_load(self):
        self.assert_bad(
            "28: ldr w0, [x21]", INLINED + "o 28: ldr w0, [x21]\no 2c: dmb ishld" + RETURN
        )

    def test_acquire_load_of_something_else_is_none(self):
        self.assert_bad("28: ldar w0, [x21]", INLINED + "o 28: ldar w0, [x21]" + RETURN)

    def test_stores_and_the_own_stack_may_come_first(self):
        self.assert_good(
            INLINED + "o 28: str xzr, [x20]\no 2c: ldr x22, [sp, #24]\no 30: dmb ishld" + RETURN
        )

    def test_barrier_on_one_of_two_paths(self):
        self.assert_bad(
            "40: ldr w0, [x21]",
            INLINED + """
o 28: cbz x22, 40 <await_go+0x30>
o 2c: dmb ishld
o 40: ldr w0, [x21]
o 44: ret""",
        )

    def test_what_prepares_the_wait_is_no_way_out(self):
        self.assert_good(
            "w 8: mov x4, #0x1\no c: ldr x20, [x0, #8]\n" + INLINED + "o 28: dmb ishld" + RETURN
        )

    def test_one_of_two_ways_out_of_the_wait(self):
        text = INLINED.replace("20: bl 500 <__kmp_yield>", "20: cbnz w3, 30 <await_go+0x20>")
        self.assert_bad(
            "30: ldr w0, [x21]", text + "o 28: dmb ishld\no 2c: ret\no 30: ldr w0, [x21]" + RETURN
        )

    def test_called_wait(self):
        call = (
            f"o 10: mov x0, x19\no 14: bl 700 <bool {WAIT}(kmp_info*, kmp_flag_64<false, true>*)>\n"
        )
        self.assert_good(call + "o 18: dmb ishld\no 1c: ldr w0, [x21]" + RETURN)
        self.assert_bad("18: ldr w0, [x21]", call + "o 18: ldr w0, [x21]" + RETURN)
        self.assert_good(
            "o 10: bl 700 <kmp_flag_64<false, true>::wait(kmp_info*, int)>\no 14: dmb ish" + RETURN
        )

    def test_tail_call_of_a_wait(self):
        self.assert_bad(
            "the end of the function", f"o 10: mov x0, x19\no 14: b 700 <bool {WAIT}(kmp_info*)>\n"
        )

    def test_wait_that_looks_with_acquire(self):
        self.assert_good(INLINED.replace("w ", "x ") + "o 28: ldr w0, [x21]" + RETURN)

    def test_function_that_must_have_a_wait(self):
        good = INLINED + "o 28: dmb ishld" + RETURN
        self.assertEqual(problems_of("await_go", good, ["await_go"]), [])
        (problem,) = problems_of("await_go", good, ["await_child"])
        self.assertIn("no wait was found in await_child", problem)


if __name__ == "__main__":
    unittest.main()
