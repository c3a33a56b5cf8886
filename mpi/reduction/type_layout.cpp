// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/reduction/type_layout.hpp"

#include <cstring>

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

bool packs_plainly(const Pmpi& pmpi, MPI_Comm comm) {
  const long long values[2] = {1, -2};
  std::byte packed[4 * sizeof(values)]{};
  int position = 0;
  return pmpi.Pack(values, 2, pmpi.long_long, packed, static_cast<int>(sizeof(packed)), &position,
                   comm) == MPI_SUCCESS &&
         position == static_cast<int>(sizeof(values)) &&
         std::memcmp(packed, values, sizeof(values)) == 0;
}

}  // namespace hierbar::mpi
