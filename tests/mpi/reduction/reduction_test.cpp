// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// With the handles of MPICH's family, which are constants: no MPI library is needed.
// tests/mpi/programs/reductions.cpp compares with each library.
#include "mpi/reduction/reduction.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "mpi/library/pmpi.hpp"
#include "mpi/library/predefined.hpp"

namespace hierbar::mpi {
namespace {

const Pmpi pmpi{};

const Reduction* find(MPI_Datatype type, MPI_Op op) { return find_reduction(pmpi, type, op); }

FoldFunction fold_of(MPI_Datatype type, MPI_Op op) {
  const Reduction* const reduction = find(type, op);
  return reduction != nullptr ? reduction->fold : nullptr;
}

const MPI_Op kAllOps[] = {MPI_SUM,  MPI_PROD, MPI_MAX, MPI_MIN,  MPI_LAND,   MPI_LOR,
                          MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC};

TEST(Reduction, TypesOfOneKindAndSizeHaveOneVerdict) {
  const std::vector<std::vector<MPI_Datatype>> kinds = {
      {MPI_SIGNED_CHAR, MPI_INT8_T, MPI_INTEGER1},
      {MPI_SHORT, MPI_INT16_T, MPI_INTEGER2},
      {MPI_INT, MPI_INT32_T, MPI_INTEGER, MPI_INTEGER4},
      {MPI_LONG, MPI_LONG_LONG, MPI_LONG_LONG_INT, MPI_INT64_T, MPI_AINT, MPI_OFFSET, MPI_COUNT,
       MPI_INTEGER8},
      {MPI_UNSIGNED_CHAR, MPI_UINT8_T},
      {MPI_UNSIGNED_SHORT, MPI_UINT16_T},
      {MPI_UNSIGNED, MPI_UINT32_T},
      {MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG, MPI_UINT64_T},
      {MPI_FLOAT, MPI_REAL, MPI_REAL4},
      {MPI_DOUBLE, MPI_DOUBLE_PRECISION, MPI_REAL8},
      {MPI_C_COMPLEX, MPI_C_FLOAT_COMPLEX, MPI_CXX_FLOAT_COMPLEX, MPI_COMPLEX, MPI_COMPLEX8},
      {MPI_C_DOUBLE_COMPLEX, MPI_CXX_DOUBLE_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_COMPLEX16},
      {MPI_C_LONG_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX},
      {MPI_C_BOOL, MPI_CXX_BOOL},
      {MPI_2INT, MPI_2INTEGER}};
  for (const auto& types : kinds) {
    for (const MPI_Op op : kAllOps) {
      for (const MPI_Datatype type : types) EXPECT_EQ(find(type, op), find(types[0], op));
    }
  }
}

TEST(Reduction, HasTheFoldOfTypeAndOperation) {
  EXPECT_EQ(fold_of(MPI_INT, MPI_MAX), find_fold(Operation::kMax, Element::kInt32));
  EXPECT_EQ(fold_of(MPI_UNSIGNED, MPI_MAX), find_fold(Operation::kMax, Element::kUint32));
  EXPECT_EQ(fold_of(MPI_DOUBLE, MPI_SUM), find_fold(Operation::kSum, Element::kDouble));
  EXPECT_EQ(fold_of(MPI_LONG_DOUBLE, MPI_PROD), find_fold(Operation::kProd, Element::kLongDouble));
  EXPECT_EQ(fold_of(MPI_LOGICAL, MPI_LXOR), find_fold(Operation::kLxor, Element::kLogical32));
  EXPECT_EQ(fold_of(MPI_BYTE, MPI_BAND), find_fold(Operation::kBand, Element::kByte));
  EXPECT_EQ(fold_of(MPI_DOUBLE_INT, MPI_MAXLOC),
            find_fold(Operation::kMaxloc, Element::kDoubleInt));
  EXPECT_EQ(fold_of(MPI_2DOUBLE_PRECISION, MPI_MINLOC),
            find_fold(Operation::kMinloc, Element::kDoubleDouble));
  for (const MPI_Op op : kAllOps) {
    // No two operations have one fold.
    for (const MPI_Op other : kAllOps)
      EXPECT_EQ(find(MPI_INT, op) != nullptr && find(MPI_INT, op) == find(MPI_INT, other),
                op == other && op != MPI_MINLOC && op != MPI_MAXLOC);
  }
}

TEST(Reduction, TheLibraryServesWhatIsNotPredefined) {
  const MPI_Datatype derived[] = {static_cast<MPI_Datatype>(0x8c000005),
                                  static_cast<MPI_Datatype>(0xcc000001)};
  for (const MPI_Datatype type : derived) EXPECT_EQ(find(type, MPI_SUM), nullptr);
  EXPECT_EQ(find(MPI_INT, static_cast<MPI_Op>(0x98000000)), nullptr);
  EXPECT_EQ(find(MPI_INT, MPI_OP_NULL), nullptr);
  EXPECT_EQ(find(MPI_DATATYPE_NULL, MPI_SUM), nullptr);
  EXPECT_EQ(find(0, 0), nullptr);
  EXPECT_EQ(find(MPI_INT, MPI_REPLACE), nullptr);
  EXPECT_EQ(find(MPI_INT, MPI_NO_OP), nullptr);
}

TEST(Reduction, TheLibraryServesWhatMpiDoesNotAllow) {
  for (const MPI_Datatype type : {MPI_CHAR, MPI_WCHAR, MPI_CHARACTER, MPI_PACKED}) {
    for (const MPI_Op op : kAllOps) EXPECT_EQ(find(type, op), nullptr);
  }
  EXPECT_EQ(find(MPI_BYTE, MPI_SUM), nullptr);
  EXPECT_EQ(find(MPI_BYTE, MPI_MAX), nullptr);
  EXPECT_EQ(find(MPI_DOUBLE, MPI_LAND), nullptr);
  EXPECT_EQ(find(MPI_DOUBLE, MPI_BAND), nullptr);
  EXPECT_EQ(find(MPI_COMPLEX, MPI_MAX), nullptr);
  EXPECT_EQ(find(MPI_LOGICAL, MPI_SUM), nullptr);
  EXPECT_EQ(find(MPI_LOGICAL, MPI_BAND), nullptr);
  EXPECT_EQ(find(MPI_DOUBLE_INT, MPI_SUM), nullptr);
  EXPECT_EQ(find(MPI_DOUBLE, MPI_MAXLOC), nullptr);
}

TEST(Reduction, AFortranOfOtherSizesHasHandlesOfItsOwn) {
  const auto with_bytes = [](MPI_Datatype type, int bytes) {
    return static_cast<MPI_Datatype>((type & ~0xff00) | bytes << 8);
  };
  for (const MPI_Op op : kAllOps) {
    EXPECT_EQ(find(with_bytes(MPI_INTEGER, 8), op), find(MPI_INT64_T, op));
    EXPECT_EQ(find(with_bytes(MPI_REAL, 8), op), find(MPI_DOUBLE, op));
    EXPECT_EQ(find(with_bytes(MPI_COMPLEX, 16), op), find(MPI_C_DOUBLE_COMPLEX, op));
    EXPECT_EQ(find(with_bytes(MPI_2REAL, 16), op), find(MPI_2DOUBLE_PRECISION, op));
  }
  EXPECT_EQ(fold_of(with_bytes(MPI_LOGICAL, 8), MPI_LAND),
            find_fold(Operation::kLand, Element::kLogical64));
  EXPECT_EQ(fold_of(with_bytes(MPI_2INTEGER, 16), MPI_MAXLOC),
            find_fold(Operation::kMaxloc, Element::kLongLong));
  // MPI_INT has one size only.
  EXPECT_EQ(find(with_bytes(MPI_INT, 8), MPI_SUM), nullptr);
}

TEST(Reduction, SmallIsWhatStaysWithinTheLimit) {
  EXPECT_TRUE(is_small(1, 8, 8));
  EXPECT_TRUE(is_small(512, 8, 4096));
  EXPECT_FALSE(is_small(513, 8, 4096));
  EXPECT_TRUE(is_small(341, 12, 4096));
  EXPECT_FALSE(is_small(342, 12, 4096));
  EXPECT_FALSE(is_small(1, 8, 0));
  EXPECT_FALSE(is_small(0, 8, 4096));
  EXPECT_FALSE(is_small(-1, 8, 4096));
  EXPECT_FALSE(is_small(std::numeric_limits<int>::min(), 1, 4096));
  // These products are 0 or small in 64 bits.
  EXPECT_FALSE(is_small(std::int64_t{1} << 61, 8, 4096));
  EXPECT_FALSE(is_small((std::int64_t{1} << 60) + 1, 16, 4096));
  EXPECT_FALSE(is_small(std::numeric_limits<std::int64_t>::max(), 32, 4096));
}

// ---- pairs with gaps ----

template <class Value>
struct Pair {
  Value value;
  int index;
};

template <class Value>
class GapTest : public testing::Test {};

struct NameOfValue {
  template <class Value>
  static std::string GetName(int) {
    return std::is_same_v<Value, short>    ? "short"
           : std::is_same_v<Value, long>   ? "long"
           : std::is_same_v<Value, double> ? "double"
                                           : "long_double";
  }
};
using ValuesWithGaps = testing::Types<short, long, double, long double>;
TYPED_TEST_SUITE(GapTest, ValuesWithGaps, NameOfValue);

template <class Value>
MPI_Datatype type_of() {
  if (std::is_same_v<Value, short>) return MPI_SHORT_INT;
  if (std::is_same_v<Value, long>) return MPI_LONG_INT;
  return std::is_same_v<Value, double> ? MPI_DOUBLE_INT : MPI_LONG_DOUBLE_INT;
}

// The last pair ends with its index: an access behind it is one behind the array.
TYPED_TEST(GapTest, AreNeitherReadNorWritten) {
  using P = Pair<TypeParam>;
  constexpr std::size_t kCount = 5;
  constexpr std::size_t kBytes = (kCount - 1) * sizeof(P) + offsetof(P, index) + sizeof(int);
  constexpr std::byte kGap{0x5a};
  const Reduction* const maxloc = find(type_of<TypeParam>(), MPI_MAXLOC);
  ASSERT_NE(maxloc, nullptr);
  ASSERT_TRUE(maxloc->has_gaps());
  EXPECT_EQ(maxloc->element_bytes, sizeof(TypeParam) + sizeof(int));
  const auto make = [&](int rank) {
    auto array = std::make_unique<std::byte[]>(kBytes);
    std::fill_n(array.get(), kBytes, kGap);
    for (std::size_t i = 0; i < kCount; ++i) {
      const auto value = static_cast<TypeParam>(rank == static_cast<int>(i) ? 7 : -rank);
      std::memcpy(&array[i * sizeof(P)], &value, sizeof(value));
      std::memcpy(&array[i * sizeof(P) + offsetof(P, index)], &rank, sizeof(rank));
    }
    return array;
  };
  const auto own = make(0), out = make(9);
  std::vector<std::byte> other(kCount * maxloc->element_bytes);
  remove_gaps(maxloc->layout, make(3).get(), other.data(), kCount);
  const int result = cross_without_gaps(*maxloc, {own.get(), kCount, out.get(), kCount},
                                        [&](const void* from, void* to) {
                                          const void* const inputs[] = {from, other.data()};
                                          (*maxloc)(to, inputs, 2, kCount);
                                          return 42;
                                        });
  EXPECT_EQ(result, 42);
  for (std::size_t i = 0; i < kCount; ++i) {
    TypeParam value;
    int index;
    const std::byte* const pair = &out[i * sizeof(P)];
    std::memcpy(&value, pair, sizeof(value));
    std::memcpy(&index, pair + offsetof(P, index), sizeof(index));
    EXPECT_EQ(value, static_cast<TypeParam>(i == 0 || i == 3 ? 7 : 0));
    EXPECT_EQ(index, i == 3 ? 3 : 0);
    for (std::size_t gap = sizeof(value); gap < offsetof(P, index); ++gap)
      EXPECT_EQ(pair[gap], kGap);
    for (std::size_t gap = offsetof(P, index) + sizeof(index); gap < sizeof(P) && i + 1 < kCount;
         ++gap)
      EXPECT_EQ(pair[gap], kGap);
  }
}

TEST(Reduction, OtherElementsAreNotCopied) {
  for (const MPI_Datatype type : {MPI_FLOAT_INT, MPI_2INT, MPI_2REAL, MPI_2DOUBLE_PRECISION}) {
    const Reduction* const reduction = find(type, MPI_MINLOC);
    ASSERT_NE(reduction, nullptr);
    EXPECT_FALSE(reduction->has_gaps());
    int in = 0, out = 0;
    EXPECT_TRUE(cross_without_gaps(*reduction, {&in, 1, &out, 1}, [&](const void* from, void* to) {
      return from == &in && to == &out;
    }));
  }
}

// ---- look-up ----

// Run alone, it also has the threads make the table at the same time.
TEST(Reduction, EveryThreadFindsTheSame) {
  std::array<const Reduction*, 4> sums{}, maxima{};
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < sums.size(); ++thread) {
    threads.emplace_back([&, thread] {
      const Reduction* const sum = sums[thread] = find(MPI_DOUBLE, MPI_SUM);
      const Reduction* const max = maxima[thread] = find(MPI_INT, MPI_MAX);
      for (int round = 0; round < 1000; ++round) {
        EXPECT_EQ(find(MPI_DOUBLE, MPI_SUM), sum);
        EXPECT_EQ(find(MPI_DOUBLE, MPI_SUM), sum);
        EXPECT_EQ(find(MPI_INT, MPI_MAX), max);
        EXPECT_EQ(find(MPI_CHAR, MPI_MAX), nullptr);
        EXPECT_EQ(find(MPI_CHAR, MPI_MAX), nullptr);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_NE(sums[0], nullptr);
  EXPECT_NE(sums[0], maxima[0]);
  for (const Reduction* const sum : sums) EXPECT_EQ(sum, sums[0]);
  for (const Reduction* const max : maxima) EXPECT_EQ(max, maxima[0]);
}

TEST(Reduction, KnowsEveryTypeOfTheTable) {
  const PredefinedHandles predefined = find_predefined(MpiSymbols(nullptr));
  EXPECT_EQ(predefined.ops.size(), kNumOperations);
  std::map<std::string, bool> is_known;
  for (const NamedType& type : predefined.types) {
    for (const NamedOp& op : predefined.ops)
      is_known[type.name] |= find(type.handle, op.handle) != nullptr;
  }
  EXPECT_GE(is_known.size(), 60u);
  // C's long double on some architectures only.
  is_known.erase("MPI_REAL16");
  is_known.erase("MPI_COMPLEX32");
  for (const auto& [name, known] : is_known) EXPECT_TRUE(known) << name;
}

}  // namespace
}  // namespace hierbar::mpi
