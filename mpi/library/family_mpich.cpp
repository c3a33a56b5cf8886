// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MPICH and libraries with its ABI. Handles are integers, the same ones in C and in Fortran.

#include "mpi/library/family.hpp"
#include "mpi/library/pmpi.hpp"
#include "mpi/library/predefined.hpp"

// Older headers of MPICH do not define these types, which newer libraries have.
#ifndef MPI_LOGICAL1
#define MPI_LOGICAL1 static_cast<MPI_Datatype>(0x4c000147)
#define MPI_LOGICAL2 static_cast<MPI_Datatype>(0x4c000248)
#define MPI_LOGICAL4 static_cast<MPI_Datatype>(0x4c000449)
#define MPI_LOGICAL8 static_cast<MPI_Datatype>(0x4c00084a)
#endif

namespace hierbar::mpi {
namespace {

// The value of MPIX_STREAM_NULL, which older headers of MPICH do not define.
constexpr int kNoStream = 0x3c000000;

int (*stream_progress)(int stream) = nullptr;  // MPICH 4.1 and later

// A handle has the type's size in these bits, except in pairs of different C types.
constexpr unsigned kSizeBits = 0xff00;
constexpr unsigned kKindBits = 0xff000000;
constexpr unsigned kKindWithSize = 0x4c000000;

std::size_t bytes_in(MPI_Datatype type) {
  const auto bits = static_cast<unsigned>(type);
  return (bits & kKindBits) == kKindWithSize ? (bits & kSizeBits) >> 8 : 0;
}

void add(std::vector<NamedType>& types, const char* name, TypeKind kind, MPI_Datatype type) {
  if (type != MPI_DATATYPE_NULL) types.push_back({name, kind, type, bytes_in(type)});
}

// The program's mpi.h may be that of a library whose Fortran has other sizes than the one that this
// is compiled against. Then the handles differ in the size, too.
void add_all_sizes(std::vector<NamedType>& types, const char* name, TypeKind kind,
                   MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL) return;
  for (const unsigned bytes : {1u, 2u, 4u, 8u, 16u, 32u}) {
    add(types, name, kind,
        static_cast<MPI_Datatype>((static_cast<unsigned>(type) & ~kSizeBits) | bytes << 8));
  }
}

constexpr const char* kFaultToleranceSwitches[] = {"MPIR_CVAR_ENABLE_FT"};

void progress_without_stream() { stream_progress(kNoStream); }

}  // namespace

const LibraryFamily kFamily = LibraryFamily::kMpich;
const std::span<const char* const> kFaultToleranceVariables = kFaultToleranceSwitches;
const char* const kProgressSymbol = "MPIX_Stream_progress";
const char* const kCommFromFortran = "PMPI_Comm_f2c";  // a macro in most of them
const bool kThreadsMayMakeComms = true;
const bool kTakesOneElementTwice = false;
const bool kTakesOneBufferTwice = false;
const bool kTakesFewerBytes = false;
const bool kTakesOwnPart = false;

void bind_handles(const MpiSymbols&, Pmpi& pmpi){
#define HIERBAR_HANDLE(type, name, constant) pmpi.name = constant;
    HIERBAR_MPI_HANDLES(HIERBAR_HANDLE)
#undef HIERBAR_HANDLE
}

PredefinedHandles find_predefined(const MpiSymbols&) {
  PredefinedHandles found;
#define HIERBAR_TYPE(kind, name, constant) add(found.types, #constant, TypeKind::kind, constant);
  HIERBAR_MPI_TYPES(HIERBAR_TYPE)
#undef HIERBAR_TYPE
#define HIERBAR_TYPE(kind, name, constant) \
  add_all_sizes(found.types, #constant, TypeKind::kind, constant);
  HIERBAR_MPI_FORTRAN_TYPES(HIERBAR_TYPE)
#undef HIERBAR_TYPE
  add_ops_and_moved(found, bytes_in);
  return found;
}

void (*find_progress(const MpiSymbols& find))() {
  stream_progress = reinterpret_cast<int (*)(int)>(find(kProgressSymbol));
  return stream_progress != nullptr ? &progress_without_stream : nullptr;
}

MPI_Comm from_fortran(const Pmpi&, MPI_Fint comm) { return MPI_Comm_f2c(comm); }

}  // namespace hierbar::mpi
