// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "stub_mpi.hpp"

namespace hierbar::test {
namespace {

thread_local StubProcess* process_of_thread = nullptr;
thread_local std::map<MPI_Comm, StubProcess::Seat> seats_of_thread;

}  // namespace

std::shared_ptr<StubComm::Round> StubComm::arrive(int rank, Part own) {
  const std::lock_guard lock(mutex_);
  const int number = rounds_of_[static_cast<std::size_t>(rank)]++;
  std::shared_ptr<Round>& entry = rounds_[number];
  if (entry == nullptr)
    entry = std::make_shared<Round>(Round{Parts(static_cast<std::size_t>(size)), 0});
  const std::shared_ptr<Round> round = entry;
  round->parts[static_cast<std::size_t>(rank)] = std::move(own);
  if (++round->num_arrived == size) {
    rounds_.erase(number);
    complete_.notify_all();
  }
  return round;
}

std::shared_ptr<const StubComm::Parts> StubComm::await(const std::shared_ptr<Round>& round) {
  std::unique_lock lock(mutex_);
  complete_.wait(lock, [&] { return round->num_arrived == size; });
  return {round, &round->parts};
}

std::shared_ptr<const StubComm::Parts> StubComm::exchange(int rank, Part own) {
  return await(arrive(rank, std::move(own)));
}

std::shared_ptr<const StubComm::Parts> StubComm::collect(int rank, int root, Part own) {
  const std::shared_ptr<Round> round = arrive(rank, std::move(own));
  return rank == root ? await(round) : nullptr;
}

void StubComm::send(const Path& path, Message message) {
  const std::lock_guard lock(mutex_);
  in_flight_[path].push_back(std::move(message));
}

std::optional<StubComm::Message> StubComm::receive(const Path& path) {
  const std::lock_guard lock(mutex_);
  std::deque<Message>& messages = in_flight_[path];
  if (messages.empty()) return std::nullopt;
  Message first = std::move(messages.front());
  messages.pop_front();
  return first;
}

std::size_t StubComm::num_left_over() {
  const std::lock_guard lock(mutex_);
  std::size_t sum = 0;
  for (const auto& [path, messages] : in_flight_) sum += messages.size();
  return sum;
}

StubProcess::StubProcess(std::shared_ptr<StubComm> world, int rank, int level)
    : thread_level(level) {
  seats[MPI_COMM_WORLD] = {std::move(world), rank, {}};
  seats[MPI_COMM_SELF] = {std::make_shared<StubComm>(1), 0, {}};
}

StubProcess& StubProcess::current() { return *process_of_thread; }
void StubProcess::make_current() {
  std::call_once(has_main_thread_, [this] { main_thread_ = std::this_thread::get_id(); });
  process_of_thread = this;
}

MPI_Request StubProcess::expect(std::shared_ptr<StubComm> comm, const StubComm::Path& path,
                                void* buffer) {
  const std::lock_guard lock(mutex);
  const auto request = handle_in<MPI_Request>(next_request_++);
  receives_[request] = {std::move(comm), path, buffer};
  return request;
}

bool StubProcess::complete(MPI_Request request) {
  const std::lock_guard lock(mutex);
  const auto found = receives_.find(request);
  if (found == receives_.end()) return true;
  const Receive& receive = found->second;
  const std::optional<StubComm::Message> message = receive.comm->receive(receive.path);
  if (!message) return false;
  std::copy(message->begin(), message->end(), static_cast<unsigned char*>(receive.buffer));
  receives_.erase(found);
  return true;
}

void StubProcess::forget(MPI_Request request) {
  const std::lock_guard lock(mutex);
  receives_.erase(request);
}

void StubProcess::obey(const StubScript& script) {
  const std::lock_guard lock(script_mutex_);
  script_ = script;
  num_calls_.clear();
}

std::map<std::string, int> StubProcess::num_calls() {
  const std::lock_guard lock(script_mutex_);
  return num_calls_;
}

std::size_t StubProcess::num_left_over() {
  const std::lock_guard lock(mutex);
  std::size_t sum = 0;
  for (const auto& comm : freed_) sum += comm->num_left_over();
  return sum;
}

bool StubProcess::count_call(const char* function) {
  const std::lock_guard lock(script_mutex_);
  const int number = ++num_calls_[function];
  return script_.function == function &&
         (number == script_.first_call || (script_.lasts && number > script_.first_call));
}

MPI_Comm StubProcess::add(std::shared_ptr<StubComm> comm, int rank) {
  const std::lock_guard lock(mutex);
  const auto handle = handle_in<MPI_Comm>(next_handle_++);
  seats[handle] = {std::move(comm), rank, {}};
  return handle;
}

StubProcess::Seat* StubProcess::find(MPI_Comm comm) {
  if (is_thread_seated(comm)) return &seats_of_thread.at(comm);
  const std::lock_guard lock(mutex);
  const auto found = seats.find(comm);
  return found == seats.end() || finalized ? nullptr : &found->second;
}

void StubProcess::drop(MPI_Comm comm) {
  std::map<int, Attribute> attributes;
  {
    const std::lock_guard lock(mutex);
    attributes.swap(seats.at(comm).attributes);
  }
  forget_all(comm, attributes);
  const std::lock_guard lock(mutex);
  freed_.push_back(std::move(seats.at(comm).comm));
  seats.erase(comm);
}

void StubProcess::forget_all(MPI_Comm comm, const std::map<int, Attribute>& attributes) {
  for (const auto& [keyval, attribute] : attributes) {
    if (attribute.forget != nullptr)
      attribute.forget(comm, keyval, attribute.value, attribute.extra);
  }
}

bool StubProcess::is_thread_seated(MPI_Comm comm) { return seats_of_thread.count(comm) != 0; }

void StubProcess::seat_thread(MPI_Comm comm, std::shared_ptr<StubComm> all, int rank) {
  seats_of_thread[comm] = {std::move(all), rank, {}};
}

void StubProcess::unseat_thread(MPI_Comm comm) {
  forget_all(comm, std::map<int, Attribute>(seats_of_thread.at(comm).attributes));
  seats_of_thread.erase(comm);
}

std::map<int, StubProcess::Attribute>& StubProcess::attributes_of(MPI_Comm comm) {
  return is_thread_seated(comm) ? seats_of_thread.at(comm).attributes : seats.at(comm).attributes;
}

}  // namespace hierbar::test

using namespace hierbar::test;

extern "C" {

// ---- the PMPI functions of attributes ----

int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function*, MPI_Comm_delete_attr_function* forget,
                            int* keyval, void* extra) {
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

// ---- messages from one rank to another, and what makes progress ----

// A receive on a communicator of this process alone is the shim's for progress: nothing is sent
// there.
int PMPI_Irecv(void* buffer, int, MPI_Datatype, int from, int tag, MPI_Comm comm,
               MPI_Request* request) {
  return here().call("Irecv", [&] {
    const StubProcess::Seat* seat = here().find(comm);
    if (seat == nullptr || from < 0 || from >= seat->comm->size) return MPI_ERR_RANK;
    if (seat->comm->size == 1) return open(kRequest, request);
    ++here().num_open;
    *request = here().expect(seat->comm, {from, seat->rank, tag}, buffer);
    return MPI_SUCCESS;
  });
}

// The message is there at once, but the request must still be completed.
int PMPI_Isend(const void* data, int count, MPI_Datatype, int to, int tag, MPI_Comm comm,
               MPI_Request* request) {
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
