# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the runner reports: progress, summary, JSON, and the tables of
docs/results/model-checking.md.
"""

import dataclasses
import json
import threading

from genmc import CannotRun, MODELS
import mutants


@dataclasses.dataclass(frozen=True)
class Results:
    genmc_version: str
    cases: list
    mutants: list
    seconds: float


class Progress:
    """Reports all that ends in one line, with its log if it ends badly. Several threads use it."""

    def __init__(self, genmc, options):
        self._mutex = threading.Lock()
        print(
            f"GenMC v{genmc.version}, {options.jobs} at a time, {options.timeout} s each at most",
            flush=True,
        )

    def case(self, result):
        outcome = result.outcome
        said = {
            "passed": f"{outcome.executions} executions, {outcome.blocked} blocked",
            "error": f"{outcome.message}\n{outcome.log}",
            "timeout": outcome.message,
        }[outcome.result]
        self._say(
            f"{outcome.result:8} {result.case.name:38} {result.model:5} {outcome.seconds:7.2f} s  {said}"
        )

    def mutant(self, result):
        said = (
            f"by {result.killer}: {result.error}" if result.killed else f"{result.survived} cases"
        )
        if result.undecided:
            said += f", undecided: {', '.join(result.undecided)}"
        self._say(
            f"{'killed' if result.killed else 'survived':8} {result.site.name:38} {result.order:8} {said}"
        )

    def _say(self, text):
        with self._mutex:
            print(text, flush=True)


def problems_of(results, whole):
    """What is wrong, one line each. whole: all orders were tried, so reasons can be judged too."""
    problems = [
        f"{result.case.name} under {result.model}: {result.outcome.result}: {result.outcome.message}"
        for result in results.cases
        if result.outcome.result != "passed"
    ]
    for result in results.mutants:
        what = f"{result.site.name} made {result.order}"
        if result.killed and reason_of(result):
            problems.append(
                f"{what} is killed by {result.killer}, but mutants.py says that it survives"
            )
        elif not result.killed and result.survived == 0:
            problems.append(
                f"{what} changes no case: nothing explores {result.site.source}:{result.site.line + 1}"
            )
        elif not result.killed and result.undecided:
            problems.append(f"{what} is undecided: {', '.join(result.undecided)}")
        elif not result.killed and not reason_of(result) and whole:
            problems.append(
                f"{what} survives {result.survived} cases, and mutants.py does not say why the order stays"
            )
    return problems


def reason_of(mutant_result):
    return mutants.REASONS.get((mutant_result.site.name, mutant_result.order), "")


def summary(results, num_problems):
    executions = sum(result.outcome.executions for result in results.cases)
    passed = sum(result.outcome.result == "passed" for result in results.cases)
    killed = sum(result.killed for result in results.mutants)
    return (
        f"{passed} of {len(results.cases)} explorations passed, {executions} executions; "
        f"{killed} of {len(results.mutants)} mutants killed; {num_problems} problems; {results.seconds:.0f} s"
    )


CASES_TABLE = "cases"
MUTANTS_TABLE = "mutants"


def write_markdown(results, path):
    """Writes the tables between their marks in `path`. A part that was not run keeps its table."""
    text = path.read_text()
    if results.cases:
        text = _replace_table(path, text, CASES_TABLE, _cases_table(results))
    if results.mutants:
        text = _replace_table(path, text, MUTANTS_TABLE, _mutants_table(results.mutants))
    path.write_text(text)


def _replace_table(path, text, name, table):
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
    if text.count(begin) != 1 or text.count(end) != 1:
        raise CannotRun(
            f"--markdown '{path}': must have the lines '{begin.strip()}' and '{end.strip()}', once each"
        )
    head, rest = text.split(begin)
    return head + begin + table + end + rest.split(end)[1]


def _cases_table(results):
    by_case = {}
    for result in results.cases:
        by_case.setdefault(result.case, {})[result.model] = result.outcome
    lines = [
        "| case | what | "
        + " | ".join(f"{model.upper()}: executions, s, result" for model in MODELS)
        + " |",
        "|---|---|" + "---|" * len(MODELS),
    ]
    for case, outcomes in by_case.items():
        cells = (
            f"{o.executions:,}, {o.seconds:.1f}, {'no error' if o.result == 'passed' else o.message}"
            for o in (outcomes[model] for model in MODELS)
        )
        lines.append(f"| `{case.name}` | {case.about} | " + " | ".join(cells) + " |")
    executions = sum(result.outcome.executions for result in results.cases)
    total = f"{len(results.cases)} explorations by GenMC v{results.genmc_version}, {executions:,} executions."
    return "\n".join(lines) + f"\n\n{total}\n"


def _mutants_table(mutants):
    by_site = {}
    for result in mutants:
        by_site.setdefault(result.site, []).append(result)
    lines = [
        "| access | order | killed when | survives as, and why the order stays |",
        "|---|---|---|---|",
    ]
    for site, tried in by_site.items():
        killed = "; ".join(
            f"{_order_text(result)} (`{result.killer}`: {result.error})"
            for result in tried
            if result.killed
        )
        survived = "; ".join(
            f"{_order_text(result)}: {reason_of(result) or 'no reason recorded'}"
            for result in tried
            if not result.killed
        )
        lines.append(
            f"| `{site.name}` | {site.order} {site.kind} | {killed or '-'} | {survived or '-'} |"
        )
    num_killed = sum(result.killed for result in mutants)
    return (
        "\n".join(lines)
        + f"\n\n{len(mutants)} mutants of {len(by_site)} accesses, {num_killed} killed.\n"
    )


def _order_text(result):
    return "left out" if result.site.kind == "fence" and result.order == "relaxed" else result.order


def write_json(results, path):
    cases = [
        {"case": result.case.name, "model": result.model, **dataclasses.asdict(result.outcome)}
        for result in results.cases
    ]
    for case in cases:
        if case["result"] == "passed":
            del case["log"]
    mutants = [
        {
            "access": result.site.name,
            "source": result.site.source,
            "line": result.site.line + 1,
            "from": result.site.order,
            "to": result.order,
            "killer": result.killer,
            "error": result.error,
            "survived": result.survived,
            "undecided": list(result.undecided),
            "reason": reason_of(result),
        }
        for result in results.mutants
    ]
    document = {
        "genmc": results.genmc_version,
        "seconds": round(results.seconds, 1),
        "cases": cases,
        "mutants": mutants,
    }
    path.write_text(json.dumps(document, indent=1) + "\n")
