// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CMakeLists.txt compiles this file for vectors, but without multiplications that are joined with
// additions: these would round once in place of twice, and only where the compiler finds them.
#include "fold/fold.hpp"

#include <array>
#include <cfloat>
#include <cstring>
#include <type_traits>

namespace hierbar {
namespace {

// ---- elements ----

template <class T>
struct Complex {
  T re, im;
};

// Its bytes are those of T, but any other value than 0 is .true.
template <class T>
struct Logical {
  T value;
};

template <class Value, class Index>
struct Pair {
  Value value;
  Index index;
};

// How an element lies in memory. Every access is by memcpy, since addresses may be odd.
template <class T>
struct Layout {
  static constexpr std::size_t kBytes = sizeof(T);

  static T load(const std::byte* from) noexcept {
    T value;
    std::memcpy(&value, from, sizeof(T));
    return value;
  }
  static void store(std::byte* to, T value) noexcept { std::memcpy(to, &value, sizeof(T)); }
};

// x86 has 10 bytes of value in 16. The others become 0, or the same sum would have other bytes in
// each rank.
template <>
struct Layout<long double> {
  static constexpr std::size_t kBytes = sizeof(long double);
  static constexpr std::size_t kValueBytes = LDBL_MANT_DIG == 64 ? 10 : kBytes;

  static long double load(const std::byte* from) noexcept {
    long double value;
    std::memcpy(&value, from, kBytes);
    return value;
  }
  static void store(std::byte* to, long double value) noexcept {
    std::memcpy(to, &value, kValueBytes);
    std::memset(to + kValueBytes, 0, kBytes - kValueBytes);
  }
};

template <class T>
struct Layout<Complex<T>> {
  static constexpr std::size_t kBytes = 2 * Layout<T>::kBytes;

  static Complex<T> load(const std::byte* from) noexcept {
    return {Layout<T>::load(from), Layout<T>::load(from + Layout<T>::kBytes)};
  }
  static void store(std::byte* to, Complex<T> value) noexcept {
    Layout<T>::store(to, value.re);
    Layout<T>::store(to + Layout<T>::kBytes, value.im);
  }
};

template <class Value, class Index>
struct Layout<Pair<Value, Index>> {
  static constexpr std::size_t kBytes = Layout<Value>::kBytes + Layout<Index>::kBytes;

