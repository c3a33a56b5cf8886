# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The files in which program_table.py keeps what it has measured, and whether they still count."""

import json
import os
import pathlib
import shutil

import program_rows
import program_settings
from compare_programs import FAMILIES
from program_rows import digest_of

# Beginnings of the names of variables that change how fast a program is: the loader's, those of
# memory, of libraries with threads of their own, of MPI libraries. Names of a session or a terminal
# are not among them, so that a result counts in the next session too.
MATTERING = (
    *("LD_", "GLIBC_TUNABLES", "MALLOC_", "HWLOC_", "PYTHON"),
    *("OPENBLAS_", "MKL_", "BLIS_", "NUMBA_", "TORCH", "ATEN_", "GGML_", "LLAMA_", "CT2_"),
    *("MPI", "OMPI_", "PMIX_", "PRTE_", "PMI_", "HYDRA_", "UCX_", "FI_", "I_MPI_"),
)


def digests_of_build(hierbar):
    """Of the command and its libraries: one that is built again without a change is the same."""
    paths = [hierbar, *sorted((hierbar.parent.parent / "lib").glob("lib*.so*"))]
    return {path.name: digest_of(path) for path in paths if not path.is_symlink()}


def profile_path():
    """Of the machine's profile, which `hierbar run` reads."""
    config = os.environ.get("XDG_CONFIG_HOME") or pathlib.Path.home() / ".config"
    return pathlib.Path(config) / "hierbar" / "profile.json"


def program_of(row):
    """The file that is started, and how it differs from a later build."""
    found = shutil.which(row.fill(row.command[0]))
    if found is None:
        return None
    status = os.stat(found)
    return [os.path.realpath(found), status.st_size, status.st_mtime_ns]


def environment_for(row, setting):
    """What of it matters."""
    return {
        name: value
        for name, value in sorted(program_settings.environment_of(row, setting).items())
        if name in row.environment or name.startswith((*MATTERING, *FAMILIES))
    }


def dependences_of(row, setting, options):
    """All that a result depends on, besides the command and the number of pairs."""
    return {
        "cpus": options.cpus,
        "build": options.build,
        "profile": digest_of(profile_path()),
        "versions": program_rows.versions_of(row),
        "program": program_of(row),
        "prepare": row.prepare,
        "inputs": program_rows.inputs_of(row),
        "environment": environment_for(row, setting),
    }


# ---- the files ----


def result_file(row, setting, options):
    return options.results / f"{row.name}.{setting.name}.json"


def split_pairs(command):
    """(the command of `hierbar compare` without its --runs, whether it had one)"""
    at = command.index("--runs") if "--runs" in command[: command.index("--")] else None
    return (command, False) if at is None else (command[:at] + command[at + 2 :], True)


def kept_result(row, setting, options):
    """What an earlier call has measured, or None.

    It counts if the program is compared in the same way, by at least as many pairs as are asked
    for, and if nothing of dependences_of() has changed since.
    """
    try:
        kept = json.loads(result_file(row, setting, options).read_text())
    except (OSError, ValueError):
        return None
    if kept.get("dependences") != dependences_of(row, setting, options):
        return None
    wanted, _ = split_pairs(program_settings.compare_command(row, setting, options))
    command, was_asked = split_pairs(kept["command"])
    pairs = options.pairs or 0
    is_enough = kept["compare"]["rounds"] >= pairs if pairs else not was_asked
    is_complete = not kept["compare"]["failure"] and not kept["compare"]["signal"]
    return kept if command == wanted and is_enough and is_complete else None


def keep_result(result, row, setting, options):
    """A file that is there is complete, so that a later call can rely on it."""
    path = result_file(row, setting, options)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    kept = {"dependences": dependences_of(row, setting, options), **result}
    unfinished.write_text(json.dumps(kept, indent=1))
    unfinished.replace(path)
