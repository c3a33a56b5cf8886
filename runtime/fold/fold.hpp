// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

namespace hierbar {

// How the values of many participants become one: a function for each operation that MPI predefines
// and each kind of element that MPI allows it for.
//
//   FoldFunction sum = find_fold(Operation::kSum, Element::kDouble);
//   sum(out, inputs, num_inputs, count);  // out[i] = inputs[0][i] + inputs[1][i] + ...
//
// Order. Inputs are combined in blocks of kFoldBlock by their number, each block from left to
// right, and then the blocks from left to right. The order follows from the number of inputs
// alone, so whoever folds the same inputs gets the same bits: floating-point sums too. One thing is
// left to the compiler: which one remains where two NaNs are added or multiplied.
//
// Values.
//   Integers wrap around, signed ones too. Maximum and minimum compare unsigned ones as unsigned.
//   Floating-point maximum is a > b ? a : b and minimum is a < b ? a : b, where a is the left one.
//   So where one of the two is a NaN, the right one remains.
//   The product of complex numbers is (ac - bd, ad + bc) without a second look at infinities.
//   Logical operations on integers and on kBool give 0 or 1. On Fortran's LOGICAL they give one of
//   the two values, or 0 for .false., because the bits of .true. depend on the compiler.
//   Of two pairs kMinloc and kMaxloc give the one with the smaller or greater value, and of two
//   with equal values the one with the lower index. If a value is a NaN, it is the right pair.
//
// What is accessed. Exactly `count` elements of each, by any address: neither a vector that reaches
// beyond the end nor exceptions of elements there. `out` may be one of the inputs; else it does not
// overlap them.

enum class Operation : std::uint8_t {
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
  kMinloc,
  kMaxloc
};
inline constexpr std::size_t kNumOperations = 12;

// The names of integers, LOGICALs and kByte say how many bits they have. A pair is a value and an
// index beside each other, without the gaps that a struct in C may have.
enum class Element : std::uint8_t {
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kFloat,
  kDouble,
  kLongDouble,
  kComplexFloat,
  kComplexDouble,
  kComplexLongDouble,
  kBool,  // C's _Bool
  kLogical8,
  kLogical16,
  kLogical32,
  kLogical64,
  kByte,
  kFloatInt,
  kDoubleInt,
  kLongDoubleInt,
  kShortInt,
  kIntInt,
  kLongInt,
  kFloatFloat,    // MPI_2REAL
  kDoubleDouble,  // MPI_2DOUBLE_PRECISION
  kLongLong       // MPI_2INTEGER where INTEGER has 8 bytes
};
inline constexpr std::size_t kNumElements = 29;

inline constexpr std::uint32_t kFoldBlock = 8;  // inputs

// Requires num_inputs >= 1. Needs no heap, and about 1 KiB of the stack. Thread-safe.
using FoldFunction = void (*)(void* out, const void* const* inputs, std::uint32_t num_inputs,
                              std::size_t count) noexcept;

// Returns null if MPI does not allow the operation for the element.
FoldFunction find_fold(Operation operation, Element element) noexcept;

// From one element to the next.
std::size_t bytes_of(Element element) noexcept;

}  // namespace hierbar
