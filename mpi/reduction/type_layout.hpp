// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <cstddef>

namespace hierbar::mpi {

struct Pmpi;

// What a collective that only moves data needs to know of a datatype.
//
// Ranks may describe one type signature by different counts and datatypes: four MPI_INT in one of
// them, a vector of four in another. So a verdict may use neither of the two, but the bytes of the
// signature, count * element_bytes: all ranks have the same product.
struct TypeLayout {
  // The values of one element, without gaps. 0: the library serves the call, because the type has
  // no values, or more than fit into an int, or is no datatype.
  std::size_t element_bytes = 0;
  // The values lie in memory as they travel: one behind the other, in the order of the signature.
  // It is this rank's own matter. A type of the program's is never taken for dense: where it has no
  // gap, its values may be in another order.
  bool is_dense = false;
};

// The look-up in the table of predefined types, and then in the library. Local.
TypeLayout look_up_layout(const Pmpi& pmpi, MPI_Datatype type);

// Thread-safe. A thread that asks for the dense type that it asked for last gets the answer by one
// compare. Others are asked for each time: the program may free one, and its handle may come back
// as another type's.
inline TypeLayout find_layout(const Pmpi& pmpi, MPI_Datatype type) {
  struct LastAnswer {
    MPI_Datatype type;
    TypeLayout layout;
  };
  // No handle is 0 in any family, so at first this is the answer for what is no handle.
  static constinit thread_local LastAnswer last{};
  // Read once: each access to a thread_local may be a function call.
  LastAnswer& answer = last;
  if (answer.type == type) [[likely]]
    return answer.layout;
  const TypeLayout layout = look_up_layout(pmpi, type);
  if (layout.is_dense) answer = {type, layout};
  return layout;
}

}  // namespace hierbar::mpi
