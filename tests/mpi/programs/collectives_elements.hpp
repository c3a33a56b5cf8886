// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// The oracle of collectives_fuzz: elements of all datatypes that reductions take, values for them,
// and what a reduction of them must give. Nothing here asks the MPI library for a result.
//
//   integers   exact, modulo 2^n
//   floats     a sum or product within the error of any order. Or, if asked, the bits of one order:
//              blocks of 8 inputs folded left to right, then the blocks left to right
//   pairs      the value, and the least index that has it

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace hierbar::test {

enum class TestedOp : std::uint8_t {
  kSum,
  kProd,
  kMax,
  kMin,
  kLand,
  kLor,
  kLxor,
  kBand,
  kBor,
  kBxor,
  kMaxloc,
  kMinloc
};
inline constexpr int kNumOps = 12;
inline constexpr std::array<const char*, kNumOps> kOpNames{
    "MPI_SUM",  "MPI_PROD", "MPI_MAX", "MPI_MIN",  "MPI_LAND",   "MPI_LOR",
    "MPI_LXOR", "MPI_BAND", "MPI_BOR", "MPI_BXOR", "MPI_MAXLOC", "MPI_MINLOC"};

inline MPI_Op mpi_op(TestedOp op) {
  const std::array<MPI_Op, kNumOps> all{MPI_SUM,  MPI_PROD, MPI_MAX,    MPI_MIN,
                                        MPI_LAND, MPI_LOR,  MPI_LXOR,   MPI_BAND,
                                        MPI_BOR,  MPI_BXOR, MPI_MAXLOC, MPI_MINLOC};
  return all[static_cast<std::size_t>(op)];
}

// A set of operations.
using OpSet = unsigned;
constexpr OpSet set_of(std::initializer_list<TestedOp> ops) {
  OpSet set = 0;
  for (const TestedOp op : ops) set |= 1U << static_cast<unsigned>(op);
  return set;
}
constexpr bool has(OpSet set, TestedOp op) { return (set >> static_cast<unsigned>(op) & 1) != 0; }
inline constexpr OpSet kLogicalOps = set_of({TestedOp::kLand, TestedOp::kLor, TestedOp::kLxor});
inline constexpr OpSet kBitOps = set_of({TestedOp::kBand, TestedOp::kBor, TestedOp::kBxor});
inline constexpr OpSet kSumOps = set_of({TestedOp::kSum, TestedOp::kProd});
inline constexpr OpSet kOrderOps = set_of({TestedOp::kMax, TestedOp::kMin});
inline constexpr OpSet kPairOps = set_of({TestedOp::kMaxloc, TestedOp::kMinloc});

// Which values are drawn.
enum class ValueRange : std::uint8_t {
  kAny,        // extremes of integers included; floats are finite
  kZeroOrOne,  // where a library's own reduction is wrong for others
  kSpecial,    // floats: infinities, NaNs, zeros of both signs, denormals
};

inline constexpr std::size_t kMostElementBytes = 32;
using OneElement = std::array<std::byte, kMostElementBytes>;
using Inputs = std::span<const OneElement>;  // one of each rank, in the order of ranks

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class T>
void store(std::byte* to, const T& value) {
  std::memcpy(to, &value, sizeof value);
}

// The bytes of a T that have its value; the rest is padding.
template <class T>
constexpr std::size_t value_bytes() {
  const bool is_x87 = std::is_same_v<T, long double> && std::numeric_limits<T>::digits == 64;
  return is_x87 ? 10 : sizeof(T);
}

// FNV-1a.
inline constexpr std::uint64_t kEmptyHash = 14695981039346656037U;
inline std::uint64_t hash_bytes(const std::byte* bytes, std::size_t size, std::uint64_t hash) {
  for (std::size_t i = 0; i < size; ++i)
    hash = (hash ^ static_cast<std::uint64_t>(bytes[i])) * 1099511628211U;
  return hash;
}

template <class T>
std::string text_of(T value) {
  std::ostringstream text;
  text.precision(std::numeric_limits<T>::max_digits10);
  if constexpr (sizeof(T) == 1) {
    text << static_cast<int>(value);
  } else {
    text << value;
  }
  return text.str();
}

// ---- kinds of elements ----
//
// Each kind has
//   kBytes, kAlignment, kIsFloat
//   fill(to, bits, op, range)          an element out of 64 random bits
//   is_right(got, inputs, op, ordered) whether `got` may be the reduction of these
//   hash(element, hash)                over the bytes that have its value
//   text(element)

template <class T>
struct IntegerKind {
  static constexpr std::size_t kBytes = sizeof(T);
  static constexpr std::size_t kAlignment = alignof(T);
  static constexpr bool kIsFloat = false;

  static void fill(std::byte* to, std::uint64_t bits, TestedOp op, ValueRange range) {
    T value = static_cast<T>(bits);
    switch (bits >> 60) {
      case 0:
        value = std::numeric_limits<T>::max();
        break;
      case 1:
        value = std::numeric_limits<T>::min();
        break;
      case 2:
        value = 0;
        break;
      default:
        break;
    }
    if (has(kLogicalOps, op) && (bits >> 59 & 1) != 0) value = 0;
    if (op == TestedOp::kProd && bits >> 60 > 2) value = static_cast<T>(value | 1);
    if (range == ValueRange::kZeroOrOne) value = static_cast<T>(bits & 1);
    store(to, value);
  }

  // In 64 bits without sign, where nothing overflows; the lowest bits are right for each T.
  static T apply(TestedOp op, T first, T second) {
    const auto a = static_cast<std::uint64_t>(first), b = static_cast<std::uint64_t>(second);
    switch (op) {
      case TestedOp::kSum:
        return static_cast<T>(a + b);
      case TestedOp::kProd:
        return static_cast<T>(a * b);
      case TestedOp::kMax:
        return std::max(first, second);
      case TestedOp::kMin:
        return std::min(first, second);
      case TestedOp::kLand:
        return static_cast<T>(a != 0 && b != 0);
      case TestedOp::kLor:
        return static_cast<T>(a != 0 || b != 0);
      case TestedOp::kLxor:
        return static_cast<T>((a != 0) != (b != 0));
      case TestedOp::kBand:
        return static_cast<T>(a & b);
      case TestedOp::kBor:
        return static_cast<T>(a | b);
      default:
        return static_cast<T>(a ^ b);
    }
  }

  static T expected(Inputs inputs, TestedOp op) {
    T result = load<T>(inputs[0].data());
    for (const OneElement& input : inputs.subspan(1))
      result = apply(op, result, load<T>(input.data()));
    return result;
  }

  // A logical result is any value that is not 0, or 0.
  static bool is_right(const std::byte* got, Inputs inputs, TestedOp op, bool) {
    const T value = load<T>(got), wanted = expected(inputs, op);
    return has(kLogicalOps, op) ? (value != 0) == (wanted != 0) : value == wanted;
  }

  static std::uint64_t hash(const std::byte* element, std::uint64_t hash) {
    return hash_bytes(element, kBytes, hash);
  }
  static std::string text(const std::byte* element) { return text_of(load<T>(element)); }
};

// MPI_C_BOOL has two values only.
struct BoolKind : IntegerKind<std::uint8_t> {
  static void fill(std::byte* to, std::uint64_t bits, TestedOp op, ValueRange) {
    IntegerKind::fill(to, bits, op, ValueRange::kZeroOrOne);
  }
};

template <class T>
struct FloatKind {
  static constexpr std::size_t kBytes = sizeof(T);
  static constexpr std::size_t kAlignment = alignof(T);
  static constexpr bool kIsFloat = true;

  static T special(std::uint64_t bits) {
    using Limits = std::numeric_limits<T>;
    switch (bits >> 61) {
      case 0:
        return Limits::infinity();
      case 1:
        return -Limits::infinity();
      case 2:
        return Limits::quiet_NaN();
      case 3:
        return T{0};
      case 4:
        return -T{0};
      case 5:
        return Limits::denorm_min() * static_cast<T>(bits & 1023);
      default:
        return static_cast<T>(bits & 1023);
    }
  }

  // 40 binary orders of magnitude, so that sums depend on the order; products stay near 1.
  static T value(std::uint64_t bits, TestedOp op, ValueRange range) {
    if (range == ValueRange::kSpecial) return special(bits);
    if (range == ValueRange::kZeroOrOne) return static_cast<T>(bits & 1);
    const T mantissa = 1 + static_cast<T>(bits & 0xFFFFFFFFFFU) / static_cast<T>(0x10000000000);
    const T sign = (bits >> 63) != 0 ? T{-1} : T{1};
    if (op == TestedOp::kProd) return sign * (mantissa / 2 + T{1} / 4);
    return sign * std::ldexp(mantissa, static_cast<int>(bits >> 48 & 0x7FFF) % 40 - 20);
  }

  static void fill(std::byte* to, std::uint64_t bits, TestedOp op, ValueRange range) {
    std::memset(to, 0, kBytes);
    const T drawn = value(bits, op, range);
    std::memcpy(to, &drawn, value_bytes<T>());
  }

  static T apply(TestedOp op, T a, T b) {
    switch (op) {
      case TestedOp::kSum:
        return a + b;
      case TestedOp::kProd:
        return a * b;
      case TestedOp::kMax:
        return std::max(a, b);
      default:
        return std::min(a, b);
    }
  }

  static T in_blocks(Inputs inputs, TestedOp op) {
    constexpr std::size_t kBlock = 8;
    T result{};
    for (std::size_t begin = 0; begin < inputs.size(); begin += kBlock) {
      T block = load<T>(inputs[begin].data());
      for (std::size_t i = begin + 1; i < std::min(inputs.size(), begin + kBlock); ++i)
        block = apply(op, block, load<T>(inputs[i].data()));
      result = begin == 0 ? block : apply(op, result, block);
    }
    return result;
  }

  // Any order of p - 1 operations is within (p - 1) u of the exact sum of absolute values, or of
  // the exact product; so two of them are within twice that. Numbers with NaN have no order.
  static bool is_right(const std::byte* got, Inputs inputs, TestedOp op, bool ordered) {
    const T value = load<T>(got), wanted = in_blocks(inputs, op);
    bool has_nan = false;
    T size = 0;
    for (const OneElement& input : inputs) {
      has_nan |= std::isnan(load<T>(input.data()));
      size += std::fabs(load<T>(input.data()));
    }
    if (has(kOrderOps, op)) return has_nan || value == wanted;
    if (std::isnan(wanted)) return std::isnan(value);
    if (value == wanted) return true;
    if (ordered && value_bytes<T>() <= 8) return false;
    if (op == TestedOp::kProd) size = std::fabs(wanted);
    return std::fabs(value - wanted) <=
           2 * static_cast<T>(inputs.size()) * std::numeric_limits<T>::epsilon() * size;
  }

  static std::uint64_t hash(const std::byte* element, std::uint64_t hash) {
    return hash_bytes(element, value_bytes<T>(), hash);
  }
  static std::string text(const std::byte* element) { return text_of(load<T>(element)); }
};

// Sums only, which are sums of the parts.
template <class T>
struct ComplexKind {
  static constexpr std::size_t kBytes = 2 * sizeof(T);
  static constexpr std::size_t kAlignment = alignof(T);
  static constexpr bool kIsFloat = true;

  static void fill(std::byte* to, std::uint64_t bits, TestedOp op, ValueRange range) {
    FloatKind<T>::fill(to, bits, op, range);
    FloatKind<T>::fill(to + sizeof(T), bits * 0x9E3779B97F4A7C15U, op, range);
  }
  static bool is_right(const std::byte* got, Inputs inputs, TestedOp op, bool ordered) {
    std::vector<OneElement> imaginary(inputs.begin(), inputs.end());
    for (OneElement& input : imaginary)
      std::memmove(input.data(), input.data() + sizeof(T), sizeof(T));
    return FloatKind<T>::is_right(got, inputs, op, ordered) &&
           FloatKind<T>::is_right(got + sizeof(T), imaginary, op, ordered);
  }
  static std::uint64_t hash(const std::byte* element, std::uint64_t hash) {
    return FloatKind<T>::hash(element + sizeof(T), FloatKind<T>::hash(element, hash));
  }
  static std::string text(const std::byte* element) {
    return FloatKind<T>::text(element) + " + i " + FloatKind<T>::text(element + sizeof(T));
  }
};

// As MPI_DOUBLE_INT. Few values, so that many ranks have the same.
template <class T>
struct PairKind {
  struct Pair {
    T value;
    int index;
  };
  static constexpr std::size_t kBytes = sizeof(Pair);
  static constexpr std::size_t kAlignment = alignof(Pair);
  static constexpr bool kIsFloat = false;

  static void fill(std::byte* to, std::uint64_t bits, TestedOp, ValueRange) {
    std::memset(to, static_cast<int>(bits & 0xFF), kBytes);  // padding is any
    store(to + offsetof(Pair, value), static_cast<T>(static_cast<int>(bits >> 8 & 3) - 2));
    store(to + offsetof(Pair, index), static_cast<int>(bits >> 16 & 0xFFFF) - 100);
  }
  static bool is_right(const std::byte* got, Inputs inputs, TestedOp op, bool) {
    Pair best{};
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Pair pair = load<Pair>(inputs[i].data());
      const bool better =
          op == TestedOp::kMaxloc ? pair.value > best.value : pair.value < best.value;
      if (i == 0 || better || (pair.value == best.value && pair.index < best.index)) best = pair;
    }
    const Pair pair = load<Pair>(got);
    return pair.value == best.value && pair.index == best.index;
  }
  static std::uint64_t hash(const std::byte* element, std::uint64_t hash) {
    hash = hash_bytes(element + offsetof(Pair, value), value_bytes<T>(), hash);
    return hash_bytes(element + offsetof(Pair, index), sizeof(int), hash);
  }
  static std::string text(const std::byte* element) {
    const Pair pair = load<Pair>(element);
    return text_of(pair.value) + " at " + text_of(pair.index);
  }
};

