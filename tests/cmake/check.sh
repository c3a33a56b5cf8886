# shellcheck shell=bash disable=SC2034
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Sourced by the shell tests: a directory that vanishes with the test, and checks that name what
# they wanted.

set -euo pipefail
export LC_ALL=C

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
num_failed=0

# check WHAT COMMAND...: the command must succeed.
check() {
  local what=$1
  shift
  "$@" && return
  num_failed=$((num_failed + 1))
  printf 'FAILED: %s\n  %s\n' "$what" "$*"
}

exists() { [[ -e $1 ]]; }
is_missing() { [[ ! -e $1 ]]; }
same_text() { [[ $1 == "$2" ]]; }

# says TEXT: the last run's output contains it.
says() { grep --quiet --fixed-strings -- "$1" "$work/output" || { sed 's/^/  | /' "$work/output" &&
  false; }; }

# run COMMAND...: keeps its output and its exit status.
run() {
  status=0
  "$@" >"$work/output" 2>&1 || status=$?
}

# succeeded: the last run did; shows what it said otherwise.
succeeded() { [[ $status == 0 ]] || { sed 's/^/  | /' "$work/output" && false; }; }

finish() {
  if ((num_failed)); then
    printf '%d checks failed\n' "$num_failed"
    exit 1
  fi
}
