// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Memory that is no barrier, or not one of ours, or not a whole one: refused, with the right
// status, and never touched wrongly.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include "bench/common/random.hpp"
#include "tests/api/api_support.hpp"

namespace hierbar::test {
namespace {

hierbar_status attach_status(void* memory, std::size_t size) {
  hierbar_barrier* barrier = reinterpret_cast<hierbar_barrier*>(memory);
  const hierbar_status status = hierbar_barrier_attach(memory, size, nullptr, &barrier);
  EXPECT_EQ(barrier != nullptr, status == HIERBAR_OK);
  hierbar_barrier_destroy(barrier);
  return status;
}

// A barrier that has everything: leaders, members with and without children, unless the machine is
// too small for that.
class SegmentOfBarrier : public testing::Test {
 protected:
  SegmentOfBarrier() : cpusets_(20), shared_(with_cpusets()) {
    EXPECT_EQ(shared_.status(), HIERBAR_OK);
  }

  hierbar_attributes with_cpusets() const {
    hierbar_attributes attributes = attributes_of(20);
    attributes.cpusets = cpusets_.data();
    return attributes;
  }
  hierbar_status status() const {
    return attach_status(shared_.memory().get(), shared_.memory().size());
  }

  // The status while a field has another value.
  template <class Field, class Value>
  hierbar_status status_with(Field& field, Value value) {
    const Field before = field;
    field = static_cast<Field>(value);
    const hierbar_status result = status();
    field = before;
    return result;
  }

