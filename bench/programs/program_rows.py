# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs of program_table.py: what their files say, whether a program is here, and how it
gets here.

A file of rows/GROUP describes a program, and is what the program runs: a script or its input, which
has the row in a comment, as scripts have their metadata for pip:

  # /// row NAME
  # title = "Name"
  # ///

A program that needs no file of its own has its row alone, in NAME.toml. The keys of a row are the
fields of Row. Words in braces are replaced in commands and in values of the environment:

  {threads}  of a rank, or of the program
  {ranks}    of an MPI program
  {file}     the file with the row
  {work}     a folder for input, made by `prepare`; programs run in a folder below it
  {python}   of the virtual environment that has the wheels; without wheels, the one that runs this
"""

import dataclasses
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib

ROWS = pathlib.Path(__file__).resolve().parent / "rows"
MPI_FAMILIES = ("mpich", "openmpi")


class Problem(Exception):
    """A row is wrong, or a program cannot be prepared or run; the message says why."""


@dataclasses.dataclass(frozen=True)
class Row:
    title: str
    command: list
    name: str
    group: str  # the name of the folder
    file: pathlib.Path  # with the row
    place: pathlib.Path  # of what is made for the program alone
    # ---- what it needs
    debian: list = dataclasses.field(default_factory=list)  # packages
    wheels: list = dataclasses.field(default_factory=list)  # requirements of pip
    origin: str = ""  # where it comes from, if no package has it; --install does not get it
    check: list = dataclasses.field(default_factory=list)  # succeeds if the program is here
    # ---- how it runs
    mpi: str = ""  # the family of the MPI library that it was built with
    environment: dict = dataclasses.field(default_factory=dict)
    prepare: list = dataclasses.field(default_factory=list)  # commands, in {work}
    # ---- what is compared
    time: str = ""  # as --time of `hierbar compare`; without it the time of the whole process
    rate: bool = False  # a larger figure is better
    result: str = ""  # as --result of `hierbar compare`; without it all output is compared
    tolerance: float = 0.0  # by which numbers in it may differ
    ignore_output: bool = False

    @property
    def work(self):
        return self.place / "work"

    @property
    def venv(self):
        """Programs that need the same wheels share it: those of PyTorch take several GB."""
        names = "+".join(wheel.split("==")[0] for wheel in self.wheels)
        return self.place.parent / "venv" / names

    @property
    def python(self):
        return self.venv / "bin" / "python" if self.wheels else sys.executable

    def fill(self, text, threads=1, ranks=1):
        words = {
            "threads": threads,
            "ranks": ranks,
            "file": self.file,
            "work": self.work,
            "python": self.python,
        }
        return re.sub(r"\{(\w+)\}", lambda found: str(words.get(found[1], found[0])), text)

    def filled(self, command, **sizes):
        return [self.fill(word, **sizes) for word in command]


BLOCK = re.compile(
    r"^(?P<mark>[#%]) /// row (?P<name>\w+)\n(?P<lines>(?:(?P=mark)(?: .*)?\n)*?)(?P=mark) ///$",
    re.MULTILINE,
)


def tables_of(path):
    """(name, TOML) of each row in a file."""
    text = path.read_text()
    if path.suffix == ".toml":
        return [(path.stem, text)]
    return [
        (found["name"], re.sub(r"^[#%] ?", "", found["lines"], flags=re.MULTILINE))
        for found in BLOCK.finditer(text)
    ]


def read_row(path, name, text, places):
    try:
        row = Row(
            **tomllib.loads(text), name=name, group=path.parent.name, file=path, place=places / name
        )
    except (tomllib.TOMLDecodeError, TypeError) as fault:
        raise Problem(f"{path}: {fault}") from None
    if row.mpi and row.mpi not in MPI_FAMILIES:
        raise Problem(f"{path}: mpi = '{row.mpi}'; allowed: {' or '.join(MPI_FAMILIES)}")
    return row


def read_rows(folder, places):
    """All rows below `folder`, by group and name. `places` will hold what is made for them."""
    rows = []
    for path in folder.glob("*/*"):
        if path.is_dir():
            continue
        tables = tables_of(path)
        if not tables:
            raise Problem(f"{path}: it has no row")
        rows += [read_row(path, name, text, places) for name, text in tables]
    return sorted(rows, key=lambda row: (row.group, row.name))


# ---- whether it is here ----


def succeeds(command):
    try:
        return (
            subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL).returncode == 0
        )
    except OSError:
        return False


def is_here(row):
    if row.wheels and not wheels_mark(row).exists():
        return False
    if row.mpi and shutil.which(launcher_of(row)) is None:
        return False
    if row.check:
        return succeeds(row.filled(row.check))
    return shutil.which(row.fill(row.command[0])) is not None


def what_to_install(row):
    """How a user gets the program, a line for each kind of package. Wheels count only where
    --install puts them."""
    lines = []
    if row.debian:
        lines.append("apt-get install --no-install-recommends " + " ".join(row.debian))
    if row.wheels:
        lines.append("--install, for the wheels " + " ".join(row.wheels))
    if row.origin:
        lines.append(f"{row.origin}, in PATH")
    return lines or [f"the command {row.command[0]}"]


def versions_of(row):
    """Of what the row names, in its order: {package: version}. The first is shown in the table.
    Debian's are asked for where there is dpkg."""
    found = dict(wheel.split("==") for wheel in row.wheels)
    if row.debian and shutil.which("dpkg-query"):
        listing = subprocess.run(
            ["dpkg-query", "--show", *row.debian], capture_output=True, text=True
        ).stdout
        pairs = (line.split("\t") for line in listing.splitlines())  # in dpkg's order
        versions = {name.partition(":")[0]: version for name, version in pairs}
        found |= {name: versions[name] for name in row.debian if name in versions}
    return found


