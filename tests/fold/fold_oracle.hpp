// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "fold/fold.hpp"

// What a fold must give, by another way than that of runtime/fold: integers in 64 bits and in no
// order, floating-point numbers one by one in the order that fold.hpp promises.
namespace hierbar::test {

enum class Kind { kSigned, kUnsigned, kReal, kComplex, kLogical, kBytes, kPair };

struct ElementInfo {
  Element element;
  const char* name;
  Kind kind;
  std::size_t value_bytes;  // of a complex number's part, and of a pair's value
  bool is_real;             // the value is a floating-point number
  std::size_t index_bytes = 0;
};

inline const std::vector<ElementInfo>& all_elements() {
  static const std::vector<ElementInfo> all = {
      {Element::kInt8, "int8", Kind::kSigned, 1, false},
      {Element::kInt16, "int16", Kind::kSigned, 2, false},
      {Element::kInt32, "int32", Kind::kSigned, 4, false},
      {Element::kInt64, "int64", Kind::kSigned, 8, false},
      {Element::kUint8, "uint8", Kind::kUnsigned, 1, false},
      {Element::kUint16, "uint16", Kind::kUnsigned, 2, false},
      {Element::kUint32, "uint32", Kind::kUnsigned, 4, false},
      {Element::kUint64, "uint64", Kind::kUnsigned, 8, false},
      {Element::kFloat, "float", Kind::kReal, 4, true},
      {Element::kDouble, "double", Kind::kReal, 8, true},
      {Element::kLongDouble, "long_double", Kind::kReal, sizeof(long double), true},
      {Element::kComplexFloat, "complex_float", Kind::kComplex, 4, true},
      {Element::kComplexDouble, "complex_double", Kind::kComplex, 8, true},
      {Element::kComplexLongDouble, "complex_long_double", Kind::kComplex, sizeof(long double),
       true},
      {Element::kBool, "bool", Kind::kLogical, 1, false},
      {Element::kLogical8, "logical8", Kind::kLogical, 1, false},
      {Element::kLogical16, "logical16", Kind::kLogical, 2, false},
      {Element::kLogical32, "logical32", Kind::kLogical, 4, false},
      {Element::kLogical64, "logical64", Kind::kLogical, 8, false},
      {Element::kByte, "byte", Kind::kBytes, 1, false},
      {Element::kFloatInt, "float_int", Kind::kPair, 4, true, 4},
      {Element::kDoubleInt, "double_int", Kind::kPair, 8, true, 4},
      {Element::kLongDoubleInt, "long_double_int", Kind::kPair, sizeof(long double), true, 4},
      {Element::kShortInt, "short_int", Kind::kPair, 2, false, 4},
      {Element::kIntInt, "int_int", Kind::kPair, 4, false, 4},
      {Element::kLongInt, "long_int", Kind::kPair, sizeof(long), false, 4},
      {Element::kFloatFloat, "float_float", Kind::kPair, 4, true, 4},
      {Element::kDoubleDouble, "double_double", Kind::kPair, 8, true, 8},
      {Element::kLongLong, "long_long", Kind::kPair, 8, false, 8}};
  return all;
}

inline const std::vector<std::pair<Operation, const char*>>& all_operations() {
  static const std::vector<std::pair<Operation, const char*>> all = {
      {Operation::kSum, "sum"},   {Operation::kProd, "prod"},     {Operation::kMax, "max"},
      {Operation::kMin, "min"},   {Operation::kLand, "land"},     {Operation::kLor, "lor"},
      {Operation::kLxor, "lxor"}, {Operation::kBand, "band"},     {Operation::kBor, "bor"},
      {Operation::kBxor, "bxor"}, {Operation::kMinloc, "minloc"}, {Operation::kMaxloc, "maxloc"}};
  return all;
}

// MPI's table of what goes with what.
inline bool is_allowed(Operation operation, Kind kind) {
  const auto is_one_of = [operation](std::initializer_list<Operation> list) {
    return std::find(list.begin(), list.end(), operation) != list.end();
  };
  using enum Operation;
  switch (kind) {
    case Kind::kSigned:
    case Kind::kUnsigned:
      return !is_one_of({kMinloc, kMaxloc});
    case Kind::kReal:
      return is_one_of({kSum, kProd, kMax, kMin});
    case Kind::kComplex:
      return is_one_of({kSum, kProd});
    case Kind::kLogical:
      return is_one_of({kLand, kLor, kLxor});
    case Kind::kBytes:
      return is_one_of({kBand, kBor, kBxor});
    case Kind::kPair:
      return is_one_of({kMinloc, kMaxloc});
  }
  return false;
}

using Bytes = std::vector<std::byte>;

// ---- integers ----

// The lowest bytes of a number, in the machine's order.
inline void put_low_bytes(std::uint64_t bits, std::byte* to, std::size_t bytes) {
  const auto* const first = reinterpret_cast<const std::byte*>(&bits);
  std::memcpy(to, std::endian::native == std::endian::little ? first : first + 8 - bytes, bytes);
}

// An element with its sign in 64 bits, in two's complement.
inline std::uint64_t integer_in(const std::byte* from, std::size_t bytes, bool is_signed) {
  std::uint64_t bits = 0;
  auto* const first = reinterpret_cast<std::byte*>(&bits);
  std::memcpy(std::endian::native == std::endian::little ? first : first + 8 - bytes, from, bytes);
  if (is_signed && bytes < 8 && (bits >> (8 * bytes - 1) & 1) != 0) bits |= ~0ull << (8 * bytes);
  return bits;
}

inline std::uint64_t fold_integers(Operation operation, bool is_signed,
                                   const std::vector<std::uint64_t>& values) {
  const auto num_true = std::count_if(values.begin(), values.end(), [](auto v) { return v != 0; });
  const auto all = static_cast<std::ptrdiff_t>(values.size());
  // Unsigned, which wraps: the lowest bytes are right.
  std::uint64_t sum = 0, product = 1, conjunction = ~0ull, disjunction = 0, difference = 0;
  const auto is_less = [is_signed](std::uint64_t a, std::uint64_t b) {
    return is_signed ? static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b) : a < b;
  };
  for (const std::uint64_t bits : values) {
    sum += bits;
    product *= bits;
    conjunction &= bits;
    disjunction |= bits;
    difference ^= bits;
  }
  switch (operation) {
    case Operation::kSum:
      return sum;
    case Operation::kProd:
      return product;
    case Operation::kMax:
      return *std::max_element(values.begin(), values.end(), is_less);
    case Operation::kMin:
      return *std::min_element(values.begin(), values.end(), is_less);
    case Operation::kLand:
      return num_true == all;
    case Operation::kLor:
      return num_true > 0;
    case Operation::kLxor:
      return num_true % 2;
    case Operation::kBand:
      return conjunction;
    case Operation::kBor:
      return disjunction;
    default:
      return difference;
  }
}

