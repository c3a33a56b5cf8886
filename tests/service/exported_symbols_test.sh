#!/bin/sh
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# libhierbar.so is loaded into programs with libraries of their own, so it shows nothing but its C
# interface and needs no shared C++ library. (GCC's unwinder, libgcc_s.so.1, is part of every glibc
# system.) The streams of its own one are not among what the loader prepares in every program; their
# locales take functions from the C library. It needs neither libm nor hwloc: the latter is needed
# by libhierbar_hwloc.so. Arguments: nm, readelf, both libraries.
set -u
nm=$1 readelf=$2 library=$3 with_hwloc=$4

others=$("$nm" -D --defined-only "$library" | awk '{ print $NF }' | grep -v '^hierbar_')
if [ -n "$others" ]; then
  echo "$library exports more than its interface:"
  echo "$others"
  exit 1
fi
if ! "$nm" -D --defined-only "$library" | grep -q ' hierbar_plan_create$'; then
  echo "$library does not export hierbar_plan_create"
  exit 1
fi
if "$readelf" -d "$library" | grep -E 'NEEDED.*(libstdc\+\+|libm\.|libhwloc)'; then
  echo "$library needs a library that most programs would load for nothing"
  exit 1
fi
if ! "$readelf" -d "$with_hwloc" | grep -q 'NEEDED.*libhwloc'; then
  echo "$with_hwloc does not need hwloc, so packages of it would lack that"
  exit 1
fi
others=$("$nm" -D --defined-only "$with_hwloc" | awk '{ print $NF }')
if [ "$others" != hierbar_hwloc_functions ]; then
  echo "$with_hwloc exports more than its table:"
  echo "$others"
  exit 1
fi
if "$nm" -D --undefined-only "$library" | grep -E ' (btowc|__newlocale)(@|$)'; then
  echo "$library has streams of the C++ library (docs/design/libomp.md#d0165)"
  exit 1
fi
