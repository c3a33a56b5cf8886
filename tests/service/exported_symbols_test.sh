#!/bin/sh
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# libhierbar.so is loaded into programs with libraries of their own, so it shows nothing but its C
# interface and needs no shared C++ library. (GCC's unwinder, libgcc_s.so.1, is part of every glibc
# system.) The streams of its own one are not among what the loader prepares in every program; their
# locales take functions from the C library. Arguments: nm, readelf, the library.
set -u
nm=$1 readelf=$2 library=$3

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
if "$readelf" -d "$library" | grep -E 'NEEDED.*(libstdc\+\+)'; then
  echo "$library needs a shared C++ library"
  exit 1
fi
if "$nm" -D --undefined-only "$library" | grep -E ' (btowc|__newlocale)(@|$)'; then
  echo "$library has streams of the C++ library (docs/design/libomp.md#d0165)"
  exit 1
fi
