// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "service/place_service.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <optional>
#include <utility>

#include "placement/decision/own_share.hpp"
#include "placement/evidence/kernel_cpus.hpp"
#include "service/process_plans.hpp"

#define HIERBAR_EXPORT extern "C" __attribute__((visibility("default")))

namespace hierbar {
namespace {

// The process that loaded this library. A forked child of it has another number.
const pid_t loaded_into = getpid();

// The quota is read once in a process, since that opens a dozen files. A forked child reads it
// again: it may be in another control group. Relaxed: the number of the process and its quota are
// one word, and nothing else belongs to them.
std::optional<std::uint32_t> cpu_quota() {
  static std::atomic<std::uint64_t> known{0};  // process << 32 | quota, 0: none is known
  const auto process = static_cast<std::uint64_t>(getpid());
  std::uint64_t found = known.load(std::memory_order_relaxed);
  if (found >> 32 != process) {
    found = process << 32 | read_cpu_quota().value_or(0);
    known.store(found, std::memory_order_relaxed);
  }
  const auto quota = static_cast<std::uint32_t>(found);
  return quota == 0 ? std::nullopt : std::optional(quota);
}

CpuSet to_set(const hierbar_cpus& cpus) { return {cpus.bits, cpus.num_words}; }

ShareAnswer find_share(const hierbar_place_request& request) {
  const Surroundings around{
      .environment = own_environment(),
      .process_facts = own_process_facts,
      .pool_evidence =
          [](const std::vector<Process>& ancestors) {
            return read_pool_evidence(own_environment(), ancestors);
          },
      .load_machine = [] { return &known_machine({}); },
      .adopt_machine = [](Machine machine) { return &adopt_machine(std::move(machine)); },
      .cpu_quota = cpu_quota,
      .is_forked_child = getpid() != loaded_into};
  ShareRequest own{.mask = to_set(request.mask), .num_threads = request.num_threads};
  if (request.first_mask.num_words != 0) own.first_mask = to_set(request.first_mask);
  if (request.objection != nullptr) own.objection = request.objection;
  return find_own_share(own, around);
}

}  // namespace
}  // namespace hierbar

HIERBAR_EXPORT int hierbar_place(const hierbar_place_request* request, hierbar_line_fn note,
                                 hierbar_line_fn warn, void* context, uint64_t* share,
                                 uint32_t num_words, uint32_t* team_size) try {
  const hierbar::ShareAnswer answer = hierbar::find_share(*request);
  for (const std::string& warning : answer.warnings) {
    if (warn != nullptr) warn(context, warning.c_str());
  }
  if (note != nullptr) note(context, ("place: " + answer.verdict).c_str());
  *team_size = answer.team_size;
  if (!answer.share || answer.share->words().size() > num_words) {
    return answer.has_own_cpus ? HIERBAR_PLACE_OWN : HIERBAR_PLACE_STAYS;
  }
  std::fill_n(share, num_words, std::uint64_t{0});
  std::copy(answer.share->words().begin(), answer.share->words().end(), share);
  return HIERBAR_PLACE_SHARE;
} catch (const std::exception& error) {
  if (warn != nullptr) warn(context, error.what());
  return HIERBAR_PLACE_STAYS;
}

HIERBAR_EXPORT uint32_t hierbar_cpu_quota(void) try {
  return hierbar::cpu_quota().value_or(0);
} catch (const std::exception&) {
  return 0;
}