// ---- floating-point numbers ----

// The promised order: blocks of 8, then the blocks.
template <class T, class Combine>
T fold_in_order(const std::vector<T>& values, const Combine& combine) {
  if (values.size() <= 8) {
    T total = values[0];
    for (std::size_t i = 1; i < values.size(); ++i) total = combine(total, values[i]);
    return total;
  }
  T total{};
  for (std::size_t first = 0; first < values.size(); first += 8) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = values.size() - first < 8 ? values.end() : begin + 8;
    const T block = fold_in_order(std::vector<T>(begin, end), combine);
    total = first == 0 ? block : combine(total, block);
  }
  return total;
}

// Volatile: no multiplication is joined with an addition.
template <class T>
T combine_reals(Operation operation, T a, T b) {
  volatile T result = b;
  if (operation == Operation::kSum) result = a + b;
  if (operation == Operation::kProd) result = a * b;
  if (operation == Operation::kMax && a > b) result = a;
  if (operation == Operation::kMin && a < b) result = a;
  return result;
}

template <class T>
std::array<T, 2> combine_complex(Operation operation, std::array<T, 2> a, std::array<T, 2> b) {
  if (operation == Operation::kSum) return {a[0] + b[0], a[1] + b[1]};
  const volatile T products[] = {a[0] * b[0], a[1] * b[1], a[0] * b[1], a[1] * b[0]};
  return {products[0] - products[1], products[2] + products[3]};
}

// What x86 leaves of a long double's 16 bytes is 0.
template <class T>
void put_real(T value, std::byte* to) {
  std::memset(to, 0, sizeof(T));
  std::memcpy(to, &value, std::numeric_limits<T>::digits == 64 ? 10 : sizeof(T));
}

template <class T>
Bytes fold_reals(Operation operation, const std::vector<const std::byte*>& inputs) {
  std::vector<T> values(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) std::memcpy(&values[i], inputs[i], sizeof(T));
  Bytes result(sizeof(T));
  put_real(fold_in_order(values, [&](T a, T b) { return combine_reals(operation, a, b); }),
           result.data());
  return result;
}

