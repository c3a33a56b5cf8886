// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/node/plan_library.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "barrier/flat_plan.hpp"
#include "base/arch/memory.hpp"
#include "base/library_beside.hpp"
#include "mpi/node/plan_image.hpp"
#include "mpi/settings/settings.hpp"
#include "service/plan_service.h"

namespace hierbar::mpi {
namespace {

struct PlanLibrary {
  decltype(&hierbar_plan_create) create = nullptr;
  decltype(&hierbar_plan_create_groups) create_groups = nullptr;
  decltype(&hierbar_plan_destroy) destroy = nullptr;
  decltype(&hierbar_plan_units) units = nullptr;
  std::string problem;  // empty: usable
};

const char in_this_file = 0;

template <class Function>
bool bind(void* library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
  return function != nullptr;
}

PlanLibrary load_library() {
  PlanLibrary loaded;
  void* const library =
      open_library_beside(file_with(&in_this_file), "libhierbar.so", "libhierbar.so.0");
  decltype(&hierbar_plan_abi_version) abi_version = nullptr;
  if (library == nullptr) {
    loaded.problem =
        std::string("libhierbar.so cannot be loaded from the shim's directory (") + dlerror() + ")";
  } else if (!bind(library, "hierbar_plan_abi_version", abi_version) ||
             abi_version() != HIERBAR_PLAN_ABI_VERSION ||
             !bind(library, "hierbar_plan_create", loaded.create) ||
             !bind(library, "hierbar_plan_create_groups", loaded.create_groups) ||
             !bind(library, "hierbar_plan_destroy", loaded.destroy) ||
             !bind(library, "hierbar_plan_units", loaded.units)) {
    loaded.problem = "libhierbar.so and the shim have different versions";
  }
  return loaded;
}

const PlanLibrary& plan_library() {
  static const PlanLibrary library = load_library();
  return library;
}

std::vector<hierbar_cpus> cpus_of(const std::vector<Binding>& bindings) {
  std::vector<hierbar_cpus> cpus;
  for (const Binding& binding : bindings)
    cpus.push_back({binding.bits.data(), binding.num_valid_words()});
  return cpus;
}

std::vector<std::byte> image_of(const hierbar_plan& plan) {
  std::vector<std::byte> image(plan_image_bytes(plan));
  write_plan_image(plan, image.data());
  return image;
}

// Without reading the machine. Of participants that share cpus, those with one binding are a crew.
// Two of them need none: the last one to arrive is the last of all.
std::vector<std::byte> small_image(const std::vector<Binding>& bindings) {
  const auto num_ranks = static_cast<std::uint32_t>(bindings.size());
  if (num_ranks <= 2 || !outnumber_cpus(bindings))
    return image_of(FlatPlan(num_ranks, own_line_distance()).plan());
  std::array<std::uint32_t, kMaxMachineIndependent> crews{};
  for (std::uint32_t i = 0; i < num_ranks; ++i)
    crews[i] = static_cast<std::uint32_t>(std::find(bindings.begin(), bindings.end(), bindings[i]) -
                                          bindings.begin());
  return image_of(FlatPlan(num_ranks, own_line_distance(), crews.data()).plan());
}

void keep(void* context, const char* line) {
  static_cast<std::vector<std::string>*>(context)->emplace_back(line);
}

}  // namespace

Result<std::vector<std::byte>> make_plan_image(const std::vector<Binding>& bindings,
                                               Algorithm algorithm) {
  const auto num_ranks = static_cast<std::uint32_t>(bindings.size());
  const bool has_groups = algorithm == Algorithm::kTopo;
  if (num_ranks <= kMaxMachineIndependent && !has_groups) return small_image(bindings);

  const PlanLibrary& library = plan_library();
  if (!library.problem.empty()) return Error{library.problem};
  const hierbar_plan* plan = nullptr;
  std::vector<std::string> lines;
  const auto create = has_groups ? library.create_groups : library.create;
  std::string problem;
  if (create(num_ranks, cpus_of(bindings).data(), keep, &lines, &plan) != 0 && !lines.empty()) {
    problem = lines.back();  // the reason; the caller prints it
    lines.pop_back();
  }
  for (const std::string& line : lines) print_line(line);
  if (plan == nullptr) return Error{problem};
  std::vector<std::byte> image = image_of(*plan);
  library.destroy(plan);
  return image;
}

PlanUnits find_plan_units(const hierbar_plan& plan, const std::vector<Binding>& bindings) {
  PlanUnits units{std::vector<std::uint8_t>(plan.num_participants), 0};
  const PlanLibrary& library = plan_library();
  if (library.problem.empty())
    library.units(&plan, cpus_of(bindings).data(), units.gather.data(), &units.exchange);
  return units;
}

}  // namespace hierbar::mpi
