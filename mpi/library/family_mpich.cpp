// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MPICH and libraries with its ABI. Handles are integers, the same ones in C and in Fortran.

#include "mpi/library/family.hpp"
#include "mpi/library/pmpi.hpp"

namespace hierbar::mpi {
namespace {

// The value of MPIX_STREAM_NULL, which older headers of MPICH do not define.
constexpr int kNoStream = 0x3c000000;

int (*stream_progress)(int stream) = nullptr;  // MPICH 4.1 and later

void progress_without_stream() { stream_progress(kNoStream); }

}  // namespace

const char* const kFamilyName = "MPICH";
const char* const kShimFile = "libhierbar_mpi.so";
const char* const kOtherShimFile = "libhierbar_mpi_ompi.so";
const char* const kOtherShim = "libhierbar_mpi_ompi.so is for Open MPI";
const char* const kFaultToleranceVariable = "MPIR_CVAR_ENABLE_FT";
const char* const kProgressSymbol = "MPIX_Stream_progress";
const bool kThreadsMayMakeComms = true;

// In mpi.h MPI_COMM_DUP_FN is this function. So every library that programs of this ABI can be
// linked with has it, and no library of another ABI. Of MPICH's own, libmpi_abi.so lacks it.
bool is_of_family(const void* library, const std::string& file) {
  return definition_inside(library, "MPIR_Dup_fn") != nullptr &&
         file.find("libmpi_abi") == std::string::npos;
}

void bind_handles(const MpiSymbols&, Pmpi& pmpi) {
#define HIERBAR_HANDLE(type, name, constant) pmpi.name = constant;
  HIERBAR_MPI_HANDLES(HIERBAR_HANDLE)
#undef HIERBAR_HANDLE
}

void (*find_progress(const MpiSymbols& find))() {
  stream_progress = reinterpret_cast<int (*)(int)>(find(kProgressSymbol));
  return stream_progress != nullptr ? &progress_without_stream : nullptr;
}

MPI_Comm from_fortran(const Pmpi&, MPI_Fint comm) { return MPI_Comm_f2c(comm); }

}  // namespace hierbar::mpi