  static Pair<Value, Index> load(const std::byte* from) noexcept {
    return {Layout<Value>::load(from), Layout<Index>::load(from + Layout<Value>::kBytes)};
  }
  static void store(std::byte* to, Pair<Value, Index> pair) noexcept {
    Layout<Value>::store(to, pair.value);
    Layout<Index>::store(to + Layout<Value>::kBytes, pair.index);
  }
};

// ---- operations ----

// Integers are added and multiplied as unsigned ones of at least 32 bits. Signed ones, to which C++
// converts short ones too, must not overflow.
template <class T, class = void>
struct Arithmetic {
  using Type = T;
};
template <class T>
struct Arithmetic<T, std::enable_if_t<std::is_integral_v<T>>> {
  using Type = std::conditional_t<(sizeof(T) < 4), std::uint32_t, T>;
};

struct Sum {
  template <class T>
  static T of(T a, T b) noexcept {
    using Wide = typename Arithmetic<T>::Type;
    return static_cast<T>(Wide{a} + Wide{b});
  }
  template <class T>
  static Complex<T> of(Complex<T> a, Complex<T> b) noexcept {
    return {a.re + b.re, a.im + b.im};
  }
};

struct Product {
  template <class T>
  static T of(T a, T b) noexcept {
    using Wide = typename Arithmetic<T>::Type;
    return static_cast<T>(Wide{a} * Wide{b});
  }
  template <class T>
  static Complex<T> of(Complex<T> a, Complex<T> b) noexcept {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};

struct Maximum {
  template <class T>
  static T of(T a, T b) noexcept {
    return a > b ? a : b;
  }
};

struct Minimum {
  template <class T>
  static T of(T a, T b) noexcept {
    return a < b ? a : b;
  }
};

struct LogicalAnd {
  template <class T>
  static T of(T a, T b) noexcept {
    return static_cast<T>((a != 0) & (b != 0));
  }
  template <class T>
  static Logical<T> of(Logical<T> a, Logical<T> b) noexcept {
    return a.value == 0 ? a : b;
  }
};

struct LogicalOr {
  template <class T>
  static T of(T a, T b) noexcept {
    return static_cast<T>((a | b) != 0);
  }
  template <class T>
  static Logical<T> of(Logical<T> a, Logical<T> b) noexcept {
    return a.value != 0 ? a : b;
  }
};

struct LogicalXor {
  template <class T>
  static T of(T a, T b) noexcept {
    return static_cast<T>((a != 0) != (b != 0));
  }
  template <class T>
  static Logical<T> of(Logical<T> a, Logical<T> b) noexcept {
    const Logical<T> if_a = {static_cast<T>(b.value == 0 ? a.value : 0)};
    return a.value == 0 ? b : if_a;
  }
};

struct BitAnd {
  template <class T>
  static T of(T a, T b) noexcept {
    return static_cast<T>(a & b);
  }
};

struct BitOr {
  template <class T>
  static T of(T a, T b) noexcept {
    return static_cast<T>(a | b);
  }
};

struct BitXor {
  template <class T>
  static T of(T a, T b) noexcept {
    return static_cast<T>(a ^ b);
  }
};

// The result is one of the two, as a whole.
template <bool (*is_better)(bool less, bool greater)>
struct Location {
  template <class T>
  static T of(T a, T b) noexcept {
    if (is_better(a.value<b.value, a.value> b.value)) return a;
    return a.value == b.value && a.index <= b.index ? a : b;
  }
};

constexpr bool is_less(bool less, bool) { return less; }
constexpr bool is_greater(bool, bool greater) { return greater; }
using MinimumLocation = Location<is_less>;
using MaximumLocation = Location<is_greater>;

// ---- loops ----

// `out` is an input or does not overlap it, so no element depends on one before it. Without this
// GCC would look at the addresses, and ranks that give others would run another loop.
#if defined(__GNUC__) && !defined(__clang__)
#define HIERBAR_INDEPENDENT _Pragma("GCC ivdep")
#else
#define HIERBAR_INDEPENDENT
#endif

constexpr std::size_t kChunkBytes = 512;
// Below this many elements it takes less to fold one after the other in registers. A loop over an
// input costs some ns, however short it is.
constexpr std::size_t kFew = 8;

inline const std::byte* bytes(const void* from) noexcept {
  return static_cast<const std::byte*>(from);
}

inline std::uint32_t end_of_block(std::uint32_t first, std::uint32_t num_inputs) noexcept {
  return num_inputs - first < kFoldBlock ? num_inputs : first + kFoldBlock;
}

template <class T, class Op>
T fold_block(const void* const* inputs, std::uint32_t first, std::uint32_t end,
             std::size_t offset) noexcept {
  T block = Layout<T>::load(bytes(inputs[first]) + offset);
  for (std::uint32_t k = first + 1; k < end; ++k)
    block = Op::of(block, Layout<T>::load(bytes(inputs[k]) + offset));
  return block;
}

template <class T, class Op>
void fold_few(std::byte* out, const void* const* inputs, std::uint32_t num_inputs,
              std::size_t count) noexcept {
  for (std::size_t offset = 0; offset < count * Layout<T>::kBytes; offset += Layout<T>::kBytes) {
    std::uint32_t end = end_of_block(0, num_inputs);
    T total = fold_block<T, Op>(inputs, 0, end, offset);
    while (end < num_inputs) {
      const std::uint32_t first = end;
      end = end_of_block(first, num_inputs);
      total = Op::of(total, fold_block<T, Op>(inputs, first, end, offset));
    }
    Layout<T>::store(out + offset, total);
  }
}

template <class T, class Op>
void fold_two(std::byte* out, const std::byte* a, const std::byte* b, std::size_t count) noexcept {
  HIERBAR_INDEPENDENT
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t offset = i * Layout<T>::kBytes;
    Layout<T>::store(out + offset,
                     Op::of(Layout<T>::load(a + offset), Layout<T>::load(b + offset)));
  }
}

using FoldTwo = void (*)(std::byte* out, const std::byte* a, const std::byte* b,
                         std::size_t count) noexcept;

// Some elements of all inputs at a time, so that sums stay in the nearest cache, and `out` is
// written when all inputs have been read. One function for all elements: it would be most of what
// the compiler makes of this file.
void fold_many(std::byte* out, const void* const* inputs, std::uint32_t num_inputs,
               std::size_t count, std::size_t element_bytes, FoldTwo two) noexcept {
  std::byte total[kChunkBytes], block[kChunkBytes];
  const std::size_t chunk = kChunkBytes / element_bytes;
  for (std::size_t begin = 0; begin < count; begin += chunk) {
    const std::size_t num = count - begin < chunk ? count - begin : chunk;
    const std::size_t offset = begin * element_bytes;
    for (std::uint32_t first = 0; first < num_inputs;) {
      const std::uint32_t end = end_of_block(first, num_inputs);
      std::byte* const sums = first == 0 ? total : block;
      std::memcpy(sums, bytes(inputs[first]) + offset, num * element_bytes);
      for (std::uint32_t k = first + 1; k < end; ++k)
        two(sums, sums, bytes(inputs[k]) + offset, num);
      if (first != 0) two(total, total, block, num);
      first = end;
    }
    std::memcpy(out + offset, total, num * element_bytes);
  }
}

template <class T, class Op>
void fold(void* out, const void* const* inputs, std::uint32_t num_inputs,
          std::size_t count) noexcept {
  auto* const to = static_cast<std::byte*>(out);
  if (num_inputs == 1) {
    if (count != 0) std::memmove(to, inputs[0], count * Layout<T>::kBytes);
  } else if (num_inputs == 2) {
    fold_two<T, Op>(to, bytes(inputs[0]), bytes(inputs[1]), count);
  } else if (count < kFew) {
    fold_few<T, Op>(to, inputs, num_inputs, count);
  } else {
    fold_many(to, inputs, num_inputs, count, Layout<T>::kBytes, fold_two<T, Op>);
  }
}

// ---- which there are ----

using Row = std::array<FoldFunction, kNumOperations>;

// Signed integers have the functions of unsigned ones, but for those that compare.
template <class T>
constexpr Row integer_folds() {
  using U = std::make_unsigned_t<T>;
  return {fold<U, Sum>,
          fold<U, Product>,
          fold<T, Maximum>,
          fold<T, Minimum>,
          fold<U, LogicalAnd>,
          fold<U, LogicalOr>,
          fold<U, LogicalXor>,
          fold<U, BitAnd>,
          fold<U, BitOr>,
          fold<U, BitXor>,
          nullptr,
          nullptr};
}

template <class T>
constexpr Row real_folds() {
  return {fold<T, Sum>, fold<T, Product>, fold<T, Maximum>, fold<T, Minimum>};
}

template <class T>
constexpr Row complex_folds() {
  return {fold<Complex<T>, Sum>, fold<Complex<T>, Product>};
}

template <class T>
constexpr Row logical_folds() {
  Row row{};
  row[static_cast<std::size_t>(Operation::kLand)] = fold<T, LogicalAnd>;
  row[static_cast<std::size_t>(Operation::kLor)] = fold<T, LogicalOr>;
  row[static_cast<std::size_t>(Operation::kLxor)] = fold<T, LogicalXor>;
  return row;
}

constexpr Row byte_folds() {
  Row row{};
  row[static_cast<std::size_t>(Operation::kBand)] = fold<std::uint8_t, BitAnd>;
  row[static_cast<std::size_t>(Operation::kBor)] = fold<std::uint8_t, BitOr>;
  row[static_cast<std::size_t>(Operation::kBxor)] = fold<std::uint8_t, BitXor>;
  return row;
}

template <class Value, class Index>
constexpr Row pair_folds() {
  Row row{};
  row[static_cast<std::size_t>(Operation::kMinloc)] = fold<Pair<Value, Index>, MinimumLocation>;
  row[static_cast<std::size_t>(Operation::kMaxloc)] = fold<Pair<Value, Index>, MaximumLocation>;
  return row;
}

struct Folds {
  std::size_t element_bytes;
  Row row;
};

template <class T>
constexpr std::size_t kBytesOf = Layout<T>::kBytes;
template <class Value, class Index>
constexpr std::size_t kBytesOfPair = Layout<Pair<Value, Index>>::kBytes;

// By Element.
constexpr std::array<Folds, kNumElements> kFolds = {{
    {1, integer_folds<std::int8_t>()},
    {2, integer_folds<std::int16_t>()},
    {4, integer_folds<std::int32_t>()},
    {8, integer_folds<std::int64_t>()},
    {1, integer_folds<std::uint8_t>()},
    {2, integer_folds<std::uint16_t>()},
    {4, integer_folds<std::uint32_t>()},
    {8, integer_folds<std::uint64_t>()},
    {kBytesOf<float>, real_folds<float>()},
    {kBytesOf<double>, real_folds<double>()},
    {kBytesOf<long double>, real_folds<long double>()},
    {kBytesOf<Complex<float>>, complex_folds<float>()},
    {kBytesOf<Complex<double>>, complex_folds<double>()},
    {kBytesOf<Complex<long double>>, complex_folds<long double>()},
    {1, logical_folds<std::uint8_t>()},
    {1, logical_folds<Logical<std::uint8_t>>()},
    {2, logical_folds<Logical<std::uint16_t>>()},
    {4, logical_folds<Logical<std::uint32_t>>()},
    {8, logical_folds<Logical<std::uint64_t>>()},
    {1, byte_folds()},
    {kBytesOfPair<float, int>, pair_folds<float, int>()},
    {kBytesOfPair<double, int>, pair_folds<double, int>()},
    {kBytesOfPair<long double, int>, pair_folds<long double, int>()},
    {kBytesOfPair<short, int>, pair_folds<short, int>()},
    {kBytesOfPair<int, int>, pair_folds<int, int>()},
    {kBytesOfPair<long, int>, pair_folds<long, int>()},
    {kBytesOfPair<float, float>, pair_folds<float, float>()},
    {kBytesOfPair<double, double>, pair_folds<double, double>()},
    {kBytesOfPair<std::int64_t, std::int64_t>, pair_folds<std::int64_t, std::int64_t>()},
}};

}  // namespace

FoldFunction find_fold(Operation operation, Element element) noexcept {
  return kFolds[static_cast<std::size_t>(element)].row[static_cast<std::size_t>(operation)];
}

std::size_t bytes_of(Element element) noexcept {
  return kFolds[static_cast<std::size_t>(element)].element_bytes;
}

}  // namespace hierbar
