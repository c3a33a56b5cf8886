// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The functions that describe a barrier or a status.

#include <exception>
#include <string>

#include "api/handle.hpp"
#include "hierbar/hierbar.h"
#include "plan/export/plan_text.hpp"

namespace {

// Whether the algorithm follows the plan. The others take from it only where the lines are.
bool has_plan(hierbar::Algorithm algorithm) {
  return algorithm == hierbar::Algorithm::kHier || algorithm == hierbar::Algorithm::kTopo;
}

std::string waiting_text(const hierbar_barrier& barrier) {
  const hierbar::WaitPolicy& policy = barrier.policy;
  std::string text = "waiting: ";
  if (policy.spin_looks > 0) {
    text += std::to_string(policy.spin_looks) + " looks";
  } else {
    text += "no spinning";
    if (barrier.plan.num_participants > barrier.design.num_cpus) text += ", more participants than cpus";
  }
  if (!policy.sleeps || policy.sleep_limit_ns == 0) {
    text += "; yields until the end";
  } else {
    text += "; " + std::to_string(policy.yields) + " yields; sleeps of at most " + std::to_string(policy.sleep_limit_ns / 1000) +
            " us";
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
      return "the barrier's algorithm cannot do this";
  }
  return "unknown status";
}

std::uint32_t hierbar_barrier_num_participants(const hierbar_barrier* barrier) {
  return barrier == nullptr ? 0 : barrier->plan.num_participants;
}

hierbar_status hierbar_barrier_describe(const hierbar_barrier* barrier, hierbar_line_fn print, void* context) try {
  if (barrier == nullptr || print == nullptr) return HIERBAR_ERR_INVALID;
  const std::string memory = barrier->private_memory == nullptr ? "shared" : "private";
  const std::string what = "participants: " + std::to_string(barrier->plan.num_participants) +
                           "; cpus: " + std::to_string(barrier->design.num_cpus) + "; " + memory +
                           " memory: " + std::to_string(barrier->layout.size_bytes) + " bytes";
  print(context, what.c_str());
  print(context, waiting_text(*barrier).c_str());
  print(context, std::string("algorithm: ").append(hierbar::algorithm_name(barrier->design.algorithm)).c_str());
  if (!has_plan(barrier->design.algorithm)) return HIERBAR_OK;
  for (const std::string& line : hierbar::describe_engine_plan(barrier->plan)) print(context, line.c_str());
  return HIERBAR_OK;
} catch (const std::exception&) {
  return HIERBAR_ERR_NO_MEMORY;
}
