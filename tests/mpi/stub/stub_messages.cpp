// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Messages from one rank to another, and what makes progress, on the stub.
#include "stub_handles.hpp"

using namespace hierbar::test;

extern "C" {

// A receive on a communicator of this process alone is the shim's for progress: nothing is sent
// there.
int PMPI_Irecv(void* buffer, int, MPI_Datatype, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  return here().call("Irecv", [&] {
    const StubProcess::Seat* seat = here().find(comm);
    if (seat == nullptr || from < 0 || from >= seat->comm->size) return MPI_ERR_RANK;
    return open(seat->comm->size == 1 ? kRequest : here().expect(seat->comm, {from, seat->rank, tag}, buffer), request);
  });
}

// The message is there at once, but the request must still be completed.
int PMPI_Isend(const void* data, int count, MPI_Datatype, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  return here().call("Isend", [&] {
    const StubProcess::Seat* seat = here().find(comm);
    if (seat == nullptr || to < 0 || to >= seat->comm->size) return MPI_ERR_RANK;
    const auto* bytes = static_cast<const unsigned char*>(data);
    seat->comm->send({seat->rank, to, tag}, {bytes, bytes + count});
    return open(kRequest, request);
  });
}

int PMPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status*) {
  return here().call("Testall", [&] {
    *flag = 1;
    for (int i = 0; i < count; ++i) {
      if (requests[i] == MPI_REQUEST_NULL) continue;
      if (here().complete(requests[i])) {
        close(MPI_REQUEST_NULL, &requests[i]);
      } else {
        *flag = 0;
      }
    }
    return MPI_SUCCESS;
  });
}
int PMPI_Request_free(MPI_Request* request) {
  return here().call("Request_free", [&] {
    here().forget(*request);
    return close(MPI_REQUEST_NULL, request);
  });
}
int PMPI_Cancel(MPI_Request*) {
  return here().call("Cancel", [&] { return MPI_SUCCESS; });
}
int PMPI_Wait(MPI_Request* request, MPI_Status*) {
  return here().call("Wait", [&] { return close(MPI_REQUEST_NULL, request); });
}

int PMPI_Request_get_status(MPI_Request, int* flag, MPI_Status*) {
  return here().call("Request_get_status", [&] {
    *flag = 0;
    return MPI_SUCCESS;
  });
}

}  // extern "C"
