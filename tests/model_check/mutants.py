# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mutants: copies of a source in which one tagged access has a weaker order.

A tagged access is a line of code with a comment that begins with "(A1)" or "(file.A1)". From the
operation on that line follow its order and the weaker ones. A line whose access is already relaxed
has no mutants.

In libomp's adapter, waits end in loads without any order. A call of acquire_after_wait() follows;
its tag is the last one of the comment above it.
"""

import dataclasses
import pathlib
import re

from genmc import ROOT

# The sources with ordering maps that the drivers compile.
SOURCES = (
    "runtime/barrier/barrier.hpp",
    "runtime/barrier/awaited_word.hpp",
    "runtime/barrier/oversubscribed.hpp",
    "runtime/barrier/collectives.hpp",
    "runtime/barrier/one_way.hpp",
    "runtime/barrier/plan_view.hpp",
    "runtime/barrier/barrier_memory.hpp",
    "runtime/barrier/parking.hpp",
    "runtime/barrier/thread_host.hpp",
    "runtime/api/episode.hpp",
    "runtime/barrier/baselines/blocks.hpp",
    "runtime/barrier/baselines/trees.hpp",
    "runtime/barrier/baselines/flat.hpp",
    "runtime/barrier/baselines/topo.hpp",
    "mpi/node/segment_allocator.hpp",
    "mpi/node/barrier_block.hpp",
    "runtime/libomp/barrier/kmp_hierbar_phases.cpp",
    "runtime/libomp/region/kmp_hierbar_payload.h",
)

# Why an access keeps an order that no case needs, by its name and the weakest survivor.
SAME_CODE = (
    "enough. The same code on x86, and on AArch64 (`swpal`, `ldaddal`, or `ldaxr` and `stlxr`); any read-modify-write "
    "also drains x86's non-temporal stores, which no memory model knows"
)
NON_TEMPORAL = (
    "enough. Outside of the models: on x86 the release store behind it could overtake this participant's "
    "non-temporal stores (`nontemporal_test`)"
)
BEFORE_SLEEP = "enough. The same code on x86; it stands before or after a sleep, which costs a thousand times as much"

REASONS = {
    ("awaited_word.hpp:A1", "acq_rel"): SAME_CODE,
    ("barrier.hpp:R0", "relaxed"): NON_TEMPORAL,
    ("oversubscribed.hpp:C2", "acq_rel"): SAME_CODE,
    ("awaited_word.hpp:S2a", "release"): BEFORE_SLEEP,
    ("blocks.hpp:A1", "acq_rel"): SAME_CODE,
    ("trees.hpp:C1", "acq_rel"): SAME_CODE,
    ("flat.hpp:C1", "acq_rel"): SAME_CODE,
    ("flat.hpp:R0", "relaxed"): NON_TEMPORAL,
    ("trees.hpp:R0", "relaxed"): NON_TEMPORAL,
    ("topo.hpp:R0", "relaxed"): NON_TEMPORAL,
    ("trees.hpp:R0.2", "relaxed"): NON_TEMPORAL,
}

TAG = r"\((?:\w+\.)?(?P<tag>[A-Z]+\d+[a-z]?)\)"
TAGGED = re.compile(rf"^(?P<code>\s*[^/\s].*?)\s*// {TAG}(?:[ .:;].*)?$")
COMMENT_TAG = re.compile(rf"^\s*// {TAG}")
FENCE_CALL = re.compile(r"^\s*acquire_after_wait\(\);")

# The weaker orders of an order, by kind of access. The weakest comes last.
WEAKER = {
    "load": {"seq_cst": ("acquire", "relaxed"), "acquire": ("relaxed",), "relaxed": ()},
    "store": {"seq_cst": ("release", "relaxed"), "release": ("relaxed",), "relaxed": ()},
    "update": {
        "seq_cst": ("acq_rel", "release", "acquire", "relaxed"),
        "acq_rel": ("release", "acquire", "relaxed"),
        "release": ("relaxed",),
        "acquire": ("relaxed",),
        "relaxed": (),
    },
    "fence": {
        "seq_cst": ("acq_rel", "relaxed"),
        "acq_rel": ("release", "acquire", "relaxed"),
        "acquire": ("relaxed",),
        "release": ("relaxed",),
        "asymmetric": ("relaxed",),
    },  # asymmetric: a light or a heavy one
}

# The operations of Mem: kind and order.
MEM_OPERATIONS = {
    "load_relaxed": ("load", "relaxed"),
    "load_acquire": ("load", "acquire"),
    "load_seq_cst": ("load", "seq_cst"),
    "store_relaxed": ("store", "relaxed"),
    "store_release": ("store", "release"),
    "publish": ("store", "release"),
    "exchange": ("update", "seq_cst"),
    "fetch_or": ("update", "seq_cst"),
    "fetch_add": ("update", "seq_cst"),
    "fetch_or_relaxed": ("update", "relaxed"),
    "fetch_add_relaxed": ("update", "relaxed"),
    "fence": ("fence", "seq_cst"),
    "light_fence": ("fence", "asymmetric"),
    "heavy_fence": ("fence", "asymmetric"),
}
MEM_ACCESS = re.compile(r"\b(?P<mem>mem_?)\.(?P<operation>" + "|".join(MEM_OPERATIONS) + r")\(")

# The accesses of std::atomic, which name their order.
ATOMIC_KINDS = {
    "load": "load",
    "store": "store",
    "exchange": "update",
    "fetch_add": "update",
    "fetch_sub": "update",
    "fetch_and": "update",
    "fetch_or": "update",
    "compare_exchange_weak": "update",
    "compare_exchange_strong": "update",
}
ATOMIC_ACCESS = re.compile(
    r"\b(?P<operation>" + "|".join(sorted(ATOMIC_KINDS, key=len, reverse=True)) + r")\("
)
ATOMIC_ORDER = re.compile(r"\bmemory_order_(?P<order>\w+)")

# Tagged lines whose access is in another function: the wait of AwaitedWord, which is tagged there,
# and the release of libomp's flags.
ELSEWHERE = re.compile(r"\bmem\.wait\(pending\)|\bflag\.release\(\)")


class BadTag(Exception):
    """There is a tag on a line without an access, or a line has changed."""


@dataclasses.dataclass(frozen=True)
class Site:
    """A tagged access. It is the index-th of its file with that tag."""

    source: str
    tag: str
    index: int
    line: int  # from 0
    code: str
    kind: str
    order: str

    @property
    def name(self):
        return f"{pathlib.Path(self.source).name}:{self.tag}" + (
            f".{self.index + 1}" if self.index else ""
        )

    def weaker_orders(self):
        return WEAKER[self.kind][self.order]

    def is_of_mem(self):
        """Whether it is an operation of a barrier's Mem, not of std::atomic."""
        return MEM_ACCESS.search(self.code) is not None