template <class T>
Bytes fold_complex(Operation operation, const std::vector<const std::byte*>& inputs) {
  using Number = std::array<T, 2>;
  std::vector<Number> values(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    std::memcpy(&values[i], inputs[i], sizeof(Number));
  const Number number = fold_in_order(
      values, [&](Number a, Number b) { return combine_complex<T>(operation, a, b); });
  Bytes result(sizeof(Number));
  put_real(number[0], result.data());
  put_real(number[1], result.data() + sizeof(T));
  return result;
}

// ---- pairs ----

// As a long double, which holds each value and index exactly.
inline long double number_in(const std::byte* from, std::size_t bytes, bool is_real) {
  float single = 0;
  double twice = 0;
  long double most = 0;
  if (!is_real)
    return static_cast<long double>(static_cast<std::int64_t>(integer_in(from, bytes, true)));
  if (bytes == 4) return std::memcpy(&single, from, 4), single;
  if (bytes == 8) return std::memcpy(&twice, from, 8), twice;
  return std::memcpy(&most, from, bytes), most;
}

inline bool has_real_index(const ElementInfo& info) {
  return info.element == Element::kFloatFloat || info.element == Element::kDoubleDouble;
}

// The first of the best ones.
inline const std::byte* best_pair(Operation operation, const ElementInfo& info,
                                  const std::vector<const std::byte*>& inputs) {
  const auto key = [&](const std::byte* pair) {
    const long double value = number_in(pair, info.value_bytes, info.is_real);
    return std::pair(operation == Operation::kMaxloc ? -value : value,
                     number_in(pair + info.value_bytes, info.index_bytes, has_real_index(info)));
  };
  return *std::min_element(inputs.begin(), inputs.end(),
                           [&](const auto* a, const auto* b) { return key(a) < key(b); });
}

// ---- one element ----

inline Bytes expected(Operation operation, const ElementInfo& info,
                      const std::vector<const std::byte*>& inputs) {
  const std::size_t bytes = bytes_of(info.element);
  if (inputs.size() == 1) return {inputs[0], inputs[0] + bytes};
  if (info.kind == Kind::kReal || info.kind == Kind::kComplex) {
    const bool is_complex = info.kind == Kind::kComplex;
    const auto fold = [&]<class T>(T) {
      return is_complex ? fold_complex<T>(operation, inputs) : fold_reals<T>(operation, inputs);
    };
    if (info.value_bytes == 4) return fold(float{});
    if (info.value_bytes == 8) return fold(double{});
    return fold(static_cast<long double>(0));
  }
  if (info.kind == Kind::kPair) {
    const std::byte* const best = best_pair(operation, info, inputs);
    return {best, best + bytes};
  }
  const bool is_signed = info.kind == Kind::kSigned;
  std::vector<std::uint64_t> values;
  for (const std::byte* const input : inputs) values.push_back(integer_in(input, bytes, is_signed));
  Bytes result(bytes);
  put_low_bytes(fold_integers(operation, is_signed, values), result.data(), bytes);
  return result;
}

// ---- what goes in ----

// Numbers whose sums depend on the order, small enough that no product of 40 leaves the range.
template <class T>
void put_random_real(std::mt19937_64& random, bool is_coarse, std::byte* to) {
  const T part = static_cast<T>(random() >> 11) / static_cast<T>(1ull << 53);
  const int exponent = static_cast<int>(random() % 5) - 2;
  T value = std::ldexp(static_cast<T>(1) + part, exponent) * (random() % 2 == 0 ? 1 : -1);
  if (is_coarse) value = static_cast<T>(static_cast<int>(random() % 5) - 2);
  put_real(value, to);
}

inline void put_random_number(std::mt19937_64& random, std::size_t bytes, bool is_real,
                              bool is_coarse, std::byte* to) {
  if (is_real && bytes == 4) return put_random_real<float>(random, is_coarse, to);
  if (is_real && bytes == 8) return put_random_real<double>(random, is_coarse, to);
  if (is_real) return put_random_real<long double>(random, is_coarse, to);
  // Often the same, at the limits, or 0.
  static constexpr std::uint64_t kLimits[] = {0, 1, ~0ull, 0x8080808080808080, 0x7f7f7f7f7f7f7f7f};
  std::uint64_t bits = random();
  if (is_coarse || random() % 4 == 0) bits = kLimits[random() % 5];
  std::memcpy(to, &bits, bytes);
}

inline void put_random_element(std::mt19937_64& random, const ElementInfo& info, std::byte* to) {
  if (info.kind == Kind::kLogical) {
    // One way to say .true., as in a program.
    const std::uint64_t is_true = random() % 8 != 0 ? 1 : 0;
    put_low_bytes(is_true, to, info.value_bytes);
    return;
  }
  const bool is_pair = info.kind == Kind::kPair;
  put_random_number(random, info.value_bytes, info.is_real, is_pair && random() % 2 == 0, to);
  if (info.kind == Kind::kComplex)
    put_random_number(random, info.value_bytes, true, false, to + info.value_bytes);
  if (is_pair) {
    put_random_number(random, info.index_bytes, has_real_index(info), random() % 4 == 0,
                      to + info.value_bytes);
  }
}

}  // namespace hierbar::test
