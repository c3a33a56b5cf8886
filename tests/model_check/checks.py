# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the runner does: it explores the cases, and checks that mutants are killed."""

import collections
import concurrent.futures
import dataclasses
import pathlib
import tempfile
import threading

from genmc import CannotCompile, HERE, MODELS, Outcome, ROOT
import mutants


@dataclasses.dataclass(frozen=True)
class CaseResult:
    case: object
    model: str
    outcome: object


@dataclasses.dataclass(frozen=True)
class MutantResult:
    """The result for one access with one weaker order."""

    site: object
    order: str
    killer: str = ""  # the case and the model that found an error; empty: it survived
    error: str = ""
    survived: int = 0  # the number of cases that it changes and that found no error
    undecided: tuple = ()  # cases that did not end in time

    @property
    def killed(self):
        return bool(self.killer)


class Workshop:
    """Compiles drivers, each variant once, and explores them."""

    def __init__(self, genmc, timeout_s):
        self.genmc = genmc
        self.timeout_s = timeout_s
        self._directory = tempfile.TemporaryDirectory(prefix="hierbar-model-")
        self.directory = pathlib.Path(self._directory.name)
        self._programs = {}
        self._files = {}
        self._locks = collections.defaultdict(threading.Lock)

    def program(self, case):
        """The case's driver, compiled with the sources as they are."""
        with self._locks[case.name]:
            if case.name not in self._programs:
                output = self.directory / f"{case.name}.ll"
                self._files[case.name] = self.genmc.compile(
                    HERE / case.driver, case.defines, output
                )
                self._programs[case.name] = output
        return self._programs[case.name]

    def uses(self, case, source):
        """Whether the case's driver includes a source of the project.

        False if it does not compile: its own result reports that."""
        try:
            self.program(case)
        except CannotCompile:
            return False
        return ROOT / source in self._files[case.name]

    def mutated_program(self, case, path, name):
        """The same, but files in the directories of `path` replace the project's.

        None: it makes no difference."""
        output = self.directory / f"{name}.{case.name}.ll"
        self.genmc.compile(HERE / case.driver, case.defines, output, first_on_path=path)
        if _code_of(output) == _code_of(self.program(case)):
            output.unlink()
            return None
        return output

    def explore(self, program, model):
        return self.genmc.explore(program, model, self.timeout_s)

    def explain(self, case, model):
        """Explores a case again, so that its log has the lines of the sources."""
        output = self.directory / f"{case.name}.{model}.debug.ll"
        self.genmc.compile(HERE / case.driver, case.defines, output, debug=True)
        return self.explore(output, model)

    def close(self):
        self._directory.cleanup()


def _code_of(program):
    """The program without the lines that only say where it came from."""
    return [
        line
        for line in program.read_text().splitlines()
        if not line.startswith(("source_filename", "; ModuleID"))
    ]


def check_cases(workshop, cases, jobs, report):
    """Explores every case under every model and returns all results, in their order.

    report(CaseResult) is called as each ends."""

    def check(pair):
        case, model = pair
        try:
            outcome = workshop.explore(workshop.program(case), model)
            if outcome.result == "error":
                outcome = workshop.explain(case, model)
        except CannotCompile as problem:
            outcome = Outcome("error", "does not compile", log=str(problem))
        result = CaseResult(case, model, outcome)
        report(result)
        return result

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(check, [(case, model) for case in cases for model in MODELS]))


class MutantCheck:
    """Tries mutants on the cases. Those that killed a mutant of the same source come first."""

    def __init__(self, workshop, cases):
        self._workshop = workshop
        self._cases = cases
        self._kills = collections.Counter()
        self._mutex = threading.Lock()

    def check_site(self, site, every_order, report):
        """The results for one access: first its weakest order, then stronger ones that may differ.

        If an order survives, all stronger ones do. If one is killed, all weaker ones are."""
        weaker = site.weaker_orders()  # the weakest comes last
        results = []
        for order in reversed(weaker):
            if results and (not every_order or says_nothing_new(order, results)):
                continue
            results.append(self._check(site, order))
            report(results[-1])
        return results

    def _check(self, site, order):
        name = f"{site.name}-{order}".replace(":", "-")
        survived, undecided = 0, []
        with tempfile.TemporaryDirectory(dir=self._workshop.directory) as directory:
            path = mutants.write_mutant(site, order, directory)
            for case in self._in_order(site.source):
                if case.real_mem and site.is_of_mem() or not self._workshop.uses(case, site.source):
                    continue
                program = self._workshop.mutated_program(case, path, name)
                if program is None:
                    continue
                survived += 1
                for model in MODELS:
                    outcome = self._workshop.explore(program, model)
                    if outcome.result == "error":
                        with self._mutex:
                            self._kills[site.source, case.name] += 1
                        return MutantResult(site, order, f"{case.name} {model}", outcome.message)
                    if outcome.result == "timeout":
                        undecided.append(f"{case.name} {model}")
                program.unlink()
        return MutantResult(site, order, survived=survived, undecided=tuple(undecided))

    def _in_order(self, source):
        with self._mutex:
            kills = self._kills.copy()
        return sorted(self._cases, key=lambda case: -kills[source, case.name])


def says_nothing_new(order, results):
    """Whether a survivor is weaker than `order`. Then `order` survives as well."""
    return any(not result.killed and _is_weaker(result.order, order) for result in results)


def _is_weaker(order, than):
    return (
        order
        in {
            "seq_cst": ("acq_rel", "release", "acquire", "relaxed"),
            "acq_rel": ("release", "acquire", "relaxed"),
            "release": ("relaxed",),
            "acquire": ("relaxed",),
            "relaxed": (),
        }[than]
    )


def check_mutants(workshop, cases, sites, every_order, jobs, report):
    """Checks the mutants of every site and returns all results, in their order.

    report(MutantResult) is called as each ends."""
    check = MutantCheck(workshop, cases)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        results = pool.map(lambda site: check.check_site(site, every_order, report), sites)
        return [result for of_site in results for result in of_site]
