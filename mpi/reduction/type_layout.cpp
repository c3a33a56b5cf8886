// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/reduction/type_layout.hpp"

#include "mpi/library/pmpi.hpp"
#include "mpi/reduction/reduction.hpp"

namespace hierbar::mpi {

TypeLayout look_up_layout(const Pmpi& pmpi, MPI_Datatype type) {
  if (const std::size_t bytes = dense_bytes(pmpi, type); bytes != 0) return {bytes, true};
  if (type == pmpi.datatype_null) return {};
  // Not by ask(): where it is no datatype, an error is raised here and once more by the library.
  int bytes = 0;
  if (pmpi.Type_size(type, &bytes) != MPI_SUCCESS || bytes <= 0) return {};
  return {static_cast<std::size_t>(bytes), false};
}

}  // namespace hierbar::mpi
