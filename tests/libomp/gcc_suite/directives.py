# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a test of GCC's says about itself, in comments of the form `{ dg-NAME WORD... }`, as GCC's
own harness (DejaGnu) understands them.

The words are a list of Tcl's: separated by blanks, in braces or quotes where they hold blanks
themselves. Many directives end with a selector, `{ target EXPRESSION }`, and hold only where the
expression is true. It is made of patterns for the machine's name (x86_64-*-*) and of properties
(lp64, c++), with !, && and ||. What is known here is in PROPERTIES; all others, above all those of
devices, are false.
"""

import dataclasses
import fnmatch
import platform
import re

MACHINE = f"{platform.machine()}-unknown-linux-gnu"
PROPERTIES = {
    "lp64",
    "size32plus",
    "tls",
    "tls_runtime",
    "fpic",
    "shared",
    "lto",
    "sync_int_long",
    "fd_truncate",
    "__float128",
    "alias",
}
if platform.machine() == "x86_64":
    PROPERTIES |= {"sse2_runtime", "large_long_double", "vect_simd_clones"}
    with open("/proc/cpuinfo", encoding="utf-8") as cpuinfo:
        if re.search(r"^flags\s*:.*\bavx\b", cpuinfo.read(), re.MULTILINE):
            PROPERTIES.add("avx_runtime")


class BadDirective(Exception):
    """A directive cannot be understood; the message says which."""


@dataclasses.dataclass
class Test:
    """What the directives of one file ask for."""

    action: str = "run"  # or compile, link, or none where the machine is not the right one
    options: list = dataclasses.field(default_factory=lambda: ["-O2"])
    sources: list = dataclasses.field(
        default_factory=list
    )  # besides its own, relative to its folder
    environment: dict = dataclasses.field(default_factory=dict)
    should_fail: bool = False
    output: str = ""  # a regular expression that is to be found
    missing: str = ""  # why it cannot run here


def split_words(text):
    """The words of a list of Tcl's."""
    words = []
    position = 0
    while position < len(text):
        if text[position].isspace():
            position += 1
            continue
        if text[position] == "{":
            end = _closing_brace(text, position)
            words.append(text[position + 1 : end])
        elif text[position] == '"':
            end = position + 1
            while end < len(text) and text[end] != '"':
                end += 2 if text[end] == "\\" else 1
            words.append(_unescape(text[position + 1 : end]))
        else:
            end = position
            while end < len(text) and not text[end].isspace():
                end += 1
            words.append(text[position:end])
        position = end + 1
    return words


def _closing_brace(text, start):
    depth = 0
    for position in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if depth == 0:
            return position
    raise BadDirective(f"no closing brace: {text[start:]}")


def _unescape(text):
    """What Tcl makes of backslashes between quotes."""
    return re.sub(
        r"\\(.)", lambda match: {"n": "\n", "r": "\r", "t": "\t"}.get(match[1], match[1]), text
    )


def holds(expression, language):
    """Whether a selector's expression is true here; `language` is c, c++ or fortran."""
    tokens = re.findall(r"&&|\|\||[!{}]|[^\s!{}]+", expression)
    value = _either(tokens, language)
    if tokens:
        raise BadDirective(f"selector '{expression}'")
    return value


def _either(tokens, language):
    value = _both(tokens, language)
    while tokens and tokens[0] != "}":
        if tokens[0] == "||":  # a list without an operator is a choice too
            tokens.pop(0)
        value = _both(tokens, language) or value
    return value


def _both(tokens, language):
    value = _single(tokens, language)
    while tokens and tokens[0] == "&&":
        tokens.pop(0)
        value = _single(tokens, language) and value
    return value


def _single(tokens, language):
    if not tokens:
        return False
    token = tokens.pop(0)
    if token == "!":
        return not _single(tokens, language)
    if token == "{":
        value = _either(tokens, language)
        if not tokens:
            raise BadDirective("selector without its closing brace")
        tokens.pop(0)
        return value
    return (
        token in PROPERTIES
        or token == language
        or ("-" in token and fnmatch.fnmatchcase(MACHINE, token))
    )


def read(text, language):
    """The Test that a file's text describes, compiled as this language."""
    test = Test()
    for line in text.splitlines():
        match = re.search(r"\{\s*dg-([a-z-]+)\s(.*)\}", line)
        if match and match[1] in _READERS:
            words = split_words(match[2])
            selected = True
            if match[1] in _WITH_SELECTOR and words and re.match(r"\s*target\b", words[-1]):
                selected = holds(words.pop().strip().removeprefix("target"), language)
            _READERS[match[1]](test, words, selected, language)
    return test


def _read_do(test, words, selected, _language):
    if selected:
        test.action = words[0]
    elif test.action == "run":
        test.action = "none"


def _read_options(test, words, selected, _language):
    if selected:
        test.options = words[0].split()


def _read_additional_options(test, words, selected, _language):
    if selected:
        test.options = test.options + words[0].split()


def _read_sources(test, words, selected, _language):
    if selected:
        test.sources += [source for word in words for source in word.split()]


def _read_variable(test, words, selected, _language):
    if selected:
        test.environment[words[0]] = words[1]


def _read_should_fail(test, _words, selected, _language):
    test.should_fail = test.should_fail or selected


def _read_output(test, words, selected, _language):
    if selected:
        test.output += words[0]


def _read_requirement(test, words, _selected, language):
    if not holds(words[0], language):
        test.missing = f"needs {words[0]}"


def _read_skip(test, words, _selected, language):
    """Words: a comment, a selector, and options with which to skip it, and with which not."""
    with_options, without_options = (words[2:] + ["*", ""])[0], (words[3:] + [""])[0]
    used = ["-O2", *test.options]
    matches = [_fits(with_options, used), not _fits(without_options, used)]
    if holds(words[1], language) and all(matches):
        test.missing = words[0] or "skipped by GCC's own harness"


def _fits(options, used):
    return any(option == "*" or option in used for option in split_words(options))


_WITH_SELECTOR = {
    "do",
    "options",
    "additional-options",
    "additional-sources",
    "set-target-env-var",
    "shouldfail",
    "output",
}
_READERS = {
    "do": _read_do,
    "options": _read_options,
    "additional-options": _read_additional_options,
    "additional-sources": _read_sources,
    "set-target-env-var": _read_variable,
    "shouldfail": _read_should_fail,
    "output": _read_output,
    "require-effective-target": _read_requirement,
    "skip-if": _read_skip,
}
