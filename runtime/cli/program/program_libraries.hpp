// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "base/variables.hpp"
#include "cli/program/program.hpp"

namespace hierbar {

// The family of a program's MPI library. It decides which shim the program needs.
// kAny: not known before the program calls MPI; libhierbar_mpi_any.so finds it out then.
enum class MpiFamily { kNone, kMpich, kOpenMpi, kStandardAbi, kAny };

const char* family_name(MpiFamily family);  // "no MPI", "MPICH", "Open MPI", "MPI's standard ABI"
const char* shim_file(MpiFamily family);    // "libhierbar_mpi_ompi.so"; empty for kNone

struct FamilyGuess {
  MpiFamily family = MpiFamily::kNone;
  MpiFamily launcher = MpiFamily::kNone;  // that of the launcher that is the command's first word
  std::string why;                        // "'/home/me/app' loads it"
};

// The family of a command's MPI library, and that of its launcher. No program of the command is
// started but a launcher, for its version.
//
// 1. The library that the loader would load for the first word of the command that is a program
//    with one, behind whatever launcher.
// 2. kAny where the program may come to MPI in another way: MPI's launcher starts it, it cannot be
//    read, it lacks libraries, it opens libraries, or it starts programs, as interpreters, shells
//    and launchers do that nobody knows here.
// 3. Else kNone.
FamilyGuess guess_family(const Program& command, const Environment& environment);

// The family of the launcher of that name, from the path of its file, with symbolic links resolved,
// or else from what it prints for --version. Both families of the result are the launcher's.
FamilyGuess guess_family_of_launcher(const std::string& word);

// Libraries that start threads or connect ranks, by what they are and not only by their names.
enum class LibraryKind {
  kOther,
  kHierbarOpenMp,  // this project's libomp, by whatever name
  kGccOpenMp,
  kLlvmOpenMp,
  kIntelOpenMp,
  kMpich,
  kOpenMpi,
  kStandardMpi,  // any library's, with the standard ABI
  kMpichShim,    // this project's, before MPICH's kind of MPI
  kOpenMpiShim,
  kStandardMpiShim,
  kAnyMpiShim,  // opens one of these three
  kOpenBlas,    // with threads of its own
};

LibraryKind library_kind(const std::string& path);

const char* library_name(LibraryKind kind);  // "GCC's OpenMP runtime"
const char* library_id(LibraryKind kind);    // "gcc-openmp", for programs
bool is_openmp(LibraryKind kind);
bool is_mpi(LibraryKind kind);
MpiFamily family_of(LibraryKind kind);  // of a library or a shim

// Whether a library of that file name is an OpenMP runtime: libgomp, libomp or libiomp5, also with
// a hash as Python wheels have it.
bool is_openmp_name(const std::string& file_name);

// A sanitizer of GCC's or Clang's with which a program was built.
struct Sanitizer {
  const char* name;   // "AddressSanitizer"
  bool is_linked_in;  // else it is a shared library, as GCC's are
  // What a program needs to run with preloaded libraries, if the sanitizer is a shared library.
  const char* variable;
  const char* value;
  const char* why;
};

// Those that need a setting, of the program in `file`.
std::vector<Sanitizer> find_shared_sanitizers(const std::string& file);
// These, and those that are linked in. Reads all symbols of the program.
std::vector<Sanitizer> find_all_sanitizers(const std::string& file);

}  // namespace hierbar
