// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include <vector>

#include "symbol/code_place.hpp"

namespace hierbar {

// The functions of elfutils' libdw that are used, loaded when the first name is asked for: programs
// that write no report do not load it, and where it is not installed names are what the loader
// knows.
struct Libdw {
#define HIERBAR_LIBDW_FUNCTIONS(X) \
  X(dwarf_attr)                    \
  X(dwarf_attr_integrate)          \
  X(dwarf_child)                   \
  X(dwarf_cu_info)                 \
  X(dwarf_diename)                 \
  X(dwarf_filesrc)                 \
  X(dwarf_formaddr)                \
  X(dwarf_formref_die)             \
  X(dwarf_formstring)              \
  X(dwarf_formudata)               \
  X(dwarf_getsrc_die)              \
  X(dwarf_getsrcfiles)             \
  X(dwarf_hasattr)                 \
  X(dwarf_haspc)                   \
  X(dwarf_lineno)                  \
  X(dwarf_linesrc)                 \
  X(dwarf_lowpc)                   \
  X(dwarf_siblingof)               \
  X(dwarf_tag)                     \
  X(dwfl_begin)                    \
  X(dwfl_build_id_find_debuginfo)  \
  X(dwfl_end)                      \
  X(dwfl_module_addrinfo)          \
  X(dwfl_module_build_id)          \
  X(dwfl_module_nextcu)            \
  X(dwfl_offline_section_address)  \
  X(dwfl_report_elf)               \
  X(dwfl_report_end)
#define HIERBAR_MEMBER(name) decltype(&::name) name = nullptr;
  HIERBAR_LIBDW_FUNCTIONS(HIERBAR_MEMBER)
#undef HIERBAR_MEMBER
};

// Null if it cannot be loaded or lacks one of the functions.
const Libdw* load_libdw();

// The lines of the call that returns to `address`, the innermost function first. `unit` is the
// compilation unit that has it. If the function that is called there has itself ended with a jump
// to another function instead of a call, that jump is meant: it left no return address.
std::vector<CodeFrame> frames_of_call(const Libdw& dw, Dwarf_Die& unit, Dwarf_Addr address);

}  // namespace hierbar
