// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fold/fold.hpp"

#include <fenv.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cmath>
#include <complex>
#include <limits>
#include <memory>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "tests/fold/fold_oracle.hpp"

namespace hierbar::test {
namespace {

// Memory with a page behind it that nobody may touch.
class Guarded {
 public:
  static constexpr std::size_t kBytes = 128 * 1024;

  Guarded()
      : begin_(static_cast<std::byte*>(mmap(nullptr, kBytes + kGuard, PROT_READ | PROT_WRITE,
                                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    EXPECT_EQ(mprotect(begin_ + kBytes, kGuard, PROT_NONE), 0);
  }
  ~Guarded() { munmap(begin_, kBytes + kGuard); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  // The last `bytes`, `shift` before the guard.
  std::byte* last(std::size_t bytes, std::ptrdiff_t shift) const {
    return begin_ + kBytes - shift - bytes;
  }

 private:
  static constexpr std::size_t kGuard = 64 * 1024;  // the largest page of our architectures
  std::byte* begin_;
};

constexpr std::uint32_t kMostInputs = 40;
constexpr std::byte kUntouched{0xa5};

class FoldTest : public testing::Test {
 protected:
  // Fills `num_inputs` inputs and folds them; where == num_inputs: into memory of its own, else
  // into that input. Compares with the oracle, and looks at the bytes around the result.
  void check(Operation operation, const ElementInfo& info, std::uint32_t num_inputs,
             std::size_t count, std::uint32_t where) {
    const std::size_t bytes = bytes_of(info.element);
    const void* inputs[kMostInputs];
    for (std::uint32_t k = 0; k < num_inputs; ++k) {
      std::byte* const input = memory_[k].last(count * bytes, shift(k));
      inputs[k] = input;
      for (std::size_t i = 0; i < count; ++i) put_random_element(random_, info, input + i * bytes);
    }
    Bytes wanted;
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<const std::byte*> elements;
      for (std::uint32_t k = 0; k < num_inputs; ++k)
        elements.push_back(static_cast<const std::byte*>(inputs[k]) + i * bytes);
      const Bytes element = expected(operation, info, elements);
      wanted.insert(wanted.end(), element.begin(), element.end());
    }
    const std::uint32_t place = where < num_inputs ? where : kMostInputs;
    std::byte* const out = memory_[place].last(count * bytes, shift(place));
    std::byte* const end = out + count * bytes;
    std::fill(out - kAround, out, kUntouched);
    std::fill(end, end + shift(place), kUntouched);
    find_fold(operation, info.element)(out, inputs, num_inputs, count);
    ASSERT_EQ(std::memcmp(out, wanted.data(), wanted.size()), 0) << "into " << where;
    ASSERT_EQ(std::count(out - kAround, out, kUntouched), kAround);
    ASSERT_EQ(std::count(end, end + shift(place), kUntouched), shift(place));
  }

  // A third ends at the guard; the others show that no address needs to be even.
  static std::ptrdiff_t shift(std::uint32_t k) { return k % 3 == 0 ? 0 : 1 + k % 5; }

  void check_all(Operation operation, const ElementInfo& info) {
    for (std::uint32_t num_inputs = 1; num_inputs <= kMostInputs; ++num_inputs) {
      for (const std::size_t count : counts(num_inputs, info)) {
        SCOPED_TRACE(std::to_string(num_inputs) + " inputs, count " + std::to_string(count));
        check(operation, info, num_inputs, count, num_inputs);
        if (HasFatalFailure()) return;
        check(operation, info, num_inputs, count,
              static_cast<std::uint32_t>(random_() % num_inputs));
        if (HasFatalFailure()) return;
      }
    }
  }

  static std::vector<std::size_t> counts(std::uint32_t num_inputs, const ElementInfo& info) {
    const std::size_t chunk = 512 / bytes_of(info.element);
    std::vector<std::size_t> counts = {1, 2,         3,     7,         8,
                                       9, chunk - 1, chunk, chunk + 1, 2 * chunk + 3};
    if (num_inputs == 2 || num_inputs == 3 || num_inputs == 9) {
      counts.resize(130);
      for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = i + 1;
    }
    return counts;
  }

  static constexpr std::ptrdiff_t kAround = 64;
  Guarded memory_[kMostInputs + 1];
  std::mt19937_64 random_{20};
};

TEST_F(FoldTest, ThereIsAFoldForWhatMpiAllowsAndNoOther) {
  ASSERT_EQ(all_elements().size(), kNumElements);
  ASSERT_EQ(all_operations().size(), kNumOperations);
  for (const ElementInfo& info : all_elements()) {
    for (const auto& [operation, name] : all_operations())
      EXPECT_EQ(find_fold(operation, info.element) != nullptr, is_allowed(operation, info.kind))
          << name << " of " << info.name;
  }
}

TEST_F(FoldTest, ElementsLieBesideEachOther) {
  for (const ElementInfo& info : all_elements()) {
    const std::size_t num_values = info.kind == Kind::kComplex ? 2 : 1;
    EXPECT_EQ(bytes_of(info.element), num_values * info.value_bytes + info.index_bytes)
        << info.name;
  }
}

TEST_F(FoldTest, GivesTheBytesOfTheOracle) {
  for (const ElementInfo& info : all_elements()) {
    for (const auto& [operation, name] : all_operations()) {
      if (find_fold(operation, info.element) == nullptr) continue;
      SCOPED_TRACE(std::string(name) + " of " + info.name);
      check_all(operation, info);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(FoldTest, ManyInputsKeepTheOrder) {
  for (const std::uint32_t num_inputs : {64u, 65u, 100u, 511u, 512u}) {
    std::vector<double> values(num_inputs);
    std::vector<const void*> inputs;
    std::vector<const std::byte*> elements;
    for (double& value : values) {
      put_random_real<double>(random_, false, reinterpret_cast<std::byte*>(&value));
      inputs.push_back(&value);
      elements.push_back(reinterpret_cast<const std::byte*>(&value));
    }
    double sum = 0;
    find_fold(Operation::kSum, Element::kDouble)(&sum, inputs.data(), num_inputs, 1);
    EXPECT_EQ(std::memcmp(&sum, fold_reals<double>(Operation::kSum, elements).data(), sizeof(sum)),
              0);
    // The order is not that of the inputs alone: else the test would show nothing.
    double in_sequence = 0;
    for (const double value : values) in_sequence += value;
    EXPECT_TRUE(num_inputs != 512 || sum != in_sequence);
  }
}

// ---- values at the limits, by hand ----

template <class T>
T fold_of(Operation operation, Element element, std::vector<T> values) {
  std::vector<const void*> inputs;
  for (const T& value : values) inputs.push_back(&value);
  T result{};
  find_fold(operation, element)(&result, inputs.data(), static_cast<std::uint32_t>(inputs.size()),
                                1);
  return result;
}

TEST_F(FoldTest, IntegersWrapAround) {
  using Limits32 = std::numeric_limits<std::int32_t>;
  using Limits64 = std::numeric_limits<std::int64_t>;
  EXPECT_EQ(fold_of<std::int8_t>(Operation::kSum, Element::kInt8, {127, 1}), -128);
  EXPECT_EQ(fold_of<std::int8_t>(Operation::kProd, Element::kInt8, {-128, -1}), -128);
  EXPECT_EQ(fold_of<std::uint16_t>(Operation::kProd, Element::kUint16, {65535, 65535}), 1);
  EXPECT_EQ(fold_of<std::int16_t>(Operation::kSum, Element::kInt16, {-32768, -1, 0}), 32767);
  EXPECT_EQ(fold_of<std::int32_t>(Operation::kSum, Element::kInt32, {Limits32::max(), 1}),
            Limits32::min());
  EXPECT_EQ(fold_of<std::int64_t>(Operation::kProd, Element::kInt64, {Limits64::min(), -1}),
            Limits64::min());
  EXPECT_EQ(fold_of<std::uint64_t>(Operation::kSum, Element::kUint64, {~0ull, 2, 0}), 1u);
}

TEST_F(FoldTest, UnsignedIntegersAreComparedAsUnsigned) {
  EXPECT_EQ(fold_of<std::uint32_t>(Operation::kMax, Element::kUint32, {0x80000000u, 1u}),
            0x80000000u);
  EXPECT_EQ(fold_of<std::uint64_t>(Operation::kMin, Element::kUint64, {1ull << 63, 1ull}), 1u);
  EXPECT_EQ(fold_of<std::int32_t>(Operation::kMax, Element::kInt32, {-5, 1}), 1);
}

TEST_F(FoldTest, TheRightOneRemainsOfTwoThatDoNotCompare) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Operation operation : {Operation::kMax, Operation::kMin}) {
    EXPECT_EQ(fold_of<double>(operation, Element::kDouble, {nan, 1}), 1);
    EXPECT_TRUE(std::isnan(fold_of<double>(operation, Element::kDouble, {1, nan})));
    EXPECT_EQ(fold_of<double>(operation, Element::kDouble, {1, nan, 2}), 2);
    EXPECT_FALSE(std::signbit(fold_of<double>(operation, Element::kDouble, {-0.0, 0.0})));
    EXPECT_TRUE(std::signbit(fold_of<double>(operation, Element::kDouble, {0.0, -0.0})));
  }
}

// Blocks are combined from left to right, too, where that makes a difference.
TEST_F(FoldTest, TheRightBlockRemainsOfTwoThatDoNotCompare) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const std::size_t count : {1u, 20u}) {
    for (const std::uint32_t which : {7u, 11u}) {
      std::vector<std::vector<double>> values(12, std::vector<double>(count, 1.0));
      values[which].assign(count, nan);
      std::vector<const void*> inputs;
      for (const std::vector<double>& input : values) inputs.push_back(input.data());
      std::vector<double> out(count);
      find_fold(Operation::kMax, Element::kDouble)(out.data(), inputs.data(), 12, count);
      for (const double value : out) EXPECT_EQ(std::isnan(value), which == 11) << count;
    }
  }
}

TEST_F(FoldTest, LogicalsKeepTheBitsThatTheCompilerHasForTrue) {
  for (const std::int32_t yes : {1, -1}) {
    EXPECT_EQ(fold_of<std::int32_t>(Operation::kLand, Element::kLogical32, {yes, yes, yes}), yes);
    EXPECT_EQ(fold_of<std::int32_t>(Operation::kLand, Element::kLogical32, {yes, 0, yes}), 0);
    EXPECT_EQ(fold_of<std::int32_t>(Operation::kLor, Element::kLogical32, {0, yes, 0}), yes);
    EXPECT_EQ(fold_of<std::int32_t>(Operation::kLxor, Element::kLogical32, {yes, yes}), 0);
    EXPECT_EQ(fold_of<std::int32_t>(Operation::kLxor, Element::kLogical32, {0, yes}), yes);
    EXPECT_EQ(fold_of<std::int32_t>(Operation::kLxor, Element::kLogical32, {yes, 0}), yes);
  }
  EXPECT_EQ(fold_of<std::int32_t>(Operation::kLand, Element::kInt32, {-7, 9}), 1);
  EXPECT_EQ(fold_of<std::uint8_t>(Operation::kLor, Element::kBool, {0, 2}), 1);
}

struct [[gnu::packed]] DoubleInt {
  double value;
  int index;
  bool operator==(const DoubleInt& other) const {
    return value == other.value && index == other.index;
  }
};

TEST_F(FoldTest, OfPairsWithEqualValuesTheLowerIndexRemains) {
  for (const Operation operation : {Operation::kMinloc, Operation::kMaxloc}) {
    using Pairs = std::vector<DoubleInt>;
    const auto fold = [&](Pairs pairs) {
      return fold_of<DoubleInt>(operation, Element::kDoubleInt, std::move(pairs));
    };
    EXPECT_EQ(fold({{3, 9}, {3, 4}, {3, 7}}), (DoubleInt{3, 4}));
    EXPECT_EQ(fold({{3, -2}, {3, 4}}), (DoubleInt{3, -2}));
    EXPECT_EQ(fold({{0.0, 5}, {-0.0, 4}}), (DoubleInt{0, 4}));
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(fold({{nan, 1}, {2, 8}}), (DoubleInt{2, 8}));
    EXPECT_EQ(fold({{2, 8}, {nan, 1}}).index, 1);
  }
}

TEST_F(FoldTest, NoPaddingOfLongDoublesIsLeftToChance) {
  constexpr std::size_t kBytes = sizeof(long double);  // 16, or 8 on 32-bit Arm
  Bytes one(kBytes, std::byte{0xee}), two(kBytes, std::byte{0x77}), three(kBytes, std::byte{0x11}),
      out(kBytes);
  for (Bytes* const bytes : {&one, &two, &three}) {
    const long double value = 1.5L;
    std::memcpy(bytes->data(), &value,
                std::numeric_limits<long double>::digits == 64 ? 10 : kBytes);
  }
  const void* const inputs[] = {one.data(), two.data(), three.data()};
  for (const std::uint32_t num_inputs : {2u, 3u}) {
    Bytes wanted(kBytes);
    put_real(1.5L * static_cast<long double>(num_inputs), wanted.data());
    find_fold(Operation::kSum, Element::kLongDouble)(out.data(), inputs, num_inputs, 1);
    EXPECT_EQ(out, wanted);
  }
}

// ---- floating-point exceptions ----

// The flags of the instructions of x86 also show denormal operands, which are no exception of C's.
class Exceptions {
 public:
  Exceptions() {
    feclearexcept(FE_ALL_EXCEPT);
#if defined(__x86_64__)
    _mm_setcsr(_mm_getcsr() & ~0x3fu);
    feenableexcept(kTraps);
#endif
  }
  ~Exceptions() {
#if defined(__x86_64__)
    fedisableexcept(kTraps);
#endif
  }
  // Inexact results are no fault.
  bool are_none() const {
#if defined(__x86_64__)
    if ((_mm_getcsr() & 0x02) != 0) return false;
#endif
    return fetestexcept(kTraps) == 0;
  }

