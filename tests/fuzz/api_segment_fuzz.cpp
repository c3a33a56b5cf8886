// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The memory of a barrier of the C API, to which processes attach.

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "fuzz_target.hpp"
#include "hierbar/hierbar.h"

namespace {

constexpr std::size_t kMostBytes = 1U << 20;

void append(void* text, const char* line) { static_cast<std::string*>(text)->append(line); }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using hierbar::test::require;
  if (size == 0 || size > kMostBytes) return 0;
  const std::size_t rounded =
      (size + HIERBAR_MEMORY_ALIGNMENT - 1) / HIERBAR_MEMORY_ALIGNMENT * HIERBAR_MEMORY_ALIGNMENT;
  const std::unique_ptr<void, decltype(&std::free)> memory(
      std::aligned_alloc(HIERBAR_MEMORY_ALIGNMENT, rounded), &std::free);
  std::memcpy(memory.get(), data, size);

  hierbar_barrier* barrier = nullptr;
  const hierbar_status status = hierbar_barrier_attach(memory.get(), size, nullptr, &barrier);
  require((status == HIERBAR_OK) == (barrier != nullptr),
          "there is a barrier exactly when there is no error");
  require(*hierbar_status_text(status) != '\0', "a status has a text");
  if (barrier == nullptr) return 0;
  const std::uint32_t num_participants = hierbar_barrier_num_participants(barrier);
  require(num_participants >= 1 && num_participants <= size, "everybody has a place in the memory");
  std::string text;
  require(hierbar_barrier_describe(barrier, append, &text) == HIERBAR_OK && !text.empty(),
          "a barrier can be described");
  // Others never come, and the memory says of the episode whatever it likes; but nobody waits in a
  // barrier that has ended.
  require(hierbar_barrier_abort(barrier) == HIERBAR_OK, "a barrier can be aborted");
  for (std::uint32_t i = 0; i < std::min(num_participants, 8U); ++i) {
    const hierbar_status crossed = hierbar_barrier_wait(barrier, i);
    require(crossed == HIERBAR_OK || crossed == HIERBAR_ABORTED, "an aborted barrier lets go");
  }
  hierbar_barrier_destroy(barrier);
  return 0;
}
