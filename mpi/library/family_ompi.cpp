// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Open MPI. Handles are addresses. Those of predefined objects are addresses of the library's
// variables, which must be found at run time as its functions are. In Fortran a handle is an index.

#include "mpi/library/family.hpp"
#include "mpi/library/pmpi.hpp"
#include "mpi/library/predefined.hpp"

// mpi.h uses this macro for MPI_COMM_WORLD and its like. There it takes the address of a variable,
// which would be a reference to the library (docs/design/mpi-calls.md#d0040).
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global) static_cast<type>(find.need(#global))

namespace hierbar::mpi {

namespace {
constexpr const char* kFaultToleranceSwitches[] = {"OMPI_MCA_mpi_ft_enable"};
}  // namespace

const LibraryFamily kFamily = LibraryFamily::kOpenMpi;
const std::span<const char* const> kFaultToleranceVariables = kFaultToleranceSwitches;
const char* const kProgressSymbol = "opal_progress";
const char* const kCommFromFortran = "PMPI_Comm_f2c";
const bool kThreadsMayMakeComms = false;
const bool kTakesOneElementTwice = true;
const bool kTakesOneBufferTwice = true;
const bool kTakesFewerBytes = true;
const bool kTakesOwnPart = true;

void bind_handles(const MpiSymbols& find, Pmpi& pmpi){
#define HIERBAR_HANDLE(type, name, constant) pmpi.name = constant;
    HIERBAR_MPI_HANDLES(HIERBAR_HANDLE)
#undef HIERBAR_HANDLE
}

PredefinedHandles find_predefined(const MpiSymbols& find) {
  PredefinedHandles found;
  const auto size = reinterpret_cast<decltype(&PMPI_Type_size)>(find("PMPI_Type_size"));
  if (size == nullptr) return found;
  // Calls use(type, bytes) if the library has the type. One that this build of it does not have is
  // there, too, with no size.
  const auto with_type = [&](const char* symbol, const auto& use) {
    const auto type = static_cast<MPI_Datatype>(find(symbol));
    int bytes = 0;
    if (type != nullptr && ask([&] { return size(type, &bytes); }) && bytes > 0)
      use(type, static_cast<std::size_t>(bytes));
  };
  const auto add = [&](const char* name, TypeKind kind, const char* symbol) {
    with_type(symbol, [&](MPI_Datatype type, std::size_t bytes) {
      found.types.push_back({name, kind, type, bytes});
    });
  };
#define HIERBAR_TYPE(kind, name, constant) add(#constant, TypeKind::kind, "ompi_mpi_" #name);
  HIERBAR_MPI_TYPES(HIERBAR_TYPE)
  HIERBAR_MPI_FORTRAN_TYPES(HIERBAR_TYPE)
#undef HIERBAR_TYPE
#define HIERBAR_OP(operation, name, constant)          \
  if (void* const handle = find("ompi_mpi_op_" #name)) \
    found.ops.push_back({#constant, Operation::operation, static_cast<MPI_Op>(handle)});
  HIERBAR_MPI_OPERATIONS(HIERBAR_OP)
#undef HIERBAR_OP
#define HIERBAR_TYPE(name, constant) \
  with_type("ompi_mpi_" #name,       \
            [&](MPI_Datatype type, std::size_t bytes) { found.moved.push_back({type, bytes}); });
  HIERBAR_MPI_MOVED_TYPES(HIERBAR_TYPE)
#undef HIERBAR_TYPE
  return found;
}

void (*find_progress(const MpiSymbols& find))() {
  return reinterpret_cast<void (*)()>(find(kProgressSymbol));
}

MPI_Comm from_fortran(const Pmpi& pmpi, MPI_Fint comm) { return pmpi.Comm_f2c(comm); }

}  // namespace hierbar::mpi
