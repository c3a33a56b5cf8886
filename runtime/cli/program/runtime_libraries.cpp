// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/program/runtime_libraries.hpp"

#include <algorithm>
#include <filesystem>

#include "elf/elf_file.hpp"

namespace hierbar {
namespace {

// What this project's libomp and its shims look up in libhierbar.so.
constexpr const char* kOurConstant = "hierbar_plan_abi_version";

LibraryKind openmp_kind(const std::string& path, const std::string& name) {
  if (has_constant(path, kOurConstant)) return LibraryKind::kHierbarOpenMp;
  // LLVM's has GCC's functions too.
  const bool is_llvms = find_symbols(path, {"__kmpc_fork_call"}).front() == SymbolState::kDefined;
  if (!is_llvms) return name.starts_with("libgomp") ? LibraryKind::kGccOpenMp : LibraryKind::kLlvmOpenMp;
  return name.starts_with("libiomp5") && has_constant(path, "Intel(R) OMP") ? LibraryKind::kIntelOpenMp
                                                                            : LibraryKind::kLlvmOpenMp;
}

LibraryKind mpi_kind(const std::string& path) {
  const auto states = find_symbols(path, {"MPI_Barrier", "ompi_mpi_comm_world"});
  if (states[0] != SymbolState::kDefined) return LibraryKind::kOther;  // of another language or part of MPI
  return states[1] == SymbolState::kDefined ? LibraryKind::kOpenMpi : LibraryKind::kMpich;
}

// OpenBLAS is built with threads of its own, with OpenMP's, or without.
LibraryKind blas_kind(const std::string& path) {
  const auto states = find_symbols(path, {"pthread_create", "GOMP_parallel", "__kmpc_fork_call"});
  const bool uses_openmp = states[1] == SymbolState::kUsed || states[2] == SymbolState::kUsed;
  return states[0] == SymbolState::kUsed && !uses_openmp ? LibraryKind::kOpenBlas : LibraryKind::kOther;
}

bool has_name(const std::string& name, const char* stem) {
  return name.starts_with(stem) && name.find(".so") != std::string::npos;
}

}  // namespace

bool is_openmp_name(const std::string& file_name) {
  for (const std::string_view stem : {"libgomp", "libomp", "libiomp5"}) {
    if (!file_name.starts_with(stem)) continue;
    std::string_view rest = std::string_view(file_name).substr(stem.size());
    if (rest.starts_with('-')) rest.remove_prefix(std::min(rest.find_first_not_of("0123456789abcdef", 1), rest.size()));
    return rest == ".so" || rest.starts_with(".so.");
  }
  return false;
}

LibraryKind library_kind(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename();
  if (name.starts_with("libhierbar_mpi_ompi.so")) return LibraryKind::kOpenMpiShim;
  if (name.starts_with("libhierbar_mpi.so")) return LibraryKind::kMpichShim;
  if (is_openmp_name(name)) return openmp_kind(path, name);
  if (has_name(name, "libmpi")) return mpi_kind(path);
  if (has_name(name, "libopenblas") || has_name(name, "libscipy_openblas")) return blas_kind(path);
  // Debian's OpenBLAS stands in for the reference BLAS under that one's name.
  if (has_name(name, "libblas") && find_symbols(path, {"openblas_set_num_threads"}).front() == SymbolState::kDefined) {
    return blas_kind(path);
  }
  return LibraryKind::kOther;
}

const char* library_name(LibraryKind kind) {
  constexpr const char* kNames[] = {"library",
                                    "hierbar's OpenMP runtime",
                                    "GCC's OpenMP runtime",
                                    "LLVM's OpenMP runtime",
                                    "Intel's OpenMP runtime",
                                    "MPI of MPICH's kind",
                                    "Open MPI",
                                    "hierbar's MPI_Barrier for MPICH's kind",
                                    "hierbar's MPI_Barrier for Open MPI",
                                    "OpenBLAS with threads of its own"};
  return kNames[static_cast<int>(kind)];
}

bool is_openmp(LibraryKind kind) { return kind >= LibraryKind::kHierbarOpenMp && kind <= LibraryKind::kIntelOpenMp; }
bool is_mpi(LibraryKind kind) { return kind == LibraryKind::kMpich || kind == LibraryKind::kOpenMpi; }

MpiFamily family_of(LibraryKind kind) {
  if (kind == LibraryKind::kMpich || kind == LibraryKind::kMpichShim) return MpiFamily::kMpich;
  if (kind == LibraryKind::kOpenMpi || kind == LibraryKind::kOpenMpiShim) return MpiFamily::kOpenMpi;
  return MpiFamily::kNone;
}

}  // namespace hierbar
