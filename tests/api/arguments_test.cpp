// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What may be given to the C API, what may not, and what it says then.

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "tests/api/api_support.hpp"

extern "C" int barrier_used_in_c(void);

namespace hierbar::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Lines = std::vector<std::string>;

// The status that a change of good attributes of 2 participants leads to, by all functions that
// take attributes.
class Attributes : public testing::Test {
 protected:
  template <class Change>
  hierbar_status status_with(const Change& change) {
    hierbar_attributes attributes = attributes_of(2);
    attributes.report = append_line;
    attributes.report_context = &lines_;
    change(attributes);
    std::size_t size = 17;
    hierbar_barrier* barrier = reinterpret_cast<hierbar_barrier*>(&size);
    const hierbar_status status = hierbar_barrier_size(&attributes, &size);
    EXPECT_EQ(size == 17, status != HIERBAR_OK);
    lines_.clear();
    EXPECT_EQ(hierbar_barrier_create(&attributes, &barrier), status);
    EXPECT_EQ(barrier != nullptr, status == HIERBAR_OK);
    hierbar_barrier_destroy(barrier);
    return status;
  }

  Lines lines_;
};

TEST_F(Attributes, AreGoodByDefault) {
  EXPECT_EQ(status_with([](hierbar_attributes&) {}), HIERBAR_OK);
  EXPECT_THAT(lines_, IsEmpty());
}

TEST_F(Attributes, OfNobodyOrTooManyAreRefused) {
  EXPECT_EQ(status_with([](hierbar_attributes& a) { a.num_participants = 0; }),
            HIERBAR_ERR_INVALID);
  EXPECT_THAT(lines_, ElementsAre(AllOf(HasSubstr("hierbar_attributes"), HasSubstr("not 0"))));
  EXPECT_EQ(status_with([](hierbar_attributes& a) { a.num_participants = (1U << 20) + 1; }),
            HIERBAR_ERR_INVALID);
}

TEST_F(Attributes, WithoutAListenerAreComplainedAboutOnStandardError) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(status_with([](hierbar_attributes& a) {
              a.report = nullptr;
              a.levels = "l9";
            }),
            HIERBAR_ERR_INVALID);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("hierbar: "), HasSubstr("'l9'")));
}

TEST_F(Attributes, OfAnotherVersionAreRefused) {
  EXPECT_EQ(status_with([](hierbar_attributes& a) { a.struct_bytes += 8; }), HIERBAR_ERR_VERSION);
}

TEST_F(Attributes, WithLimitsOutOfRangeAreRefused) {
  EXPECT_EQ(status_with([](hierbar_attributes& a) { a.waiting.spin_polls = -2; }),
            HIERBAR_ERR_INVALID);
  EXPECT_THAT(lines_, ElementsAre(AllOf(HasSubstr("waiting.spin_polls"), HasSubstr("'-2'"),
                                        HasSubstr("0 to 1000000"))));
  EXPECT_EQ(
      status_with([](hierbar_attributes& a) { a.waiting.spin_polls = HIERBAR_MAX_POLLS + 1; }),
      HIERBAR_ERR_INVALID);
  EXPECT_EQ(status_with([](hierbar_attributes& a) { a.waiting.yields = -5; }), HIERBAR_ERR_INVALID);
  EXPECT_EQ(status_with(
                [](hierbar_attributes& a) { a.waiting.sleep_limit_ns = HIERBAR_MAX_SLEEP_NS + 1; }),
            HIERBAR_ERR_INVALID);
  EXPECT_THAT(lines_, ElementsAre(HasSubstr("waiting.sleep_limit_ns")));
  EXPECT_EQ(
      status_with([](hierbar_attributes& a) { a.waiting.sleep_limit_ns = HIERBAR_MAX_SLEEP_NS; }),
      HIERBAR_OK);
}

