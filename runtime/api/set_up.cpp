// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The functions that make and destroy barriers.

#include <sys/mman.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <utility>

#include "api/design.hpp"
#include "api/handle.hpp"
#include "base/process/membarrier.hpp"
#include "hierbar/hierbar.h"

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
  return memory != nullptr && reinterpret_cast<std::uintptr_t>(memory) % HIERBAR_MEMORY_ALIGNMENT == 0;
}

// Zero pages of this process. They are unmapped unless release() is called.
class Pages {
 public:
  explicit Pages(std::size_t size)
      : size_(size), memory_(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
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

hierbar_status attach(void* memory, std::size_t size, const hierbar_waiting* waiting, Fencing fencing,
                      std::unique_ptr<hierbar_barrier>& barrier) {
  if (waiting != nullptr && !limits_problem(limits_of(*waiting)).empty()) return HIERBAR_ERR_INVALID;
  BarrierDesign design;
  if (const hierbar_status status = BarrierSegment(memory).read(size, design); status != HIERBAR_OK) return status;
  barrier = std::make_unique<hierbar_barrier>(memory, std::move(design), waiting, fencing);
  return HIERBAR_OK;
}

// Threads that outnumber their cpus sleep often, and each fence of a sleeper interrupts all who run.
Fencing fencing_of_threads(const BarrierDesign& design) noexcept {
  const bool outnumbered = design.plan.view().num_participants > design.num_cpus;
  return !outnumbered && can_fence_threads() ? Fencing::kBySleepers : Fencing::kByWriters;
}

hierbar_status create(const hierbar_attributes* attributes, std::unique_ptr<hierbar_barrier>& barrier) {
  BarrierDesign design;
  if (const hierbar_status status = design_barrier(attributes, design); status != HIERBAR_OK) return status;
  const std::size_t size = segment_layout(design.algorithm, design.plan.view()).size_bytes;
  Pages pages(size);
  if (!pages.ok()) return HIERBAR_ERR_NO_MEMORY;
  if (const hierbar_status status = BarrierSegment(pages.get()).write(size, design); status != HIERBAR_OK) return status;
  const Fencing fencing = fencing_of_threads(design);
  if (const hierbar_status status = attach(pages.get(), size, &attributes->waiting, fencing, barrier); status != HIERBAR_OK)
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
  attributes->waiting.spin_looks = HIERBAR_AUTO;
  attributes->waiting.yields = HIERBAR_AUTO;
  attributes->waiting.sleep_limit_ns = HIERBAR_AUTO;
}

hierbar_status hierbar_barrier_create(const hierbar_attributes* attributes, hierbar_barrier** barrier) {
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
    if (status == HIERBAR_OK) *size = hierbar::segment_layout(design.algorithm, design.plan.view()).size_bytes;
    return status;
  });
}

hierbar_status hierbar_barrier_populate(void* memory, size_t size) {
  if (!hierbar::is_usable(memory)) return HIERBAR_ERR_INVALID;
  return hierbar::populate(memory, size) ? HIERBAR_OK : HIERBAR_ERR_NO_MEMORY;
}

hierbar_status hierbar_barrier_init_shared(void* memory, size_t size, const hierbar_attributes* attributes) {
  if (!hierbar::is_usable(memory)) return HIERBAR_ERR_INVALID;
  return hierbar::guarded([&] {
    hierbar::BarrierDesign design;
    const hierbar_status status = hierbar::design_barrier(attributes, design);
    return status == HIERBAR_OK ? hierbar::BarrierSegment(memory).write(size, design) : status;
  });
}

hierbar_status hierbar_barrier_attach(void* memory, size_t size, const hierbar_waiting* waiting, hierbar_barrier** barrier) {
  if (barrier == nullptr) return HIERBAR_ERR_INVALID;
  *barrier = nullptr;
  if (!hierbar::is_usable(memory)) return HIERBAR_ERR_INVALID;
  return hierbar::guarded([&] {
    std::unique_ptr<hierbar_barrier> made;
    const hierbar_status status = hierbar::attach(memory, size, waiting, hierbar::Fencing::kByWriters, made);
    *barrier = made.release();
    return status;
  });
}

void hierbar_barrier_destroy(hierbar_barrier* barrier) {
  if (barrier == nullptr) return;
  if (barrier->private_memory != nullptr) munmap(barrier->private_memory, barrier->layout.size_bytes);
  delete barrier;
}
