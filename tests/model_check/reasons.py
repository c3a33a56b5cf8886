# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Why an access keeps an order that no case needs, by its name and the weakest survivor."""

SAME_CODE = ("enough. The same code on x86, and on AArch64 (`swpal`, `ldaddal`, or `ldaxr` and `stlxr`); any read-modify-write "
             "also drains x86's non-temporal stores, which no memory model knows")
NON_TEMPORAL = ("enough. Outside of the models: on x86 the release store behind it could overtake this participant's "
                "non-temporal stores (`nontemporal_test`)")
BEFORE_SLEEP = "enough. The same code on x86; it stands before or after a sleep, which costs a thousand times as much"

REASONS = {
    ("arrival.hpp:A1", "acq_rel"): SAME_CODE,
    ("barrier.hpp:R0", "relaxed"): NON_TEMPORAL,
    ("oversubscribed.hpp:C2", "acq_rel"): SAME_CODE,
    ("awaited_word.hpp:S2a", "release"): BEFORE_SLEEP,
    ("blocks.hpp:A1", "acq_rel"): SAME_CODE,
    ("combining_tree.hpp:C1", "acq_rel"): SAME_CODE,
    ("sense_reversing.hpp:C1", "acq_rel"): SAME_CODE,
    ("flat_tree.hpp:R0", "relaxed"): NON_TEMPORAL,
    ("mcs.hpp:R0", "relaxed"): NON_TEMPORAL,
    ("topo.hpp:R0", "relaxed"): NON_TEMPORAL,
    ("tournament.hpp:R0", "relaxed"): NON_TEMPORAL,
}
