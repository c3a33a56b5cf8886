// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Collectives of threads through the C API: what they give, bit by bit, what they refuse, and how
// they end. Data are plain, so that ThreadSanitizer has a say.

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <complex>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "bench/common/random.hpp"
#include "tests/api/api_support.hpp"
#include "tests/barrier/collective_subject.hpp"
#include "tests/barrier/one_way_subject.hpp"

namespace hierbar::test {
namespace {

constexpr std::size_t kMostDoubles = HIERBAR_MAX_COLLECTIVE_BYTES / sizeof(double);
constexpr std::uint8_t kGuard = 0xa5;

// The value of an element: of many magnitudes, so that another order of a sum has other bits.
double value_of(std::uint64_t episode, std::uint32_t participant, std::size_t i) {
  const std::uint64_t drawn = mix(episode * 100'003 + participant * 1009 + i);
  const double scale = static_cast<double>(std::uint64_t{1} << drawn % 40);
  return (static_cast<double>(drawn >> 32) - 2e9) * scale;
}

std::vector<double> values_of(std::uint64_t episode, std::uint32_t participant, std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = value_of(episode, participant, i);
  return values;
}

// As hierbar_allreduce() says: eight from left to right, then the results of each eight.
std::vector<double> sums_of(std::uint64_t episode, std::uint32_t num_participants,
                            std::size_t count) {
  std::vector<double> sums(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::uint32_t first = 0; first < num_participants; first += 8) {
      double block = value_of(episode, first, i);
      for (std::uint32_t p = first + 1; p < std::min(first + 8, num_participants); ++p)
        block += value_of(episode, p, i);
      sums[i] = first == 0 ? block : sums[i] + block;
    }
  }
  return sums;
}

// One element of each size at which the values take another way, and some between.
std::size_t count_of(std::uint64_t episode) {
  constexpr std::size_t kCounts[] = {1, 2, 3, 4, 5, 12, 13, 40, 96, 193, 0, kMostDoubles};
  return kCounts[episode % std::size(kCounts)];
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

// Whether an allreduce of participant `me` gives the sums, and writes nothing behind them.
bool sums_come(hierbar_barrier* barrier, std::uint32_t me, std::uint64_t episode) {
  const std::size_t count = count_of(episode);
  const bool in_place = mix(episode) % 2 == 0;
  const std::vector<double> in = values_of(episode, me, count);
  std::vector<double> out = in_place ? in : std::vector<double>(count);
  out.resize(count + 1);
  std::uint8_t* const guard = reinterpret_cast<std::uint8_t*>(out.data() + count);
  std::memset(guard, kGuard, sizeof(double));
  const void* from = in_place ? out.data() : in.data();
  if (hierbar_allreduce(barrier, me, from, out.data(), count, HIERBAR_DOUBLE, HIERBAR_SUM) !=
      HIERBAR_OK)
    return false;
  if (std::any_of(guard, guard + sizeof(double), [](std::uint8_t b) { return b != kGuard; }))
    return false;
  out.resize(count);
  return same_bits(out, sums_of(episode, hierbar_barrier_num_participants(barrier), count));
}

// Whether the data of the root come.
bool data_come(hierbar_barrier* barrier, std::uint32_t me, std::uint64_t episode) {
  const std::size_t count = count_of(episode);
  const auto root =
      static_cast<std::uint32_t>(mix(episode) % hierbar_barrier_num_participants(barrier));
  std::vector<double> data =
      me == root ? values_of(episode, root, count) : std::vector<double>(count);
  return hierbar_bcast(barrier, me, root, data.data(), count * sizeof(double)) == HIERBAR_OK &&
         same_bits(data, values_of(episode, root, count));
}

// x -> scale * x + shift, modulo 2^64. To combine two of them is associative, not commutative.
struct Map {
  std::uint64_t scale;
  std::uint64_t shift;
};
Map map_of(std::uint64_t episode, std::uint32_t participant, std::size_t i) {
  const std::uint64_t drawn = mix(episode * 7919 + participant * 31 + i);
  return {drawn | 1, drawn >> 7};
}
Map then(const Map& left, const Map& right) {
  return {left.scale * right.scale, left.shift * right.scale + right.shift};
}
void combine_maps(void* context, void* left, const void* right, std::size_t count) {
  auto* const to = static_cast<Map*>(left);
  for (std::size_t i = 0; i < count; ++i) to[i] = then(to[i], static_cast<const Map*>(right)[i]);
  static_cast<std::atomic<std::uint32_t>*>(context)->fetch_add(1, std::memory_order_relaxed);
}

// Whether the maps of all participants are combined from left to right.
bool maps_come(hierbar_barrier* barrier, std::uint32_t me, std::uint64_t episode) {
  const std::size_t count = std::min<std::size_t>(count_of(episode), 256);
  std::vector<Map> maps(count);
  for (std::size_t i = 0; i < count; ++i) maps[i] = map_of(episode, me, i);
  std::atomic<std::uint32_t> num_calls = 0;
  if (hierbar_allreduce_with(barrier, me, maps.data(), maps.data(), count, sizeof(Map),
                             combine_maps, &num_calls) != HIERBAR_OK)
    return false;
  for (std::size_t i = 0; i < count; ++i) {
    Map expected = map_of(episode, 0, i);
    for (std::uint32_t p = 1; p < hierbar_barrier_num_participants(barrier); ++p)
      expected = then(expected, map_of(episode, p, i));
    if (maps[i].scale != expected.scale || maps[i].shift != expected.shift) return false;
  }
  return true;
}

// All participants call all kinds of episodes in the same order. Returns how many went wrong.
std::uint32_t play(hierbar_barrier* barrier, std::uint32_t num_episodes) {
  std::atomic<std::uint32_t> errors = 0;
  run_threads(hierbar_barrier_num_participants(barrier), [&](std::uint32_t me) {
    for (std::uint64_t episode = 0; episode < num_episodes; ++episode) {
      bool right = true;
      switch (mix(episode + 17) % 8) {
        case 0:
          right = hierbar_barrier_wait(barrier, me) == HIERBAR_OK;
          break;
        case 1:
        case 2:
          right = data_come(barrier, me, episode);
          break;
        case 3:
          right = maps_come(barrier, me, episode);
          break;
        default:
          right = sums_come(barrier, me, episode);
      }
      if (!right) ++errors;
    }
  });
  return errors;
}

class CollectivesOfApi : public testing::TestWithParam<std::tuple<std::uint32_t, std::size_t>> {
 protected:
  CollectivesOfApi()
      : cpusets_(count()),
        attributes_(with_collectives(count(), kWaitings[std::get<1>(GetParam())].waiting)) {
    attributes_.cpusets = cpusets_.data();
  }
  static std::uint32_t count() { return std::get<0>(GetParam()); }

  Cpusets cpusets_;
  hierbar_attributes attributes_;
};

TEST_P(CollectivesOfApi, GiveTheSameBitsToAll) {
  const BarrierHandle barrier = create(attributes_);
  ASSERT_NE(barrier, nullptr);
  EXPECT_EQ(play(barrier.get(), 300), 0U);
}

TEST_P(CollectivesOfApi, EndWhenAborted) {
  const BarrierHandle barrier = create(attributes_);
  ASSERT_NE(barrier, nullptr);
  std::vector<hierbar_status> first(count(), HIERBAR_OK);
  std::vector<hierbar_status> later(count(), HIERBAR_OK);
  run_threads(count(), [&](std::uint32_t me) {
    double value = 1;
    if (me == count() - 1) hierbar_barrier_abort(barrier.get());
    first[me] =
        hierbar_allreduce(barrier.get(), me, &value, &value, 1, HIERBAR_DOUBLE, HIERBAR_SUM);
    later[me] = hierbar_bcast(barrier.get(), me, 0, &value, sizeof value);
  });
  EXPECT_THAT(first, testing::Each(HIERBAR_ABORTED));
  EXPECT_THAT(later, testing::Each(HIERBAR_ABORTED));
}

INSTANTIATE_TEST_SUITE_P(Teams, CollectivesOfApi,
                         testing::Combine(testing::Values(1U, 2U, 3U, 4U, 5U, 8U, 17U),
                                          testing::Range<std::size_t>(0, std::size(kWaitings))),
                         [](const auto& instance) {
                           return std::to_string(std::get<0>(instance.param)) + "_" +
                                  kWaitings[std::get<1>(instance.param)].name;
                         });

// The engine serves them beside each of the baselines, and on its plan for the paper's groups.
TEST(CollectivesOfApiThreads, WorkWhateverTheAlgorithmIs) {
  for (const NamedAlgorithm& algorithm : kAlgorithms) {
    const std::string name(algorithm.name);
    SCOPED_TRACE(name);
    const Cpusets cpusets(9);
    hierbar_attributes attributes = with_collectives(9);
    attributes.algorithm = name.c_str();
    attributes.cpusets = cpusets.data();
    std::vector<std::string> lines;
    attributes.report = append_line;
    attributes.report_context = &lines;
    const BarrierHandle barrier = create(attributes);
    ASSERT_NE(barrier, nullptr);
    EXPECT_EQ(play(barrier.get(), 60), 0U);
  }
}

// On one cpu, on eight, and anywhere: three plans, one result, which sums_come() knows.
TEST(CollectivesOfApiThreads, GiveTheSameBitsUnderOtherPlans) {
  const std::uint32_t cpu = 0;
  const std::vector<hierbar_cpuset> on_one_cpu(12, hierbar_cpuset{&cpu, nullptr, 1, 0});
  const Cpusets on_eight(12);
  for (const hierbar_cpuset* cpusets :
       {on_one_cpu.data(), on_eight.data(), static_cast<const hierbar_cpuset*>(nullptr)}) {
    hierbar_attributes attributes = with_collectives(12);
    attributes.cpusets = cpusets;
    const BarrierHandle barrier = create(attributes);
    ASSERT_NE(barrier, nullptr);
    EXPECT_EQ(play(barrier.get(), 100), 0U);
  }
}

// The last one comes when all others sleep.
TEST(CollectivesOfApiThreads, WakeTheSleepers) {
  for (const std::uint32_t count : {2U, 4U, 9U}) {
    const Cpusets cpusets(count);
    hierbar_attributes attributes = with_collectives(count, kSleeping);
    attributes.cpusets = cpusets.data();
    const SharedBarrier shared(attributes);
    const BarrierHandle barrier = shared.attach();
    ASSERT_NE(barrier, nullptr);
    run_threads(count, [&](std::uint32_t me) {
      for (std::uint64_t episode = 0; episode < 24; ++episode) {
        const auto late = static_cast<std::uint32_t>(episode % count);
        for (std::uint32_t p = 0; me == late && p < count; ++p) {
          if (p != late) shared.await_parked(p);
        }
        EXPECT_TRUE(sums_come(barrier.get(), me, episode)) << me << " in " << episode;
        if (me == 0) {  // the root, for which the others wait
          for (std::uint32_t p = 1; p < count; ++p) shared.await_parked(p);
        }
        std::uint64_t number = me == 0 ? episode : 0;
        EXPECT_EQ(hierbar_bcast(barrier.get(), me, 0, &number, sizeof number), HIERBAR_OK);
        EXPECT_EQ(number, episode);
      }
    });
  }
}

// A progress that gives up while a participant is missing ends the call of all.
TEST(CollectivesOfApiThreads, AreAbortedByAProgress) {
  std::atomic<int> num_calls = 0;
  const auto give_up = [](void* calls) {
    return ++*static_cast<std::atomic<int>*>(calls) == 7 ? 1 : 0;
  };
  const BarrierHandle barrier = create(with_collectives(3, {0, 0, 100'000, give_up, &num_calls}));
  run_threads(2, [&](std::uint32_t me) {
    std::int32_t number = 1;
    EXPECT_EQ(hierbar_allreduce(barrier.get(), me, &number, &number, 1, HIERBAR_INT32, HIERBAR_MAX),
              HIERBAR_ABORTED);
  });
  std::int32_t number = 1;
  EXPECT_EQ(hierbar_bcast(barrier.get(), 2, 2, &number, sizeof number), HIERBAR_ABORTED);
}

// The counters of all participants as they are long after the start.
template <class Subject>
void start_late(const Subject& subject, const hierbar_plan& plan, std::byte* memory,
                std::size_t size) {
  // The subject has a barrier behind its memory, which the segment has not there.
  const SharedMemory started(subject.template size_bytes<ApiMem>(plan));
  subject.template start<ApiMem>(plan, started.get(), Epoch{0} - 5 * kEpochOne,
                                 [](ApiMem::Word& word, std::uint64_t value) { word = value; });
  std::memcpy(memory, started.get(), size);
}

TEST(CollectivesOfApiThreads, GoOnWhenTheCountersWrapAround) {
  for (const std::uint32_t count : {1U, 2U, 4U, 9U}) {
    const Cpusets cpusets(count);
    hierbar_attributes attributes = with_collectives(count);
    attributes.cpusets = cpusets.data();
    const SharedBarrier shared(attributes);
    ASSERT_EQ(shared.status(), HIERBAR_OK);
    const hierbar_plan plan = shared.plan();
    const std::size_t size = Collectives<ApiMem>::size_bytes(plan);
    std::byte* const one_way =
        shared.memory().bytes() + shared.header().nodes_offset - OneWay<ApiMem>::size_bytes(plan);
    start_late(CollectiveSubject{}, plan, one_way - size, size);
    start_late(OneWaySubject{}, plan, one_way, OneWay<ApiMem>::size_bytes(plan));
    const BarrierHandle barrier = shared.attach();
    ASSERT_NE(barrier, nullptr);
    EXPECT_EQ(play(barrier.get(), 60), 0U);
  }
}

// Each element that has the operation gives what the language gives for three and five.
template <class T>
void expect_result(hierbar_barrier* barrier, hierbar_element element, hierbar_operation operation,
                   T expected) {
  run_threads(2, [&](std::uint32_t me) {
    const T in = static_cast<T>(me == 0 ? 3 : 5);
    T out{};
    EXPECT_EQ(hierbar_allreduce(barrier, me, &in, &out, 1, element, operation), HIERBAR_OK)
        << element << ' ' << operation;
    EXPECT_EQ(out, expected) << element << ' ' << operation;
  });
}

template <class T>
void expect_results_of_real(hierbar_barrier* barrier, hierbar_element element) {
  expect_result<T>(barrier, element, HIERBAR_SUM, 8);
  expect_result<T>(barrier, element, HIERBAR_PROD, 15);
  expect_result<T>(barrier, element, HIERBAR_MAX, 5);
  expect_result<T>(barrier, element, HIERBAR_MIN, 3);
}

template <class T>
void expect_results_of_integer(hierbar_barrier* barrier, hierbar_element element) {
  expect_results_of_real<T>(barrier, element);
  expect_result<T>(barrier, element, HIERBAR_LAND, 1);
  expect_result<T>(barrier, element, HIERBAR_LOR, 1);
  expect_result<T>(barrier, element, HIERBAR_LXOR, 0);
  expect_result<T>(barrier, element, HIERBAR_BAND, 1);
  expect_result<T>(barrier, element, HIERBAR_BOR, 7);
  expect_result<T>(barrier, element, HIERBAR_BXOR, 6);
}

TEST(CollectivesOfApiThreads, KnowAllElements) {
  const BarrierHandle handle = create(with_collectives(2));
  hierbar_barrier* const barrier = handle.get();
  expect_results_of_integer<std::int8_t>(barrier, HIERBAR_INT8);
  expect_results_of_integer<std::int16_t>(barrier, HIERBAR_INT16);
  expect_results_of_integer<std::int32_t>(barrier, HIERBAR_INT32);
  expect_results_of_integer<std::int64_t>(barrier, HIERBAR_INT64);
  expect_results_of_integer<std::uint8_t>(barrier, HIERBAR_UINT8);
  expect_results_of_integer<std::uint16_t>(barrier, HIERBAR_UINT16);
  expect_results_of_integer<std::uint32_t>(barrier, HIERBAR_UINT32);
  expect_results_of_integer<std::uint64_t>(barrier, HIERBAR_UINT64);
  expect_results_of_real<float>(barrier, HIERBAR_FLOAT);
  expect_results_of_real<double>(barrier, HIERBAR_DOUBLE);
  expect_results_of_real<long double>(barrier, HIERBAR_LONG_DOUBLE);
  expect_result<std::complex<float>>(barrier, HIERBAR_FLOAT_COMPLEX, HIERBAR_SUM, 8);
  expect_result<std::complex<double>>(barrier, HIERBAR_DOUBLE_COMPLEX, HIERBAR_PROD, 15);
  expect_result<std::complex<long double>>(barrier, HIERBAR_LONG_DOUBLE_COMPLEX, HIERBAR_SUM, 8);
  expect_result<bool>(barrier, HIERBAR_BOOL, HIERBAR_LAND, true);
  expect_result<bool>(barrier, HIERBAR_BOOL, HIERBAR_LXOR, false);
}

// The calls of one participant, by a barrier of one.
struct Caller {
  explicit Caller(const hierbar_attributes& attributes) : barrier(create(attributes)) {}

  hierbar_status reduce(std::size_t count, int element = HIERBAR_DOUBLE,
                        int operation = HIERBAR_SUM) {
    return hierbar_allreduce(barrier.get(), 0, numbers, numbers, count,
                             static_cast<hierbar_element>(element),
                             static_cast<hierbar_operation>(operation));
  }

  BarrierHandle barrier;
  double numbers[kMostDoubles + 1] = {};
};

TEST(CollectivesOfApiThreads, RefuseWhatIsWrong) {
  Caller caller(with_collectives(1));
  hierbar_barrier* const barrier = caller.barrier.get();
  ASSERT_NE(barrier, nullptr);
  double* const data = caller.numbers;
  EXPECT_EQ(caller.reduce(kMostDoubles), HIERBAR_OK);
  EXPECT_EQ(caller.reduce(kMostDoubles + 1), HIERBAR_ERR_TOO_LARGE);
  EXPECT_EQ(caller.reduce(~std::size_t{0} / 8 + 2), HIERBAR_ERR_TOO_LARGE) << "8 bytes, modulo";
  EXPECT_EQ(caller.reduce(1, 15), HIERBAR_ERR_INVALID);
  EXPECT_EQ(caller.reduce(1, HIERBAR_INT8, 10), HIERBAR_ERR_INVALID);
  EXPECT_EQ(caller.reduce(1, HIERBAR_DOUBLE, HIERBAR_BAND), HIERBAR_ERR_INVALID);
  EXPECT_EQ(caller.reduce(1, HIERBAR_BOOL, HIERBAR_SUM), HIERBAR_ERR_INVALID);
  EXPECT_EQ(hierbar_allreduce(barrier, 1, data, data, 1, HIERBAR_DOUBLE, HIERBAR_SUM),
            HIERBAR_ERR_INVALID);
  EXPECT_EQ(hierbar_allreduce(nullptr, 0, data, data, 1, HIERBAR_DOUBLE, HIERBAR_SUM),
            HIERBAR_ERR_INVALID);
  EXPECT_EQ(hierbar_allreduce(barrier, 0, nullptr, data, 1, HIERBAR_DOUBLE, HIERBAR_SUM),
            HIERBAR_ERR_INVALID);
  EXPECT_EQ(hierbar_allreduce(barrier, 0, data, nullptr, 1, HIERBAR_DOUBLE, HIERBAR_SUM),
            HIERBAR_ERR_INVALID);
  EXPECT_EQ(hierbar_allreduce(barrier, 0, nullptr, nullptr, 0, HIERBAR_DOUBLE, HIERBAR_SUM),
            HIERBAR_OK);
  EXPECT_EQ(hierbar_allreduce_with(barrier, 0, data, data, 1, 0, combine_maps, nullptr),
            HIERBAR_ERR_INVALID);
  EXPECT_EQ(hierbar_allreduce_with(barrier, 0, data, data, 1, 8, nullptr, nullptr),
            HIERBAR_ERR_INVALID);
  EXPECT_EQ(hierbar_allreduce_with(barrier, 0, data, data, 2, 4000, combine_maps, nullptr),
            HIERBAR_ERR_TOO_LARGE);
  EXPECT_EQ(hierbar_bcast(barrier, 0, 0, data, HIERBAR_MAX_COLLECTIVE_BYTES), HIERBAR_OK);
  EXPECT_EQ(hierbar_bcast(barrier, 0, 0, data, HIERBAR_MAX_COLLECTIVE_BYTES + 1),
            HIERBAR_ERR_TOO_LARGE);
  EXPECT_EQ(hierbar_bcast(barrier, 0, 1, data, 8), HIERBAR_ERR_INVALID);
  EXPECT_EQ(hierbar_bcast(barrier, 1, 0, data, 8), HIERBAR_ERR_INVALID);
  EXPECT_EQ(hierbar_bcast(barrier, 0, 0, nullptr, 8), HIERBAR_ERR_INVALID);
  EXPECT_EQ(hierbar_bcast(nullptr, 0, 0, data, 8), HIERBAR_ERR_INVALID);
}

// The root waits for nobody, so one thread can make the calls of both.
TEST(CollectivesOfApiThreads, NoticeThatAReaderOfABcastWantsAnotherSize) {
  const BarrierHandle barrier = create(with_collectives(2));
  ASSERT_NE(barrier, nullptr);
  const std::vector<std::uint64_t> brought(400, 7);
  const auto bcast = [&](std::size_t root_count, std::vector<std::uint64_t>& read,
                         std::size_t count) {
    std::vector<std::uint64_t> own = brought;
    EXPECT_EQ(hierbar_bcast(barrier.get(), 0, 0, own.data(), root_count * 8), HIERBAR_OK);
    read.assign(own.size(), 0);
    return hierbar_bcast(barrier.get(), 1, 0, read.data(), count * 8);
  };
  std::vector<std::uint64_t> read;
  for (const auto& [root_count, count] :
       {std::pair{1, 10}, {10, 1}, {10, 400}, {400, 10}, {0, 1}}) {
    EXPECT_EQ(bcast(root_count, read, count), HIERBAR_ERR_INVALID) << root_count << " " << count;
    EXPECT_EQ(std::count(read.begin(), read.end(), 7), std::min(root_count, count));
    EXPECT_EQ(bcast(count, read, count), HIERBAR_OK);
  }
}

TEST(CollectivesOfApiThreads, HaveToBeAskedFor) {
  Caller caller(attributes_of(1));
  EXPECT_EQ(caller.reduce(1), HIERBAR_ERR_UNSUPPORTED);
  EXPECT_EQ(hierbar_bcast(caller.barrier.get(), 0, 0, caller.numbers, 8), HIERBAR_ERR_UNSUPPORTED);
  std::vector<std::string> lines;
  const Caller with(with_collectives(1));
  hierbar_barrier_describe(with.barrier.get(), append_line, &lines);
  EXPECT_THAT(lines, testing::Contains("collectives: of at most 4096 bytes"));
}

}  // namespace
}  // namespace hierbar::test