TEST_F(Attributes, WithLevelsThatAreNoneAreRefused) {
  EXPECT_EQ(status_with([](hierbar_attributes& a) { a.levels = "l9"; }), HIERBAR_ERR_INVALID);
  EXPECT_THAT(lines_, ElementsAre(AllOf(HasSubstr("levels"), HasSubstr("'l9'"),
                                        HasSubstr("allowed: auto"))));
  EXPECT_EQ(status_with([](hierbar_attributes& a) { a.levels = "numa,package"; }), HIERBAR_OK);
}

TEST_F(Attributes, WithAnUnknownAlgorithmAreRefused) {
  EXPECT_EQ(status_with([](hierbar_attributes& a) { a.algorithm = "bakery"; }),
            HIERBAR_ERR_INVALID);
  EXPECT_THAT(lines_, ElementsAre(AllOf(HasSubstr("algorithm"), HasSubstr("'bakery'"),
                                        HasSubstr("allowed: hier, topo"))));
  EXPECT_EQ(status_with([](hierbar_attributes& a) { a.algorithm = "MCS"; }), HIERBAR_OK)
      << "case does not matter";
}

TEST_F(Attributes, MakeTopoStepAsideWhenNobodysLocationIsKnown) {
  EXPECT_EQ(status_with([](hierbar_attributes& a) { a.algorithm = "topo"; }), HIERBAR_OK);
  EXPECT_THAT(lines_, ElementsAre(AllOf(HasSubstr("topo"), HasSubstr("hier is used instead"))));
}

TEST_F(Attributes, WithCollectivesForTooManyAreRefused) {
  EXPECT_EQ(status_with([](hierbar_attributes& a) { a.collectives = 1; }), HIERBAR_OK);
  EXPECT_EQ(status_with([](hierbar_attributes& a) { a.collectives = 2; }), HIERBAR_ERR_INVALID);
  EXPECT_THAT(lines_, ElementsAre(AllOf(HasSubstr("collectives"), HasSubstr("'2'"),
                                        HasSubstr("allowed: 0, 1"))));
  const auto many = [](hierbar_attributes& a) {
    a.collectives = 1;
    a.num_participants = HIERBAR_MAX_COLLECTIVE_PARTICIPANTS + 1;
  };
  EXPECT_EQ(status_with(many), HIERBAR_ERR_INVALID);
  EXPECT_THAT(lines_, ElementsAre(AllOf(HasSubstr("num_participants"), HasSubstr("'513'"),
                                        HasSubstr("1 to 512"))));
}

// The algorithm of a barrier made by attributes that name none, and what was reported.
std::string algorithm_under(const char* value, Lines& reported) {
  setenv("HIERBAR_ALGORITHM", value, 1);
  hierbar_attributes attributes = attributes_of(3);
  attributes.report = append_line;
  attributes.report_context = &reported;
  const BarrierHandle barrier = create(attributes);
  unsetenv("HIERBAR_ALGORITHM");
  Lines lines;
  hierbar_barrier_describe(barrier.get(), append_line, &lines);
  for (const std::string& line : lines) {
    if (line.starts_with("algorithm: ")) return line.substr(11);
  }
  return "";
}

TEST(AlgorithmVariable, ChoosesWhereTheAttributesDoNot) {
  Lines reported;
  EXPECT_EQ(algorithm_under("", reported), "hier");
  EXPECT_EQ(algorithm_under("dissemination", reported), "dissemination");
  EXPECT_EQ(algorithm_under("Tournament-Flag", reported), "tournament-flag");
  EXPECT_THAT(reported, IsEmpty());
}

TEST(AlgorithmVariable, WithABadValueIsReportedOnceAndHierUsed) {
  Lines reported;
  EXPECT_EQ(algorithm_under("bakery", reported), "hier");
  EXPECT_EQ(algorithm_under("bakery", reported), "hier");
  EXPECT_THAT(reported, ElementsAre(AllOf(HasSubstr("HIERBAR_ALGORITHM"), HasSubstr("'bakery'"),
                                          HasSubstr("allowed: hier, topo"),
                                          HasSubstr("'hier' is used instead"))));
}

