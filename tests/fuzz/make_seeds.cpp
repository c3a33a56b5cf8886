// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Writes the inputs whose layout changes with the project, memory and images, below the directory
// that is its argument: what the project's own code makes of small machines and plans.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "hierbar/hierbar.h"
#include "mpi/node/plan_image.hpp"
#include "mpi/node/segment.hpp"
#include "placement/meeting/meeting_memory.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/test_plans.hpp"
#include "topology/export/machine_image.hpp"

namespace hierbar::test {
namespace {

std::filesystem::path corpus;

void write(const char* target, const std::string& name, const void* data, std::size_t size) {
  std::filesystem::create_directories(corpus / target);
  std::ofstream file(corpus / target / name, std::ios::binary);
  file.write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
}

void write_machines() {
  const Machine small =
      make_machine("2 packages", {{Level::kPackage, 2}, {Level::kL3, 1}, {Level::kCore, 3}}, 2);
  for (const auto& [name, machine] :
       {std::pair("small", small), std::pair("hybrid", make_hybrid())}) {
    const std::vector<std::uint32_t> image = machine_image(machine);
    write("machine_image", name, image.data(), image.size() * sizeof image[0]);
  }
}

void write_plans() {
  for (const TestPlan& plan :
       {make_flat(3), make_crews(6, 2), make_forest("forest_3_2", {{3, 2}}),
        make_forest("deep", {{5, 3}, 2, HIERBAR_RELEASE_LINES, Numbering::kRound, 2})}) {
    std::vector<std::byte> image(1 + mpi::plan_image_bytes(plan.view()));
    image[0] = static_cast<std::byte>(plan.view().num_participants - 1);
    mpi::write_plan_image(plan.view(), image.data() + 1);
    write("plan_image", plan.name(), image.data(), image.size());
  }
}

void write_api_segments() {
#ifdef HIERBAR_HAS_C_API
  for (const char* algorithm : {"hier", "mcs", "tournament-flag"}) {
    hierbar_attributes attributes;
    hierbar_attributes_init(&attributes, 3);
    attributes.algorithm = algorithm;
    std::size_t size = 0;
    if (hierbar_barrier_size(&attributes, &size) != HIERBAR_OK) continue;
    const std::size_t rounded =
        (size + HIERBAR_MEMORY_ALIGNMENT - 1) / HIERBAR_MEMORY_ALIGNMENT * HIERBAR_MEMORY_ALIGNMENT;
    const std::unique_ptr<void, decltype(&std::free)> memory(
        std::aligned_alloc(HIERBAR_MEMORY_ALIGNMENT, rounded), &std::free);
    std::memset(memory.get(), 0, rounded);
    if (hierbar_barrier_init_shared(memory.get(), size, &attributes) != HIERBAR_OK) continue;
    write("api_segment", algorithm, memory.get(), size);
  }
#endif
}

void write_mpi_segment() {
  auto segment = mpi::NodeSegment::create(2, 8192);
  if (!segment) return;
  for (std::uint32_t i = 0; i < 2; ++i) (*segment)->member(i) = {own_process(), {{3}, 16, 0}};
  (void)(*segment)->units().claim(5, 1);
  const std::filesystem::path path = "/dev/shm" + (*segment)->name();
  std::ifstream file(path, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  write("mpi_segment", "two_members", bytes.data(), bytes.size());
}

// Meetings of three ranks whose makers have ended long ago, and whose deadline is far away.
void write_meetings() {
  constexpr std::uint64_t kFar_ns = std::uint64_t{1} << 60;
  for (const std::uint32_t num_posted : {0U, 2U, 3U}) {
    std::vector<std::uint64_t> words(MeetingMemory::size_bytes(3) / sizeof(std::uint64_t) + 1);
    const MeetingMemory board(words.data(), 3);
    board.make({0, 1, 1}, kFar_ns);
    for (std::uint32_t rank = 1; rank < num_posted; ++rank) {
      (void)board.claim(rank, {0, 1, 1});
      board.post(rank, {{CpuSet::range(rank, rank), 1}, CpuSet::range(0, 7)});
    }
    if (num_posted == 3) board.publish_machine(64);
    write("meeting", "posted_" + std::to_string(num_posted), words.data(),
          MeetingMemory::size_bytes(3));
  }
}

}  // namespace
}  // namespace hierbar::test

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
    return 2;
  }
  hierbar::test::corpus = argv[1];
  hierbar::test::write_machines();
  hierbar::test::write_plans();
  hierbar::test::write_api_segments();
  hierbar::test::write_mpi_segment();
  hierbar::test::write_meetings();
}
