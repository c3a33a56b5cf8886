// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/reduction/packing.hpp"

#include "mpi/library/pmpi.hpp"

namespace hierbar::mpi {
namespace {

// MPICH's MPI_Pack and MPI_Unpack take MPI_BOTTOM for an error. So the values are described by
// their distances from `other`, which is any address but null.
template <class Use>
int use_from(const Pmpi& pmpi, std::byte* other, const TypedData& data, const Use& use) {
  const auto count = static_cast<int>(data.count);
  const MPI_Aint distance = -reinterpret_cast<MPI_Aint>(other);
  MPI_Datatype type = data.type;
  int status = pmpi.Type_create_hindexed(1, &count, &distance, data.type, &type);
  if (status != MPI_SUCCESS) return status;
  status = pmpi.Type_commit(&type);
  if (status == MPI_SUCCESS) status = use(TypedData{other, 1, type});
  pmpi.Type_free(&type);
  return status;
}

template <class Use>
int use_address(const Pmpi& pmpi, std::byte* other, const TypedData& data, const Use& use) {
  return data.address == nullptr ? use_from(pmpi, other, data, use) : use(data);
}

}  // namespace

int pack(const Pmpi& pmpi, MPI_Comm comm, const TypedData& from, std::byte* packed,
         std::size_t bytes) {
  return use_address(pmpi, packed, from, [&](const TypedData& data) {
    int position = 0;
    return pmpi.Pack(data.address, static_cast<int>(data.count), data.type, packed,
                     static_cast<int>(bytes), &position, comm);
  });
}

int unpack(const Pmpi& pmpi, MPI_Comm comm, const std::byte* packed, std::size_t bytes,
           const TypedData& to) {
  return use_address(pmpi, const_cast<std::byte*>(packed), to, [&](const TypedData& data) {
    int position = 0;
    return pmpi.Unpack(packed, static_cast<int>(bytes), &position, data.address,
                       static_cast<int>(data.count), data.type, comm);
  });
}

}  // namespace hierbar::mpi