// Run on the machine as it is, and on one with two L3 caches that HIERBAR_TOPOLOGY describes.
TEST(AlgorithmTopo, IsUsedWhereTheMachineHasGroups) {
  if (std::getenv("HIERBAR_TOPOLOGY") == nullptr)
    GTEST_SKIP() << "this machine may have no groups; see api_arguments_test.trees";
  const Cpusets cpusets(8);
  hierbar_attributes attributes = attributes_of(8);
  attributes.cpusets = cpusets.data();
  attributes.algorithm = "topo";
  attributes.levels = "auto";  // the machine's own, whatever the variable says
  const BarrierHandle barrier = create(attributes);
  Lines lines;
  hierbar_barrier_describe(barrier.get(), append_line, &lines);
  EXPECT_THAT(lines, Contains("algorithm: topo"));
  EXPECT_THAT(lines, Contains(HasSubstr("0 <- {1..4}")));
}

TEST(AlgorithmsOtherThanHier, RefuseWhatTheyCannotDo) {
  hierbar_attributes attributes = attributes_of(1);
  attributes.algorithm = "mcs";
  const BarrierHandle barrier = create(attributes);
  EXPECT_EQ(hierbar_barrier_wait_bits(barrier.get(), 0, 0, nullptr), HIERBAR_ERR_UNSUPPORTED);
  EXPECT_EQ(hierbar_barrier_gather(barrier.get(), 0, 0, nullptr), HIERBAR_ERR_UNSUPPORTED);
  EXPECT_EQ(hierbar_barrier_release(barrier.get(), 0, 0, nullptr), HIERBAR_ERR_UNSUPPORTED);
  EXPECT_EQ(hierbar_barrier_wait(barrier.get(), 0), HIERBAR_OK);
}

TEST_F(Attributes, WithBadCpusetsAreRefused) {
  const std::uint32_t cpus[] = {0, 1U << 20};
  const std::uint64_t bitmap[] = {3};
  hierbar_cpuset sets[2] = {{cpus, nullptr, 1, 0}, {nullptr, bitmap, 0, 1}};
  const auto use = [&](hierbar_attributes& a) { a.cpusets = sets; };
  EXPECT_EQ(status_with(use), HIERBAR_OK);
  sets[0].num_cpus = 2;
  EXPECT_EQ(status_with(use), HIERBAR_ERR_INVALID);
  EXPECT_THAT(lines_, ElementsAre(AllOf(HasSubstr("cpusets[0]"), HasSubstr("'1048576'"))));
  sets[0] = {nullptr, nullptr, 1, 0};
  EXPECT_EQ(status_with(use), HIERBAR_ERR_INVALID);
  sets[0] = {nullptr, nullptr, 0, 1};
  EXPECT_EQ(status_with(use), HIERBAR_ERR_INVALID);
  sets[0] = {nullptr, bitmap, 0, 1U << 30};
  EXPECT_EQ(status_with(use), HIERBAR_ERR_INVALID);
  sets[0] = {nullptr, nullptr, 0, 0};
  EXPECT_EQ(status_with(use), HIERBAR_OK) << "unbound";
}

