// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/team/team_node.hpp"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <utility>

#include "mpi/node/plan_library.hpp"
#include "mpi/settings/settings.hpp"

namespace hierbar::mpi {
namespace {

std::uint32_t page_bytes() { return static_cast<std::uint32_t>(sysconf(_SC_PAGESIZE)); }
constexpr const char* kNoMemory = "no memory is left under /dev/shm for a team of threads";
std::uint32_t units_per_page() { return page_bytes() / NodeSegment::kUnitBytes; }

// Everybody's arrival goes to participant 0. For a process that cannot load libhierbar.so.
std::vector<std::byte> star_image(std::uint32_t num_participants) {
  std::vector<hierbar_plan_node> nodes(num_participants);
  std::vector<std::uint32_t> children;
  for (std::uint32_t i = 0; i < num_participants; ++i) {
    nodes[i].slot = i;
    if (i != 0) children.push_back(i);
  }
  nodes[0].num_children = num_participants - 1;
  const std::uint32_t leader = 0;
  hierbar_plan plan{};
  plan.abi_version = HIERBAR_PLAN_ABI_VERSION;
  plan.num_participants = plan.num_slots = num_participants;
  plan.num_leaders = 1;
  plan.release = HIERBAR_RELEASE_FLAGS;
  plan.line_bytes = 128;
  plan.depth = 2;
  plan.nodes = nodes.data();
  plan.children = children.data();
  plan.leaders = &leader;
  std::vector<std::byte> image(plan_image_bytes(plan));
  write_plan_image(plan, image.data());
  return image;
}

}  // namespace

Result<std::unique_ptr<TeamNode>> TeamNode::create(const std::vector<Binding>& bindings,
                                                   bool is_shared) {
  const auto num_participants = static_cast<std::uint32_t>(bindings.size());
  auto image = make_plan_image(bindings);
  if (!image && is_shared) return Error{image.error()};
  if (!image) image = star_image(num_participants);
  std::optional<ReadPlan> plan = ReadPlan::copy(image->data(), num_participants);
  if (!plan) return Error{"the plan of the team is not sound"};
  const TeamLayout layout(num_participants, TeamLayout::units_of_area(plan->plan(), page_bytes()),
                          TeamLayout::units_of_data_area(plan->plan(), page_bytes()),
                          units_per_page());
  auto made = is_shared ? NodeSegment::create(num_participants, layout.bytes())
                        : NodeSegment::create_private(num_participants, layout.bytes());
  if (!made) return Error{made.error()};
  std::unique_ptr<TeamNode> node(new TeamNode(*std::move(made), layout));
  // The memory of a new segment is zero.
  if (!node->segment_->populate(0, layout.areas[0])) return Error{kNoMemory};
  std::memcpy(node->image(), image->data(), image->size());
  node->control().outnumbered = outnumber_cpus(bindings) ? 1 : 0;
  node->add_view(0);
  return node;
}

Result<std::unique_ptr<TeamNode>> TeamNode::join(const std::string& name, std::uint64_t id,
                                                 const Sizes& sizes) {
  auto joined = NodeSegment::join(name, id, sizes.num_participants);
  if (!joined) return Error{joined.error()};
  const TeamLayout layout(sizes.num_participants, sizes.area_units, sizes.data_area_units,
                          units_per_page());
  std::unique_ptr<TeamNode> node(new TeamNode(*std::move(joined), layout));
  if (!node->add_view(0)) return Error{"the plan that another rank made cannot be read"};
  return node;
}

std::optional<Error> TeamNode::populate(std::uint32_t begin, std::uint32_t end) const {
  const hierbar_plan& plan = views_[0]->plan();
  const std::uint32_t slot_units = BarrierBlock::num_units(plan) / plan.num_slots;
  for (const std::uint32_t area : layout_.areas) {
    for (std::uint32_t i = begin; i < end; ++i) {
      if (!segment_->populate(area + plan.nodes[i].slot * slot_units, slot_units))
        return Error{kNoMemory};
    }
  }
  return std::nullopt;
}

std::optional<Error> TeamNode::populate_rest() const {
  if (segment_->populate(layout_.areas[0], layout_.end_of_areas - layout_.areas[0]))
    return std::nullopt;
  return Error{kNoMemory};
}

void TeamNode::publish_binding(std::uint32_t participant) const {
  segment_->member(participant) = {own_process(), read_own_binding()};
  joins(participant).fetch_add(1, std::memory_order_relaxed);
}

bool TeamNode::is_binding_published(std::uint32_t participant) const {
  return num_joins(participant) != 0 && segment_->member(participant).binding == read_own_binding();
}

TeamNode::Current TeamNode::first() const {
  return {views_[0].get(), collectives_[0].get(), 0, control().outnumbered != 0};
}

std::vector<Binding> TeamNode::bindings() const {
  std::vector<Binding> bindings;
  for (std::uint32_t i = 0; i < num_participants(); ++i)
    bindings.push_back(segment_->member(i).binding);
  return bindings;
}

bool TeamNode::fits(const std::vector<std::byte>& image) const {
  const std::optional<ReadPlan> plan = ReadPlan::copy(image.data(), num_participants());
  return plan && fits(plan->plan());
}

bool TeamNode::fits(const hierbar_plan& plan) const {
  return BarrierBlock::num_units(plan) <= layout_.area_units &&
         (layout_.data_area_units == 0 ||
          NodeSegment::units_for(TeamCollectives::Engine::size_bytes(plan)) <=
              layout_.data_area_units);
}

void TeamNode::make_plan() const {
  const std::vector<Binding> where = bindings();
  const auto made = make_plan_image(where);
  if (made && fits(*made)) std::memcpy(image(), made->data(), made->size());
  control().outnumbered = outnumber_cpus(where) ? 1 : 0;
}

TeamNode::Views TeamNode::view(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  if (num_views_ == number && !add_view(number)) {
    print_line("the shared memory of a team of threads is damaged");
    std::abort();
  }
  return {views_[number % 2].get(), collectives_[number % 2].get()};
}

bool TeamNode::add_view(std::uint64_t number) {
  std::optional<ReadPlan> plan = ReadPlan::copy(image(), num_participants());
  if (!plan || !fits(plan->plan())) return false;
  const std::uint64_t area = number % 2;
  collectives_[area].reset();
  views_[area] = std::make_unique<PlannedBarrier>(*std::move(plan), segment_, layout_.areas[area]);
  if (layout_.data_area_units != 0)
    collectives_[area] =
        std::make_unique<TeamCollectives>(*views_[area], segment_, layout_.data_areas[area]);
  num_views_ = number + 1;
  return true;
}

}  // namespace hierbar::mpi
