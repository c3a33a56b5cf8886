// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The PMPI functions of attributes, on the stub.
#include <map>
#include <mutex>

#include "stub_handles.hpp"
#include "stub_mpi.hpp"

using namespace hierbar::test;

extern "C" {

int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function*, MPI_Comm_delete_attr_function* forget, int* keyval, void* extra) {
  return here().call("Comm_create_keyval", [&] {
    const std::lock_guard lock(here().mutex);
    *keyval = static_cast<int>(here().keyvals.size()) + 1;
    here().keyvals[*keyval] = {forget, nullptr, extra};
    return MPI_SUCCESS;
  });
}

int PMPI_Comm_free_keyval(int* keyval) {
  return here().call("Comm_free_keyval", [&] {
    const std::lock_guard lock(here().mutex);
    here().keyvals.erase(*keyval);
    *keyval = MPI_KEYVAL_INVALID;
    return MPI_SUCCESS;
  });
}

int PMPI_Comm_set_attr(MPI_Comm comm, int keyval, void* value) {
  return here().call("Comm_set_attr", [&] {
    const std::lock_guard lock(here().mutex);
    StubProcess::Attribute attribute = here().keyvals.at(keyval);
    attribute.value = value;
    here().attributes_of(comm)[keyval] = attribute;
    return MPI_SUCCESS;
  });
}

int PMPI_Comm_delete_attr(MPI_Comm comm, int keyval) {
  return here().call("Comm_delete_attr", [&] {
    StubProcess::Attribute attribute;
    {
      const std::lock_guard lock(here().mutex);
      std::map<int, StubProcess::Attribute>& attributes = here().attributes_of(comm);
      const auto found = attributes.find(keyval);
      if (found == attributes.end()) return MPI_ERR_KEYVAL;
      attribute = found->second;
      attributes.erase(found);
    }
    return attribute.forget(comm, keyval, attribute.value, attribute.extra);
  });
}

int PMPI_Comm_get_attr(MPI_Comm comm, int keyval, void* value, int* flag) {
  return here().call("Comm_get_attr", [&] {
    StubProcess::Seat* seat = here().find(comm);
    if (seat == nullptr) return MPI_ERR_COMM;
    const std::lock_guard lock(here().mutex);
    const auto found = seat->attributes.find(keyval);
    *flag = found != seat->attributes.end() ? 1 : 0;
    if (*flag != 0) *static_cast<void**>(value) = found->second.value;
    return MPI_SUCCESS;
  });
}

}  // extern "C"
