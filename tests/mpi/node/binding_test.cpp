// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/node/binding.hpp"

#include <gtest/gtest.h>

#include <initializer_list>

namespace hierbar::mpi {
namespace {

Binding on(std::initializer_list<int> cpus) {
  Binding binding{};
  binding.num_words = static_cast<std::uint32_t>(binding.bits.size());
  for (const int cpu : cpus) binding.bits[cpu / 64] |= std::uint64_t{1} << cpu % 64;
  return binding;
}

TEST(Binding, OwnBindingNamesAtLeastOneCpu) {
  const Binding own = read_own_binding();
  EXPECT_EQ(own.num_words, own.bits.size());
  EXPECT_GE(own.num_cpus(), 1u);
  EXPECT_TRUE(own.is_inside(own));
}

TEST(OutnumberCpus, EveryRankWithACpuOfItsOwnIsFine) {
  EXPECT_FALSE(outnumber_cpus({on({0}), on({1}), on({700})}));
  EXPECT_FALSE(outnumber_cpus({on({0, 1}), on({0, 1})}));
  EXPECT_FALSE(outnumber_cpus({}));
}

TEST(OutnumberCpus, UnboundRanksThatAreMoreThanTheCpusMustShare) {
  EXPECT_TRUE(outnumber_cpus({on({0, 1}), on({0, 1}), on({0, 1})}));
}

TEST(OutnumberCpus, TwoOnOneCpuMustShareHoweverManyOthersThereAre) {
  EXPECT_TRUE(outnumber_cpus({on({3}), on({3}), on({0, 1, 2, 3, 4, 5, 6, 7})}));
  EXPECT_TRUE(outnumber_cpus({on({0}), on({1}), on({0, 1})}));
}

TEST(OutnumberCpus, UnknownBindingsSayNothing) {
  EXPECT_FALSE(outnumber_cpus({Binding{}, Binding{}, Binding{}}));
  EXPECT_FALSE(outnumber_cpus({on({0}), Binding{}}));
}

TEST(Binding, EndsWithItsWordsWhateverStandsInTheMemory) {
  Binding binding = on({0});
  EXPECT_EQ(binding.num_valid_words(), binding.num_words);
  binding.num_words = 0xFFFF'FFFF;
  EXPECT_EQ(binding.num_valid_words(), binding.bits.size());
}

}  // namespace
}  // namespace hierbar::mpi