# ---- how it gets here ----


def run_logged(row, command, **options):
    """Runs a command whose output goes to the row's log; a failure shows its end."""
    row.place.mkdir(parents=True, exist_ok=True)
    log = row.place / "log"
    with open(log, "ab") as out:
        try:
            status = subprocess.run(
                list(map(str, command)),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                **options,
            ).returncode
        except OSError as fault:
            raise Problem(f"{row.name}: '{command[0]}': {fault.strerror}") from None
    if status != 0:
        end = log.read_text(errors="replace").strip()[-400:]
        raise Problem(f"{row.name}: '{' '.join(map(str, command))}' failed, see {log}: {end}")


def wheels_mark(row):
    """A file that is there once the wheels that it lists are installed."""
    mark = row.venv / "installed"
    wanted = "\n".join(row.wheels)
    return mark if mark.exists() and mark.read_text() == wanted else mark.with_name("missing")


def install_wheels(row):
    run_logged(row, [sys.executable, "-m", "venv", row.venv])
    run_logged(row, [row.python, "-m", "pip", "install", *row.wheels])
    (row.venv / "installed").write_text("\n".join(row.wheels))


def install(row):
    missing = row.debian if not is_here(row) else []
    if missing and os.geteuid() == 0 and shutil.which("apt-get"):
        run_logged(
            row,
            ["apt-get", "install", "--yes", "--no-install-recommends", *missing],
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
        )
    if row.wheels and not wheels_mark(row).exists():
        install_wheels(row)


def digest_of(path):
    """Of its content, or None if it cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None


def inputs_of(row):
    """The digest of the row's file, if its commands name it."""
    words = [word for command in (row.command, *row.prepare) for word in command]
    return {row.file.name: digest_of(row.file)} if "{file}" in words else {}


def prepare(row):
    """Makes the input, once for each wording of `prepare` and of the file that it names."""
    row.work.mkdir(parents=True, exist_ok=True)
    mark = row.place / "prepared"
    wanted = repr([[row.filled(command) for command in row.prepare], inputs_of(row)])
    if mark.exists() and mark.read_text() == wanted:
        return
    for command in row.prepare:
        run_logged(row, row.filled(command), cwd=row.work)
    mark.write_text(wanted)


# ---- how it is launched ----


def launcher_of(row):
    """Debian's name, for it has both families; else the common one."""
    return shutil.which(f"mpiexec.{row.mpi}") or "mpiexec"


def launch(row, ranks, threads, num_cpus):
    """The words before an MPI program. Open MPI binds a rank to one core, where all of its threads
    would share it, and refuses more ranks than cores."""
    words = [launcher_of(row), "-n", str(ranks)]
    if row.mpi == "openmpi":
        if threads > 1 or ranks > num_cpus:
            words += ["--bind-to", "none"]
        if ranks > num_cpus:
            words += ["--oversubscribe"]
        if os.geteuid() == 0:
            words += ["--allow-run-as-root"]
    return words