def _access_of(code):
    """Kind and order of the access on a tagged line; None if it is in another function."""
    access = MEM_ACCESS.search(code)
    if access:
        return MEM_OPERATIONS[access["operation"]]
    order = ATOMIC_ORDER.search(code)
    if order:
        access = ATOMIC_ACCESS.search(code)
        return ATOMIC_KINDS[access["operation"]], order["order"]
    if FENCE_CALL.search(code):
        return "fence", "acquire"
    if ELSEWHERE.search(code):
        return None
    raise BadTag("has a tag, but no access that this script knows")


def sites_of(source, text=None):
    """All tagged accesses of a source, in their order."""
    lines = (text if text is not None else (ROOT / source).read_text()).splitlines()
    sites = []
    tag_above = None
    for number, line in enumerate(lines):
        comment = COMMENT_TAG.match(line)
        if comment:
            tag_above = comment["tag"]
        found = TAGGED.match(line)
        if found:
            code, tag = found["code"], found["tag"]
        elif FENCE_CALL.match(line) and tag_above:
            code, tag = line, tag_above
        else:
            continue
        try:
            access = _access_of(code)
        except BadTag as problem:
            raise BadTag(f"{source}:{number + 1}: {problem}: {line.strip()}") from None
        if access:
            index = sum(site.tag == tag for site in sites)
            sites.append(Site(source, tag, index, number, code.strip(), *access))
    return sites


def all_sites():
    return [site for source in SOURCES for site in sites_of(source)]


def mutate(site, order, text=None):
    """The source's text with the access of `site` weakened to `order`."""
    lines = (text if text is not None else (ROOT / site.source).read_text()).splitlines(
        keepends=True
    )
    line = lines[site.line]
    if FENCE_CALL.match(line):
        changed = "\n"
    elif MEM_ACCESS.search(line):
        changed = MEM_ACCESS.sub(
            rf"\g<mem>.template \g<operation><std::memory_order_{order}>(", line, count=1
        )
    else:
        changed = ATOMIC_ORDER.sub(f"memory_order_{order}", line, count=1)
    if changed == line:
        raise BadTag(
            f"{site.source}:{site.line + 1}: cannot be weakened to {order}: {line.strip()}"
        )
    lines[site.line] = changed
    return "".join(lines)


def write_mutant(site, order, directory):
    """Writes the mutated source under `directory`, at the path by which it is included.

    Returns what to add to the include path."""
    path = pathlib.Path(directory) / site.source
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(mutate(site, order))
    return [directory, pathlib.Path(directory) / "runtime"]
