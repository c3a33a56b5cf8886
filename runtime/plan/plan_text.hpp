// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "plan/groups.hpp"
#include "plan/plan.h"

namespace hierbar {

// Ascending numbers for people: "{0..31}", "{0,4,8,12}", "{0,2..5,9}".
std::string format_members(const std::vector<std::uint32_t>& members);

const char* release_name(std::uint32_t release);        // "flags", "lines"
std::string group_level_name(const GroupLevel& level);  // "numa", ..., "top"
std::string group_level_number(std::size_t index);      // "G1" for index 0

// The number of gather levels below the leaders.
std::uint32_t num_gather_levels(const hierbar_plan& plan);

// How many participants gather from how many children: number of children -> number of parents.
// Leaves are left out.
std::map<std::uint32_t, std::uint32_t> gather_arities(const hierbar_plan& plan);

// The crews, each by its members, ordered by lowest member. Empty if the plan has no crews.
std::vector<std::vector<std::uint32_t>> crews_of(const hierbar_plan& plan);

// Lines for people, labelled `paper` and `engine`. A long tree is cut, with a line that says so.
std::vector<std::string> describe_group_tree(const GroupTree& tree);
std::vector<std::string> describe_engine_plan(const hierbar_plan& plan);

}  // namespace hierbar