 private:
  static constexpr int kTraps = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW;
};

template <class T>
T signaling() {
  T value = std::numeric_limits<T>::signaling_NaN();
  return value;
}

// What stands behind the elements would raise exceptions, was it touched.
template <class T>
void expect_no_exceptions(Operation operation, Element element, std::size_t values_per_element) {
  constexpr std::size_t kMost = 80;
  for (const std::uint32_t num_inputs : {2u, 3u, 9u}) {
    for (std::size_t count = 1; count <= 20; ++count) {
      std::vector<std::vector<T>> values(num_inputs, std::vector<T>(kMost));
      std::vector<const void*> inputs;
      for (std::vector<T>& input : values) {
        for (std::size_t i = 0; i < kMost; ++i) {
          const T behind = i % 2 == 0 ? std::numeric_limits<T>::denorm_min() : signaling<T>();
          const T here = 1;
          // By bytes: an x87 register would make the signaling one quiet.
          std::memcpy(&input[i], i < count * values_per_element ? &here : &behind, sizeof(T));
        }
        inputs.push_back(input.data());
      }
      std::vector<T> out(kMost);
      const FoldFunction fold = find_fold(operation, element);
      bool are_none = false;
      {
        const Exceptions exceptions;
        fold(out.data(), inputs.data(), num_inputs, count);
        are_none = exceptions.are_none();
      }
      ASSERT_TRUE(are_none) << num_inputs << " inputs, count " << count;
    }
  }
}

TEST_F(FoldTest, WhatStandsBehindTheElementsRaisesNoException) {
  for (const Operation operation :
       {Operation::kSum, Operation::kProd, Operation::kMax, Operation::kMin}) {
    expect_no_exceptions<float>(operation, Element::kFloat, 1);
    expect_no_exceptions<double>(operation, Element::kDouble, 1);
    expect_no_exceptions<long double>(operation, Element::kLongDouble, 1);
  }
  for (const Operation operation : {Operation::kSum, Operation::kProd}) {
    expect_no_exceptions<float>(operation, Element::kComplexFloat, 2);
    expect_no_exceptions<double>(operation, Element::kComplexDouble, 2);
    expect_no_exceptions<long double>(operation, Element::kComplexLongDouble, 2);
  }
  for (const Operation operation : {Operation::kMinloc, Operation::kMaxloc}) {
    expect_no_exceptions<float>(operation, Element::kFloatFloat, 2);
    expect_no_exceptions<double>(operation, Element::kDoubleDouble, 2);
  }
}

}  // namespace
}  // namespace hierbar::test