// ---- datatypes ----

struct ElementType {
  const char* name;
  MPI_Datatype type;
  OpSet ops;
  std::size_t bytes;
  std::size_t alignment;
  bool is_float;
  void (*fill)(std::byte* to, std::uint64_t bits, TestedOp op, ValueRange range);
  bool (*is_right)(const std::byte* got, Inputs inputs, TestedOp op, bool ordered);
  std::uint64_t (*hash)(const std::byte* element, std::uint64_t hash);
  std::string (*text)(const std::byte* element);
};

template <class Kind>
ElementType element_type(const char* name, MPI_Datatype type, OpSet ops) {
  return {name,
          type,
          ops,
          Kind::kBytes,
          Kind::kAlignment,
          Kind::kIsFloat,
          &Kind::fill,
          &Kind::is_right,
          &Kind::hash,
          &Kind::text};
}

// All datatypes of the library that have a kind here. Left out are those of a language that it was
// built without, and those whose elements have another size than here.
inline std::vector<ElementType> element_types() {
  constexpr OpSet kInteger = kSumOps | kOrderOps | kLogicalOps | kBitOps;
  constexpr OpSet kFortranInteger = kSumOps | kOrderOps | kBitOps;
  constexpr OpSet kFloat = kSumOps | kOrderOps;
  constexpr OpSet kComplex = set_of({TestedOp::kSum});
#define HIERBAR_TYPE(type, kind, ops) element_type<kind>(#type, type, ops)
  std::vector<ElementType> types{
      HIERBAR_TYPE(MPI_DOUBLE, FloatKind<double>, kFloat),
      HIERBAR_TYPE(MPI_FLOAT, FloatKind<float>, kFloat),
      HIERBAR_TYPE(MPI_LONG_DOUBLE, FloatKind<long double>, kFloat),
      HIERBAR_TYPE(MPI_DOUBLE_PRECISION, FloatKind<double>, kFloat),
      HIERBAR_TYPE(MPI_REAL, FloatKind<float>, kFloat),
      HIERBAR_TYPE(MPI_INT, IntegerKind<int>, kInteger),
      HIERBAR_TYPE(MPI_LONG, IntegerKind<long>, kInteger),
      HIERBAR_TYPE(MPI_LONG_LONG, IntegerKind<long long>, kInteger),
      HIERBAR_TYPE(MPI_SHORT, IntegerKind<short>, kInteger),
      HIERBAR_TYPE(MPI_SIGNED_CHAR, IntegerKind<signed char>, kInteger),
      HIERBAR_TYPE(MPI_UNSIGNED, IntegerKind<unsigned>, kInteger),
      HIERBAR_TYPE(MPI_UNSIGNED_LONG, IntegerKind<unsigned long>, kInteger),
      HIERBAR_TYPE(MPI_UNSIGNED_LONG_LONG, IntegerKind<unsigned long long>, kInteger),
      HIERBAR_TYPE(MPI_UNSIGNED_SHORT, IntegerKind<unsigned short>, kInteger),
      HIERBAR_TYPE(MPI_UNSIGNED_CHAR, IntegerKind<unsigned char>, kInteger),
      HIERBAR_TYPE(MPI_INT8_T, IntegerKind<std::int8_t>, kInteger),
      HIERBAR_TYPE(MPI_INT16_T, IntegerKind<std::int16_t>, kInteger),
      HIERBAR_TYPE(MPI_INT32_T, IntegerKind<std::int32_t>, kInteger),
      HIERBAR_TYPE(MPI_INT64_T, IntegerKind<std::int64_t>, kInteger),
      HIERBAR_TYPE(MPI_UINT8_T, IntegerKind<std::uint8_t>, kInteger),
      HIERBAR_TYPE(MPI_UINT16_T, IntegerKind<std::uint16_t>, kInteger),
      HIERBAR_TYPE(MPI_UINT32_T, IntegerKind<std::uint32_t>, kInteger),
      HIERBAR_TYPE(MPI_UINT64_T, IntegerKind<std::uint64_t>, kInteger),
      HIERBAR_TYPE(MPI_AINT, IntegerKind<MPI_Aint>, kFortranInteger),
      HIERBAR_TYPE(MPI_OFFSET, IntegerKind<MPI_Offset>, kFortranInteger),
      HIERBAR_TYPE(MPI_INTEGER, IntegerKind<int>, kFortranInteger),
      HIERBAR_TYPE(MPI_BYTE, IntegerKind<std::uint8_t>, kBitOps),
      HIERBAR_TYPE(MPI_C_BOOL, BoolKind, kLogicalOps),
      HIERBAR_TYPE(MPI_C_FLOAT_COMPLEX, ComplexKind<float>, kComplex),
      HIERBAR_TYPE(MPI_C_DOUBLE_COMPLEX, ComplexKind<double>, kComplex),
      HIERBAR_TYPE(MPI_2INT, PairKind<int>, kPairOps),
      HIERBAR_TYPE(MPI_SHORT_INT, PairKind<short>, kPairOps),
      HIERBAR_TYPE(MPI_LONG_INT, PairKind<long>, kPairOps),
      HIERBAR_TYPE(MPI_FLOAT_INT, PairKind<float>, kPairOps),
      HIERBAR_TYPE(MPI_DOUBLE_INT, PairKind<double>, kPairOps),
      HIERBAR_TYPE(MPI_LONG_DOUBLE_INT, PairKind<long double>, kPairOps)};
#undef HIERBAR_TYPE
  std::erase_if(types, [](const ElementType& one) {
    MPI_Aint begin = 0, extent = 0;
    if (one.type == MPI_DATATYPE_NULL) return true;
    PMPI_Type_get_extent(one.type, &begin, &extent);
    return extent != static_cast<MPI_Aint>(one.bytes);
  });
  return types;
}

}  // namespace hierbar::test
