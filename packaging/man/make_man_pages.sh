#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   make_man_pages.sh commands HELP2MAN HIERBAR DIRECTORY
#   make_man_pages.sh variables HIERBAR PAGE.in PAGE
#
# commands: writes hierbar.1 and a page hierbar-COMMAND.1 for each command into the directory, from
# what --help says, and removes pages of commands that do not exist. SOURCE_DATE_EPOCH is obeyed, so
# that a build can be repeated.
# variables: writes hierbar(7), with what `hierbar variables` says in place of the line
# @hierbar_variables_section@.

set -euo pipefail
export LC_ALL=C
mode=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [[ $mode == variables ]]; then
  hierbar=$1 input=$2 page=$3
  "$hierbar" variables --man >"$work/section"
  mkdir -p "$(dirname "$page")"
  sed -e "/^@hierbar_variables_section@\$/{
r $work/section
d
}" "$input" >"$page"
  exit
fi

help2man=$1 hierbar=$2 directory=$3
version=$("$hierbar" --version)
rm -rf "$directory"
mkdir -p "$directory"

# The lines "  name   summary" below "Subcommands:".
commands=$("$hierbar" --help |
  awk '/^Subcommands:/ { inside = 1; next } inside && /^  [a-z]/ { print $1 }')
if [[ -z $commands ]]; then
  printf 'make_man_pages.sh: hierbar --help lists no commands\n' >&2
  exit 1
fi

# make_page NAME OPTION...: the page of "hierbar COMMAND", or of hierbar itself, under this name.
# help2man would make one paragraph of the examples, so they go to it apart, as lines. The summary
# is the help's first line, in lower case as NAME sections have it.
make_page() {
  local name=$1 help summary
  if [[ $name == hierbar ]]; then
    help=$("$hierbar" --help)
  else
    help=$("$hierbar" "${name#hierbar-}" --help)
  fi
  summary=${help%%$'\n'*}
  printf '#!/bin/sh\ncat <<"END"\n%s\nEND\n' "$(sed '/^Examples:$/,$d' <<<"$help")" >"$work/$name"
  chmod +x "$work/$name"
  {
    if grep --quiet '^Examples:$' <<<"$help"; then
      printf '[examples]\n.nf\n'
      sed -e '1,/^Examples:$/d' -e 's/^  //' -e 's/\\/\\e/g' -e 's/-/\\-/g' \
        -e "s/^[.']/\\\\\\&&/" <<<"$help"
      printf '.fi\n'
    fi
    printf '[see also]\n%s\n' "$see_also"
  } >"$work/include"
  "$help2man" --no-info --no-discard-stderr --section=1 --source=hierbar --manual=hierbar \
    --version-string="${version#hierbar }" --name="${summary,}" --include="$work/include" \
    --output="$directory/$name.1" "$work/$name"
}

see_also='.BR hierbar (7)'
for command in $commands; do see_also+=$',\n.BR hierbar\\-'"$command (1)"; done
make_page hierbar
see_also=$'.BR hierbar (1),\n.BR hierbar (7)'
for command in $commands; do make_page "hierbar-$command"; done
