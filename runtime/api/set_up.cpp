// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The functions that make, describe and destroy barriers, and those that describe a status.

#include <sys/mman.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "api/design.hpp"
#include "api/handle.hpp"
#include "base/membarrier.hpp"
#include "hierbar/hierbar.h"
#include "plan/plan_text.hpp"

namespace hierbar {
namespace {

// Runs what may throw behind the C interface. Besides std::bad_alloc there are only exceptions that
// are caused by a lack of memory.
template <class Body>
hierbar_status guarded(Body&& body) noexcept {
  try {
    return body();
  } catch (const std::exception&) {
    return HIERBAR_ERR_NO_MEMORY;
  }
}

bool is_usable(const void* memory) {
  return memory != nullptr &&
         reinterpret_cast<std::uintptr_t>(memory) % HIERBAR_MEMORY_ALIGNMENT == 0;
}

// Zero pages of this process. They are unmapped unless release() is called.
class Pages {
 public:
  explicit Pages(std::size_t size)
      : size_(size),
        memory_(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  ~Pages() {
    if (ok()) munmap(memory_, size_);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  bool ok() const { return memory_ != MAP_FAILED; }
  void* get() const { return memory_; }
  void* release() { return std::exchange(memory_, MAP_FAILED); }

 private:
  std::size_t size_;
  void* memory_;
};

hierbar_status attach(void* memory, std::size_t size, const hierbar_waiting* waiting,
                      Fencing fencing, std::unique_ptr<hierbar_barrier>& barrier) {
  if (waiting != nullptr && !limits_problem(limits_of(*waiting)).empty())
    return HIERBAR_ERR_INVALID;
  BarrierDesign design;
  if (const hierbar_status status = BarrierSegment(memory).read(size, design); status != HIERBAR_OK)
    return status;
  barrier = std::make_unique<hierbar_barrier>(memory, std::move(design), waiting, fencing);
  return HIERBAR_OK;
}

// Threads that outnumber their cpus sleep often, and each fence of a sleeper interrupts all who
// run.
Fencing fencing_of_threads(const BarrierDesign& design) noexcept {
  const bool outnumbered = design.plan.view().num_participants > design.num_cpus;
  return !outnumbered && can_fence_threads() ? Fencing::kBySleepers : Fencing::kByWriters;
}

// A 32-bit machine has no addresses for the largest designs.
hierbar_status size_of(const BarrierDesign& design, std::size_t& size) {
  const std::uint64_t bytes = segment_layout(design, design.plan.view()).size_bytes;
  if (!std::in_range<std::size_t>(bytes)) return HIERBAR_ERR_NO_MEMORY;
  size = static_cast<std::size_t>(bytes);
  return HIERBAR_OK;
}

hierbar_status create(const hierbar_attributes* attributes,
                      std::unique_ptr<hierbar_barrier>& barrier) {
  BarrierDesign design;
  if (const hierbar_status status = design_barrier(attributes, design); status != HIERBAR_OK)
    return status;
  std::size_t size = 0;
  if (const hierbar_status status = size_of(design, size); status != HIERBAR_OK) return status;
  Pages pages(size);
  if (!pages.ok()) return HIERBAR_ERR_NO_MEMORY;
  if (const hierbar_status status = BarrierSegment(pages.get()).write(size, design);
      status != HIERBAR_OK)
    return status;
  const Fencing fencing = fencing_of_threads(design);
  if (const hierbar_status status =
          attach(pages.get(), size, &attributes->waiting, fencing, barrier);
      status != HIERBAR_OK)
    return status;
  barrier->private_memory = pages.release();
  return HIERBAR_OK;
}

}  // namespace
}  // namespace hierbar

void hierbar_attributes_init(hierbar_attributes* attributes, std::uint32_t num_participants) {
  if (attributes == nullptr) return;
  *attributes = hierbar_attributes{};
  attributes->struct_bytes = sizeof *attributes;
  attributes->num_participants = num_participants;
  attributes->waiting.spin_polls = HIERBAR_AUTO;
  attributes->waiting.yields = HIERBAR_AUTO;
  attributes->waiting.sleep_limit_ns = HIERBAR_AUTO;
}

hierbar_status hierbar_barrier_create(const hierbar_attributes* attributes,
                                      hierbar_barrier** barrier) {
  if (barrier == nullptr) return HIERBAR_ERR_INVALID;
  *barrier = nullptr;
  return hierbar::guarded([&] {
    std::unique_ptr<hierbar_barrier> made;
    const hierbar_status status = hierbar::create(attributes, made);
    *barrier = made.release();
    return status;
  });
}

hierbar_status hierbar_barrier_size(const hierbar_attributes* attributes, size_t* size) {
  if (size == nullptr) return HIERBAR_ERR_INVALID;
  return hierbar::guarded([&] {
    hierbar::BarrierDesign design;
    const hierbar_status status = hierbar::design_barrier(attributes, design);
    return status == HIERBAR_OK ? hierbar::size_of(design, *size) : status;
  });
}

hierbar_status hierbar_barrier_populate(void* memory, size_t size) {
  if (!hierbar::is_usable(memory)) return HIERBAR_ERR_INVALID;
  return hierbar::populate(memory, size) ? HIERBAR_OK : HIERBAR_ERR_NO_MEMORY;
}

hierbar_status hierbar_barrier_init_shared(void* memory, size_t size,
                                           const hierbar_attributes* attributes) {
  if (!hierbar::is_usable(memory)) return HIERBAR_ERR_INVALID;
  return hierbar::guarded([&] {
    hierbar::BarrierDesign design;
    const hierbar_status status = hierbar::design_barrier(attributes, design);
    return status == HIERBAR_OK ? hierbar::BarrierSegment(memory).write(size, design) : status;
  });
}

hierbar_status hierbar_barrier_attach(void* memory, size_t size, const hierbar_waiting* waiting,
                                      hierbar_barrier** barrier) {
  if (barrier == nullptr) return HIERBAR_ERR_INVALID;
  *barrier = nullptr;
  if (!hierbar::is_usable(memory)) return HIERBAR_ERR_INVALID;
  return hierbar::guarded([&] {
    std::unique_ptr<hierbar_barrier> made;
    const hierbar_status status =
        hierbar::attach(memory, size, waiting, hierbar::Fencing::kByWriters, made);
    *barrier = made.release();
    return status;
  });
}

void hierbar_barrier_destroy(hierbar_barrier* barrier) {
  if (barrier == nullptr) return;
  if (barrier->private_memory != nullptr)
    munmap(barrier->private_memory, static_cast<std::size_t>(barrier->layout.size_bytes));
  delete barrier;
}

namespace {

// Whether the algorithm follows the plan. The others take from it only where the lines are.
bool has_plan(hierbar::Algorithm algorithm) {
  return algorithm == hierbar::Algorithm::kHier || algorithm == hierbar::Algorithm::kTopo;
}

std::string waiting_text(const hierbar_barrier& barrier) {
  const hierbar::WaitPolicy& policy = barrier.policy;
  std::string text = "waiting: ";
  if (policy.spin_polls > 0) {
    text += std::to_string(policy.spin_polls) + " polls";
  } else {
    text += "no spinning";
    if (barrier.plan.num_participants > barrier.design.num_cpus)
      text += ", more participants than cpus";
  }
  if (!policy.sleeps || policy.longest_sleep_ns == 0) {
    text += "; yields until the end";
  } else {
    text += "; " + std::to_string(policy.yields) + " yields; sleeps of at most " +
            std::to_string(policy.longest_sleep_ns / 1000) + " us";
  }
  return policy.progress == nullptr ? text : text + "; makes progress meanwhile";
}

}  // namespace

const char* hierbar_status_text(hierbar_status status) {
  switch (status) {
    case HIERBAR_OK:
      return "success";
    case HIERBAR_ABORTED:
      return "the barrier was aborted";
    case HIERBAR_ERR_INVALID:
      return "an argument is NULL, out of range, misaligned, or contradicts another";
    case HIERBAR_ERR_NO_MEMORY:
      return "out of memory";
    case HIERBAR_ERR_TOO_SMALL:
      return "the memory ends before the barrier does, or cannot be written";
    case HIERBAR_ERR_IN_USE:
      return "the memory is not zero where a barrier is to be made";
    case HIERBAR_ERR_NOT_READY:
      return "nobody has finished making a barrier in the memory";
    case HIERBAR_ERR_FOREIGN:
      return "the memory holds something else than a barrier";
    case HIERBAR_ERR_VERSION:
      return "made by an incompatible version of hierbar";
    case HIERBAR_ERR_CORRUPT:
      return "the memory holds a barrier that contradicts itself";
    case HIERBAR_ERR_UNSUPPORTED:
      return "the barrier's algorithm cannot do this, or it was made without collectives";
    case HIERBAR_ERR_TOO_LARGE:
      return "more bytes than a collective takes";
  }
  return "unknown status";
}

std::uint32_t hierbar_barrier_num_participants(const hierbar_barrier* barrier) {
  return barrier == nullptr ? 0 : barrier->plan.num_participants;
}

hierbar_status hierbar_barrier_describe(const hierbar_barrier* barrier, hierbar_line_fn print,
                                        void* context) try {
  if (barrier == nullptr || print == nullptr) return HIERBAR_ERR_INVALID;
  const std::string memory = barrier->private_memory == nullptr ? "shared" : "private";
  const std::string what = "participants: " + std::to_string(barrier->plan.num_participants) +
                           "; cpus: " + std::to_string(barrier->design.num_cpus) + "; " + memory +
                           " memory: " + std::to_string(barrier->layout.size_bytes) + " bytes";
  print(context, what.c_str());
  print(context, waiting_text(*barrier).c_str());
  print(context, std::string("algorithm: ")
                     .append(hierbar::algorithm_name(barrier->design.algorithm))
                     .c_str());
  if (barrier->design.has_collectives) {
    const std::string most =
        "collectives: of at most " + std::to_string(HIERBAR_MAX_COLLECTIVE_BYTES) + " bytes";
    print(context, most.c_str());
  }
  if (!has_plan(barrier->design.algorithm)) return HIERBAR_OK;
  for (const std::string& line : hierbar::describe_engine_plan(barrier->plan))
    print(context, line.c_str());
  return HIERBAR_OK;
} catch (const std::exception&) {
  return HIERBAR_ERR_NO_MEMORY;
}

const char* hierbar_version(void) { return HIERBAR_VERSION_STRING; }
