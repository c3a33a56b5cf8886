// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/reduction/type_layout.hpp"

#include <cstring>

#include "mpi/library/pmpi.hpp"

namespace hierbar::mpi {

TypeLayout look_up_layout(const Pmpi& pmpi, MPI_Datatype type, bool& is_predefined) {
  is_predefined = false;
  if (type == pmpi.datatype_null) return {};
  // Not by ask(): where it is no datatype, an error is raised here and once more by the library.
  int bytes = 0;
  if (pmpi.Type_size(type, &bytes) != MPI_SUCCESS || bytes <= 0) return {};
  TypeLayout layout{static_cast<std::size_t>(bytes), false};
  int num_integers, num_addresses, num_types, combiner = MPI_COMBINER_NAMED + 1;
  ask([&] {
    return pmpi.Type_get_envelope(type, &num_integers, &num_addresses, &num_types, &combiner);
  });
  // A type of the program's may have its values in another order, even where it has no gap.
  if (combiner != MPI_COMBINER_NAMED) return layout;
  // A pair of two C types may have one.
  MPI_Aint lower_bound = 0, extent = 0;
  is_predefined = ask([&] { return pmpi.Type_get_extent(type, &lower_bound, &extent); });
  layout.is_dense = is_predefined && extent == static_cast<MPI_Aint>(bytes);
  return layout;
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