TEST(ApiArguments, ThatAreNullAreRefused) {
  const hierbar_attributes attributes = attributes_of(1);
  hierbar_barrier* barrier = nullptr;
  std::size_t size = 0;
  alignas(HIERBAR_MEMORY_ALIGNMENT) std::byte memory[4096] = {};
  hierbar_attributes_init(nullptr, 1);
  EXPECT_EQ(hierbar_barrier_create(nullptr, &barrier), HIERBAR_ERR_INVALID);
  EXPECT_EQ(hierbar_barrier_create(&attributes, nullptr), HIERBAR_ERR_INVALID);
  EXPECT_EQ(hierbar_barrier_size(nullptr, &size), HIERBAR_ERR_INVALID);
  EXPECT_EQ(hierbar_barrier_size(&attributes, nullptr), HIERBAR_ERR_INVALID);
  EXPECT_EQ(hierbar_barrier_attach(nullptr, 4096, nullptr, &barrier), HIERBAR_ERR_INVALID);
  EXPECT_EQ(hierbar_barrier_attach(memory, 4096, nullptr, nullptr), HIERBAR_ERR_INVALID);
  EXPECT_EQ(hierbar_barrier_num_participants(nullptr), 0U);
  EXPECT_EQ(hierbar_barrier_describe(nullptr, append_line, nullptr), HIERBAR_ERR_INVALID);
  EXPECT_EQ(hierbar_barrier_wait(nullptr, 0), HIERBAR_ERR_INVALID);
  EXPECT_EQ(hierbar_barrier_wait_bits(nullptr, 0, 0, nullptr), HIERBAR_ERR_INVALID);
  EXPECT_EQ(hierbar_barrier_gather(nullptr, 0, 0, nullptr), HIERBAR_ERR_INVALID);
  EXPECT_EQ(hierbar_barrier_release(nullptr, 0, 0, nullptr), HIERBAR_ERR_INVALID);
  EXPECT_EQ(hierbar_barrier_abort(nullptr), HIERBAR_ERR_INVALID);
  hierbar_barrier_destroy(nullptr);
}

TEST(ApiArguments, OutOfRangeAreRefusedAndLeaveTheBarrierAsItWas) {
  const BarrierHandle barrier = create(attributes_of(1));
  EXPECT_EQ(hierbar_barrier_wait(barrier.get(), 1), HIERBAR_ERR_INVALID);
  EXPECT_EQ(hierbar_barrier_wait(barrier.get(), ~0U), HIERBAR_ERR_INVALID);
  EXPECT_EQ(hierbar_barrier_wait_bits(barrier.get(), 1, 0, nullptr), HIERBAR_ERR_INVALID);
  EXPECT_EQ(hierbar_barrier_wait_bits(barrier.get(), 0, HIERBAR_BITS_MASK + 1, nullptr),
            HIERBAR_ERR_INVALID);
  EXPECT_EQ(hierbar_barrier_gather(barrier.get(), 0, HIERBAR_BITS_MASK + 1, nullptr),
            HIERBAR_ERR_INVALID);
  EXPECT_EQ(hierbar_barrier_release(barrier.get(), 1, 0, nullptr), HIERBAR_ERR_INVALID);
  EXPECT_EQ(hierbar_barrier_describe(barrier.get(), nullptr, nullptr), HIERBAR_ERR_INVALID);
  std::uint32_t bits = 0;
  EXPECT_EQ(hierbar_barrier_wait_bits(barrier.get(), 0, HIERBAR_BITS_MASK, &bits), HIERBAR_OK);
  EXPECT_EQ(bits, HIERBAR_BITS_MASK);
}

TEST(ApiMemory, RunningOutIsAStatus) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need more address space than the limit that this test sets";
#endif
  EXPECT_TRUE(Child([] {
                rlimit limit{};
                getrlimit(RLIMIT_AS, &limit);
                limit.rlim_cur = 60 << 20;
                setrlimit(RLIMIT_AS, &limit);
                const hierbar_attributes attributes = attributes_of(1U << 20);
                hierbar_barrier* barrier = nullptr;
                return hierbar_barrier_create(&attributes, &barrier) == HIERBAR_ERR_NO_MEMORY &&
                       create(attributes_of(2)) != nullptr;
              }).join());
}

