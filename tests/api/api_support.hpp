// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <hierbar/hierbar.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/segment.hpp"

namespace hierbar::test {

struct Destroy {
  void operator()(hierbar_barrier* barrier) const { hierbar_barrier_destroy(barrier); }
};
using BarrierHandle = std::unique_ptr<hierbar_barrier, Destroy>;

struct Waiting {
  const char* name;
  hierbar_waiting waiting;
};

// With the longest sleeps that there are: a few lost wake-ups in many episodes are a ctest timeout.
inline constexpr hierbar_waiting kSleeping = {0, 0, HIERBAR_MAX_SLEEP_NS, nullptr, nullptr};
inline constexpr Waiting kWaitings[] = {
    {"automatic", {HIERBAR_AUTO, HIERBAR_AUTO, HIERBAR_AUTO, nullptr, nullptr}},
    {"yielding", {0, 0, 0, nullptr, nullptr}},
    {"sleeping", kSleeping},
    {"mixed", {20, 2, HIERBAR_MAX_SLEEP_NS, nullptr, nullptr}},
};

inline void append_line(void* lines, const char* line) {
  static_cast<std::vector<std::string>*>(lines)->push_back(line);
}

inline hierbar_attributes attributes_of(std::uint32_t num_participants,
                                        const hierbar_waiting& waiting = kWaitings[0].waiting) {
  hierbar_attributes attributes;
  hierbar_attributes_init(&attributes, num_participants);
  attributes.waiting = waiting;
  return attributes;
}

inline hierbar_attributes with_collectives(std::uint32_t num_participants,
                                           const hierbar_waiting& waiting = kWaitings[0].waiting) {
  hierbar_attributes attributes = attributes_of(num_participants, waiting);
  attributes.collectives = 1;
  return attributes;
}

// Participant p on cpu p modulo 8; where HIERBAR_TOPOLOGY has so many cpus, plans are trees.
class Cpusets {
 public:
  explicit Cpusets(std::uint32_t num_participants)
      : cpus_(num_participants), sets_(num_participants) {
    for (std::uint32_t p = 0; p < num_participants; ++p) {
      cpus_[p] = p % 8;
      sets_[p] = hierbar_cpuset{&cpus_[p], nullptr, 1, 0};
    }
  }
  const hierbar_cpuset* data() const { return sets_.data(); }

 private:
  std::vector<std::uint32_t> cpus_;
  std::vector<hierbar_cpuset> sets_;
};

template <class Body>
void run_threads(std::uint32_t count, const Body& body) {
  std::vector<std::thread> threads;
  for (std::uint32_t me = 0; me < count; ++me) threads.emplace_back([&body, me] { body(me); });
  for (std::thread& thread : threads) thread.join();
}

inline BarrierHandle create(const hierbar_attributes& attributes) {
  hierbar_barrier* barrier = nullptr;
  hierbar_barrier_create(&attributes, &barrier);
  return BarrierHandle(barrier);
}

// A mapping of a file that has no name, which any process that inherits the object can map again.
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t size)
      : size_(size), file_(memfd_create("hierbar test", MFD_CLOEXEC)) {
    if (file_ < 0 || ftruncate(file_, static_cast<off_t>(size)) != 0) std::abort();
    memory_ = map();
  }
  ~SharedMemory() {
    munmap(memory_, size_);
    close(file_);
  }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  // One more mapping, at another address than all that are there.
  void* map() const {
    void* memory = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (memory == MAP_FAILED) std::abort();
    return memory;
  }
  void truncate(std::size_t size) const {
    if (ftruncate(file_, static_cast<off_t>(size)) != 0) std::abort();
  }
  void* get() const { return memory_; }
  std::byte* bytes() const { return static_cast<std::byte*>(memory_); }
  std::size_t size() const { return size_; }

 private:
  const std::size_t size_;
  const int file_;
  void* memory_;
};

// A barrier in shared memory, not attached to.
class SharedBarrier {
 public:
  explicit SharedBarrier(const hierbar_attributes& attributes) : memory_(size_for(attributes)) {
    status_ = hierbar_barrier_init_shared(memory_.get(), memory_.size(), &attributes);
  }

  hierbar_status status() const { return status_; }
  const SharedMemory& memory() const { return memory_; }
  SegmentHeader& header() const { return *static_cast<SegmentHeader*>(memory_.get()); }

  // The plan as it stands in the segment.
  hierbar_plan plan() const {
    const SegmentHeader& head = header();
    return hierbar_plan{
        HIERBAR_PLAN_ABI_VERSION,
        head.num_participants,
        head.num_leaders,
        head.num_slots,
        head.release,
        head.line_bytes,
        head.depth,
        0,
        head.num_crews,
        reinterpret_cast<const hierbar_plan_node*>(memory_.bytes() + head.nodes_offset),
        reinterpret_cast<const std::uint32_t*>(memory_.bytes() + head.children_offset),
        reinterpret_cast<const std::uint32_t*>(memory_.bytes() + head.leaders_offset)};
  }

  BarrierHandle attach_at(void* memory, const hierbar_waiting* waiting = nullptr) const {
    hierbar_barrier* barrier = nullptr;
    hierbar_barrier_attach(memory, memory_.size(), waiting, &barrier);
    return BarrierHandle(barrier);
  }
  BarrierHandle attach() const { return attach_at(memory_.get()); }

  // Whether the participant sleeps or is about to.
  bool is_parked(std::uint32_t participant) const {
    return reinterpret_cast<const ParkingSpot*>(memory_.bytes() +
                                                header().spots_offset)[participant]
               .parked.load() != 0;
  }
  void await_parked(std::uint32_t participant) const {
    while (!is_parked(participant)) sched_yield();
  }

 private:
  static std::size_t size_for(const hierbar_attributes& attributes) {
    std::size_t size = 0;
    if (hierbar_barrier_size(&attributes, &size) != HIERBAR_OK) std::abort();
    return size;
  }

  const SharedMemory memory_;
  hierbar_status status_;
};

// A process of the test, which ends with body()'s result, or by a signal when it hangs.
class Child {
 public:
  template <class Body>
  explicit Child(const Body& body) : pid_(fork()) {
    if (pid_ != 0) return;
    alarm(100);
    std::_Exit(body() ? 0 : 1);  // not _exit(): ThreadSanitizer looks there for threads, and fork()
                                 // does not bring the parent's
  }
  pid_t pid() const { return pid_; }

  // Waits for its end. True: body() returned true.
  bool join() const {
    int status = 0;
    return waitpid(pid_, &status, 0) == pid_ && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  void kill_and_join() const {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

 private:
  const pid_t pid_;
};

}  // namespace hierbar::test