  const Cpusets cpusets_;
  const SharedBarrier shared_;
};

TEST_F(SegmentOfBarrier, IsAcceptedAsItIs) { EXPECT_EQ(status(), HIERBAR_OK); }

TEST_F(SegmentOfBarrier, IsRefusedWhenAnythingIsMissing) {
  const std::size_t size = shared_.memory().size();
  for (const std::size_t less : {std::size_t{0}, std::size_t{1}, sizeof(SegmentHeader) - 1,
                                 sizeof(SegmentHeader), size / 2, size - 1}) {
    EXPECT_EQ(attach_status(shared_.memory().get(), less), HIERBAR_ERR_TOO_SMALL) << less;
  }
}

TEST_F(SegmentOfBarrier, IsRefusedWhenItsFileIsCutOff) {
  for (const std::size_t file_size : {std::size_t{8192}, std::size_t{4096}, std::size_t{0}}) {
    shared_.memory().truncate(file_size);
    EXPECT_EQ(status(), HIERBAR_ERR_TOO_SMALL) << file_size;
  }
}

TEST_F(SegmentOfBarrier, IsRefusedWhenItCannotBeWritten) {
  ASSERT_EQ(mprotect(shared_.memory().get(), shared_.memory().size(), PROT_READ), 0);
  EXPECT_EQ(status(), HIERBAR_ERR_TOO_SMALL);
}

TEST_F(SegmentOfBarrier, OfAnotherVersionIsRefused) {
  EXPECT_EQ(status_with(shared_.header().abi_version, kSegmentAbiVersion + 1), HIERBAR_ERR_VERSION);
  EXPECT_EQ(status_with(shared_.header().header_bytes, sizeof(SegmentHeader) + 8),
            HIERBAR_ERR_VERSION);
}

TEST_F(SegmentOfBarrier, IsRefusedWhenItsHeaderContradictsItself) {
  SegmentHeader& header = shared_.header();
  for (std::uint32_t* field : {&header.num_participants, &header.num_leaders, &header.num_slots}) {
    for (const std::uint32_t wrong : {0U, *field - 1, *field + 1, 1U << 20, 1U << 31, ~0U}) {
      EXPECT_EQ(status_with(*field, wrong), HIERBAR_ERR_CORRUPT) << wrong;
    }
  }
  for (const std::uint32_t wrong :
       {0U, 1U, 32U, header.line_bytes + 1, 2 * header.line_bytes, ~0U}) {
    EXPECT_EQ(status_with(header.line_bytes, wrong), HIERBAR_ERR_CORRUPT) << wrong;
  }
  for (std::uint64_t* field :
       {&header.spots_offset, &header.lines_offset, &header.nodes_offset, &header.children_offset,
        &header.leaders_offset, &header.size_bytes}) {
    for (const std::uint64_t wrong :
         {std::uint64_t{0}, *field + 64, *field - 64, ~std::uint64_t{0}}) {
      EXPECT_EQ(status_with(*field, wrong), HIERBAR_ERR_CORRUPT) << wrong;
    }
  }
  EXPECT_EQ(status_with(header.release, 2), HIERBAR_ERR_CORRUPT);
  EXPECT_EQ(status_with(header.algorithm, std::size(kAlgorithms)), HIERBAR_ERR_CORRUPT);
  EXPECT_EQ(status_with(header.algorithm, Algorithm::kDissemination), HIERBAR_ERR_CORRUPT)
      << "needs more lines";
  EXPECT_EQ(status_with(header.has_collectives, 1), HIERBAR_ERR_CORRUPT) << "needs more memory";
  EXPECT_EQ(status_with(header.has_collectives, 2), HIERBAR_ERR_CORRUPT);
  EXPECT_EQ(status_with(header.limits.spin_polls, -2), HIERBAR_ERR_CORRUPT);
  EXPECT_EQ(status_with(header.limits.sleep_limit_ns, std::int64_t{1} << 60), HIERBAR_ERR_CORRUPT);
}

TEST_F(SegmentOfBarrier, IsRefusedWhenItsPlanIsNone) {
  const hierbar_plan plan = shared_.plan();
  auto* nodes = const_cast<hierbar_plan_node*>(plan.nodes);
  for (std::uint32_t p = 0; p < plan.num_participants; ++p) {
    for (const std::uint32_t wrong : {nodes[p].parent + 1, plan.num_participants, ~0U}) {
      EXPECT_EQ(status_with(nodes[p].parent, wrong), HIERBAR_ERR_CORRUPT) << "parent of " << p;
    }
    for (const std::uint32_t wrong :
         {plan.num_slots, nodes[(p + 1) % plan.num_participants].slot, ~0U}) {
      EXPECT_EQ(status_with(nodes[p].slot, wrong), HIERBAR_ERR_CORRUPT) << "slot of " << p;
    }
    for (const std::uint32_t wrong : {nodes[p].num_children + 1, plan.num_participants, ~0U}) {
      EXPECT_EQ(status_with(nodes[p].num_children, wrong), HIERBAR_ERR_CORRUPT)
          << "children of " << p;
    }
    EXPECT_EQ(status_with(nodes[p].first_child, ~0U), HIERBAR_ERR_CORRUPT) << "children of " << p;
  }
  auto* children = const_cast<std::uint32_t*>(plan.children);
  for (std::uint32_t i = 0; i < plan.num_participants - plan.num_leaders; ++i) {
    for (const std::uint32_t wrong : {0U, children[i] + 1, plan.num_participants, ~0U}) {
      EXPECT_EQ(status_with(children[i], wrong), HIERBAR_ERR_CORRUPT) << "child " << i;
    }
  }
  auto* leaders = const_cast<std::uint32_t*>(plan.leaders);
  for (std::uint32_t i = 0; i < plan.num_leaders; ++i) {
    EXPECT_EQ(status_with(leaders[i], leaders[i] + 1), HIERBAR_ERR_CORRUPT) << "leader " << i;
  }
}

TEST(SegmentOfCrews, IsRefusedWhenItsCrewsAreNone) {
  const std::uint32_t cpu = 0;
  const std::vector<hierbar_cpuset> cpusets(7, hierbar_cpuset{&cpu, nullptr, 1, 0});
  hierbar_attributes attributes = attributes_of(7);
  attributes.cpusets = cpusets.data();
  const SharedBarrier shared(attributes);
  ASSERT_EQ(shared.status(), HIERBAR_OK);
  const auto status = [&] { return attach_status(shared.memory().get(), shared.memory().size()); };
  ASSERT_EQ(status(), HIERBAR_OK);
  ASSERT_EQ(shared.header().num_crews, 1U);
  const auto expect_refused = [&](std::uint32_t& field, std::uint32_t wrong) {
    const std::uint32_t before = field;
    field = wrong;
    EXPECT_EQ(status(), HIERBAR_ERR_CORRUPT) << before << " -> " << wrong;
    field = before;
  };
  for (const std::uint32_t wrong : {2U, 7U, ~0U}) expect_refused(shared.header().num_crews, wrong);
  auto* nodes = const_cast<hierbar_plan_node*>(shared.plan().nodes);
  for (std::uint32_t p = 0; p < 7; ++p) {
    for (const std::uint32_t wrong : {1U, 6U, 7U, ~0U}) expect_refused(nodes[p].crew, wrong);
    for (const std::uint32_t wrong : {0U, 6U, 8U, ~0U}) expect_refused(nodes[p].crew_size, wrong);
  }
}

// Whatever is in the header and in the plan: no crash, no endless loop.
TEST_F(SegmentOfBarrier, NeverDoesHarmWhateverIsInIt) {
  const std::vector<std::byte> good(shared_.memory().bytes(),
                                    shared_.memory().bytes() + shared_.memory().size());
  const std::size_t nodes = shared_.header().nodes_offset;
  Random random(1);
  std::uint32_t num_refused = 0;
  for (int repetition = 0; repetition < 20'000; ++repetition) {
    for (std::uint32_t changes = 1 + random.below(3); changes > 0; --changes) {
      const std::size_t at =
          random.one_in(2) ? random.below(sizeof(SegmentHeader) - 8) + 8
                           : nodes + random.below(static_cast<std::uint32_t>(good.size() - nodes));
      shared_.memory().bytes()[at] = static_cast<std::byte>(random.below(256));
    }
    if (status() != HIERBAR_OK) ++num_refused;
    std::memcpy(shared_.memory().get(), good.data(), good.size());
  }
  EXPECT_GT(num_refused, 10'000U);
  EXPECT_EQ(status(), HIERBAR_OK);
}

// Words that peers of a barrier might write once it is attached to: a number where an index is
// expected, and what makes the barrier look at it.
std::uint64_t hostile_word(Random& random) {
  constexpr std::uint64_t kWords[] = {
      0, 0, 1, 2, 5, 6, 0x7fffffff, 0xffffffff, std::uint64_t{1} << 63, ~std::uint64_t{0}};
  return random.one_in(8) ? std::uint64_t{random.below(~0U)} << random.below(32)
                          : kWords[random.below(static_cast<std::uint32_t>(std::size(kWords)))];
}

// Waits of somebody whose peers never come end at the fourth call.
int give_up(void* num_calls) { return ++*static_cast<int*>(num_calls) == 4 ? 1 : 0; }

hierbar_status call_collective(hierbar_barrier* barrier, std::uint32_t me, Random& random) {
  std::uint8_t data[HIERBAR_MAX_COLLECTIVE_BYTES] = {};
  const std::size_t bytes = random.one_in(2) ? random.below(sizeof(data)) : random.below(100);
  if (random.one_in(2))
    return hierbar_allreduce(barrier, me, data, data, bytes, HIERBAR_UINT8, HIERBAR_SUM);
  const std::uint32_t root = random.below(hierbar_barrier_num_participants(barrier));
  const hierbar_status status = hierbar_bcast(barrier, me, root, data, bytes);
  return status == HIERBAR_ERR_INVALID ? HIERBAR_OK : status;  // the root's size is another one
}

class HostilePeers : public testing::TestWithParam<NamedAlgorithm> {};

// A crossing may end in any way, or not at all: it does not leave the segment.
TEST_P(HostilePeers, LeadNobodyOutOfTheSegment) {
  Random random(3);
  const std::string name(GetParam().name);
  for (int repetition = 0; repetition < 400; ++repetition) {
    const Cpusets cpusets(2 + repetition % 6);  // topo wants to know where they are
    hierbar_attributes attributes = attributes_of(2 + repetition % 6);
    attributes.cpusets = cpusets.data();
    attributes.algorithm = name.c_str();
    attributes.collectives = GetParam().algorithm == Algorithm::kHier ? repetition % 2 : 0;
    const SharedBarrier shared(attributes);
    ASSERT_EQ(shared.status(), HIERBAR_OK);
    int num_calls = 0;
    const hierbar_waiting waiting = {0, 1, 1000, give_up, &num_calls};
    const BarrierHandle barrier = shared.attach_at(shared.memory().get(), &waiting);
    ASSERT_NE(barrier, nullptr);
    const SegmentHeader& header = shared.header();
    for (std::size_t at = header.lines_offset; at < header.nodes_offset;
         at += sizeof(std::uint64_t)) {
      const std::uint64_t word = hostile_word(random);
      std::memcpy(shared.memory().bytes() + at, &word, sizeof(word));
    }
    const std::uint32_t me = random.below(attributes.num_participants);
    const hierbar_status status = attributes.collectives == 0
                                      ? hierbar_barrier_wait(barrier.get(), me)
                                      : call_collective(barrier.get(), me, random);
    EXPECT_TRUE(status == HIERBAR_OK || status == HIERBAR_ABORTED) << hierbar_status_text(status);
  }
}

INSTANTIATE_TEST_SUITE_P(Algorithms, HostilePeers, testing::ValuesIn(kAlgorithms),
                         [](const auto& instance) {
                           std::string name(instance.param.name);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(SharedMemoryOfApi, ThatIsNoBarrierIsRefused) {
  const SharedMemory memory(1 << 16);
  EXPECT_EQ(attach_status(memory.get(), memory.size()), HIERBAR_ERR_NOT_READY);
  Random random(2);
  for (int repetition = 0; repetition < 100; ++repetition) {
    for (std::size_t i = 0; i < memory.size(); ++i)
      memory.bytes()[i] = static_cast<std::byte>(random.below(256));
    EXPECT_EQ(attach_status(memory.get(), memory.size()), HIERBAR_ERR_FOREIGN);
  }
  EXPECT_EQ(attach_status(memory.bytes() + 64, memory.size() - 64), HIERBAR_ERR_INVALID)
      << "misaligned";
}

TEST(SharedMemoryOfApi, IsRefusedWhenTooSmallOrInUse) {
  const hierbar_attributes attributes = attributes_of(5);
  std::size_t size = 0;
  ASSERT_EQ(hierbar_barrier_size(&attributes, &size), HIERBAR_OK);
  const SharedMemory memory(size);
  EXPECT_EQ(hierbar_barrier_init_shared(memory.get(), size - 1, &attributes),
            HIERBAR_ERR_TOO_SMALL);
  EXPECT_EQ(hierbar_barrier_init_shared(memory.get(), 0, &attributes), HIERBAR_ERR_TOO_SMALL);
  EXPECT_EQ(hierbar_barrier_init_shared(memory.bytes() + 64, size, &attributes),
            HIERBAR_ERR_INVALID);
  EXPECT_EQ(hierbar_barrier_init_shared(nullptr, size, &attributes), HIERBAR_ERR_INVALID);
  EXPECT_EQ(hierbar_barrier_init_shared(memory.get(), size, nullptr), HIERBAR_ERR_INVALID);
  EXPECT_EQ(attach_status(memory.get(), size), HIERBAR_ERR_NOT_READY) << "nothing was made so far";
  EXPECT_EQ(hierbar_barrier_init_shared(memory.get(), size, &attributes), HIERBAR_OK);
  EXPECT_EQ(hierbar_barrier_init_shared(memory.get(), size, &attributes), HIERBAR_ERR_IN_USE);
  EXPECT_EQ(attach_status(memory.get(), size), HIERBAR_OK);
  memory.truncate(0);
  EXPECT_EQ(hierbar_barrier_init_shared(memory.get(), size, &attributes), HIERBAR_ERR_TOO_SMALL)
      << "no file behind it";
}

TEST(SharedMemoryOfApi, OutlivesTheViewsOfIt) {
  const SharedBarrier shared(attributes_of(1));
  for (int repetition = 0; repetition < 100; ++repetition) {
    const BarrierHandle barrier = shared.attach();
    ASSERT_NE(barrier, nullptr);
    EXPECT_EQ(hierbar_barrier_wait(barrier.get(), 0), HIERBAR_OK);
  }
}

}  // namespace
}  // namespace hierbar::test