TEST(ApiArguments, OfAttachAreChecked) {
  const SharedBarrier shared(attributes_of(2));
  hierbar_waiting waiting = kWaitings[0].waiting;
  EXPECT_NE(shared.attach_at(shared.memory().get(), &waiting), nullptr);
  waiting.yields = -2;
  hierbar_barrier* barrier = nullptr;
  EXPECT_EQ(
      hierbar_barrier_attach(shared.memory().get(), shared.memory().size(), &waiting, &barrier),
      HIERBAR_ERR_INVALID);
}

TEST(ApiDescription, TellsWhatTheBarrierIs) {
  const BarrierHandle barrier = create(attributes_of(3, {0, 7, 2'000'000, nullptr, nullptr}));
  Lines lines;
  EXPECT_EQ(hierbar_barrier_describe(barrier.get(), append_line, &lines), HIERBAR_OK);
  EXPECT_EQ(hierbar_barrier_num_participants(barrier.get()), 3U);
  EXPECT_THAT(lines, Contains(AllOf(HasSubstr("participants: 3;"), HasSubstr("private memory"))));
  EXPECT_THAT(lines, Contains(AllOf(HasSubstr("7 yields"), HasSubstr("2000 us"))));
  EXPECT_THAT(lines, Contains("engine: 3 participants, depth 1 line transfer"));
}

TEST(ApiDescription, SaysThatOversubscribedParticipantsDoNotSpin) {
  const std::uint32_t cpu = 0;
  const std::vector<hierbar_cpuset> on_one_cpu(2, hierbar_cpuset{&cpu, nullptr, 1, 0});
  hierbar_attributes attributes = attributes_of(2);
  attributes.cpusets = on_one_cpu.data();
  const BarrierHandle barrier = create(attributes);
  Lines lines;
  hierbar_barrier_describe(barrier.get(), append_line, &lines);
  EXPECT_THAT(lines, Contains(HasSubstr("participants: 2; cpus: 1;")));
  EXPECT_THAT(lines, Contains(HasSubstr("no spinning, more participants than cpus; 40000 yields")));
}

TEST(ApiDescription, SpinsWhenEveryParticipantHasACpu) {
  const Cpusets cpusets(1);
  hierbar_attributes attributes = attributes_of(1);
  attributes.cpusets = cpusets.data();
  const BarrierHandle barrier = create(attributes);
  Lines lines;
  hierbar_barrier_describe(barrier.get(), append_line, &lines);
  EXPECT_THAT(lines, Contains(HasSubstr("4000 polls")));
}

TEST(ApiDescription, CountsOnlyCpusThatAreThere) {
  const std::vector<std::uint64_t> all_ones(16, ~std::uint64_t{0});
  const std::vector<hierbar_cpuset> anywhere(1000, hierbar_cpuset{nullptr, all_ones.data(), 0, 16});
  hierbar_attributes attributes = attributes_of(1000);
  attributes.cpusets = anywhere.data();
  const BarrierHandle barrier = create(attributes);
  Lines lines;
  hierbar_barrier_describe(barrier.get(), append_line, &lines);
  EXPECT_THAT(lines,
              Contains(HasSubstr("cpus: " + std::to_string(sysconf(_SC_NPROCESSORS_ONLN)) + ";")));
}

TEST(ApiStatus, HasATextOfItsOwn) {
  std::set<std::string> texts;
  for (int status = HIERBAR_OK; status <= HIERBAR_ERR_TOO_LARGE; ++status) {
    texts.insert(hierbar_status_text(static_cast<hierbar_status>(status)));
  }
  EXPECT_EQ(texts.size(), HIERBAR_ERR_TOO_LARGE + 1U);
  EXPECT_FALSE(texts.contains("unknown status"));
  EXPECT_STREQ(hierbar_status_text(static_cast<hierbar_status>(HIERBAR_ERR_TOO_LARGE + 1)),
               "unknown status");
}

TEST(ApiInC, Works) { EXPECT_EQ(barrier_used_in_c(), 0); }

}  // namespace
}  // namespace hierbar::test
