#!/usr/bin/env bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   make_variables_page.sh HIERBAR PAGE.in PAGE
#
# Writes hierbar(7), with what `hierbar variables` says where @hierbar_variables_section@ stands.

set -euo pipefail
hierbar=$1 input=$2 page=$3
section=$(mktemp)
trap 'rm -f "$section"' EXIT
"$hierbar" variables --man >"$section"
mkdir -p "$(dirname "$page")"
sed -e "/^@hierbar_variables_section@\$/{
r $section
d
}" "$input" >"$page"
