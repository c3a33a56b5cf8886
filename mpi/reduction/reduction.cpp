// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Order of memory:
//   (R1) release store of the finished table
//   (R2) acquire load of it by whoever looks up
#include "mpi/reduction/reduction.hpp"

#include <array>
#include <atomic>
#include <cfloat>
#include <cstring>
#include <memory>
#include <optional>

#include "mpi/library/mpi_symbols.hpp"
#include "mpi/library/pmpi.hpp"
#include "mpi/library/predefined.hpp"

namespace hierbar::mpi {
namespace {

// ---- which element a type has ----

// Fortran's REAL*16 is C's long double on some architectures. On x86 it is another type, of the
// same size, which the library serves.
constexpr bool kLongDoubleIsReal16 = LDBL_MANT_DIG == 113;

std::optional<Element> by_bytes(std::size_t bytes, Element of_1, Element of_2, Element of_4,
                                Element of_8) {
  switch (bytes) {
    case 1:
      return of_1;
    case 2:
      return of_2;
    case 4:
      return of_4;
    case 8:
      return of_8;
    default:
      return std::nullopt;
  }
}

std::optional<Element> real_of(std::size_t bytes) {
  if (bytes == sizeof(float)) return Element::kFloat;
  if (bytes == sizeof(double)) return Element::kDouble;
  if (bytes == 16 && kLongDoubleIsReal16) return Element::kLongDouble;
  return std::nullopt;
}

std::optional<Element> complex_of(std::size_t bytes) {
  if (bytes == 2 * sizeof(float)) return Element::kComplexFloat;
  if (bytes == 2 * sizeof(double)) return Element::kComplexDouble;
  if (bytes == 32 && kLongDoubleIsReal16) return Element::kComplexLongDouble;
  return std::nullopt;
}

std::optional<Element> two_integers_of(std::size_t bytes) {
  if (bytes == 8) return Element::kIntInt;
  if (bytes == 16) return Element::kLongLong;
  return std::nullopt;
}

std::optional<Element> two_reals_of(std::size_t bytes) {
  if (bytes == 8) return Element::kFloatFloat;
  if (bytes == 16) return Element::kDoubleDouble;
  return std::nullopt;
}

std::optional<Element> element_of(TypeKind kind, std::size_t bytes) {
  using enum Element;
  switch (kind) {
    case TypeKind::kSigned:
      return by_bytes(bytes, kInt8, kInt16, kInt32, kInt64);
    case TypeKind::kUnsigned:
      return by_bytes(bytes, kUint8, kUint16, kUint32, kUint64);
    case TypeKind::kReal:
      return real_of(bytes);
    case TypeKind::kLongDouble:
      return kLongDouble;
    case TypeKind::kComplex:
      return complex_of(bytes);
    case TypeKind::kLongDoubleComplex:
      return kComplexLongDouble;
    case TypeKind::kBool:
      return kBool;
    case TypeKind::kLogical:
      return by_bytes(bytes, kLogical8, kLogical16, kLogical32, kLogical64);
    case TypeKind::kByte:
      return kByte;
    case TypeKind::kFloatInt:
      return kFloatInt;
    case TypeKind::kDoubleInt:
      return kDoubleInt;
    case TypeKind::kLongDoubleInt:
      return kLongDoubleInt;
    case TypeKind::kShortInt:
      return kShortInt;
    case TypeKind::kLongInt:
      return kLongInt;
    case TypeKind::kTwoIntegers:
      return two_integers_of(bytes);
    case TypeKind::kTwoReals:
      return two_reals_of(bytes);
  }
  return std::nullopt;
}

// Null where the library's elements have another size than ours: its C types are not those of this
// compiler.
std::optional<Element> element_of(const NamedType& type) {
  const std::optional<Element> element = element_of(type.kind, type.bytes);
  if (element && type.bytes != 0 && type.bytes != bytes_of(*element)) return std::nullopt;
  return element;
}

template <class Value>
PairLayout layout_of_pair() {
  struct Pair {
    Value value;
    int index;
  };
  return {sizeof(Value), offsetof(Pair, index), sizeof(int), sizeof(Pair)};
}

PairLayout layout_of(Element element) {
  switch (element) {
    case Element::kDoubleInt:
      return layout_of_pair<double>();
    case Element::kLongDoubleInt:
      return layout_of_pair<long double>();
    case Element::kShortInt:
      return layout_of_pair<short>();
    case Element::kLongInt:
      return layout_of_pair<long>();
    default:
      return {};
  }
}

// Whether C puts a gap between the values of a pair, or behind them, for some of these kinds.
bool may_have_gap(TypeKind kind) {
  switch (kind) {
    case TypeKind::kFloatInt:
    case TypeKind::kDoubleInt:
    case TypeKind::kLongDoubleInt:
    case TypeKind::kShortInt:
    case TypeKind::kLongInt:
      return true;
    default:
      return false;
  }
}

// ---- look-up ----

// From handles to numbers, by a hash with linear probing. The handle 0 marks what is free.
template <class Handle, std::size_t kSlots>
class HandleMap {
 public:
  static constexpr std::uint8_t kNone = 0xff;

  void add(Handle handle, std::uint8_t number) {
    std::size_t slot = first_slot(handle);
    while (handles_[slot] != Handle{} && handles_[slot] != handle) slot = next(slot);
    // Of two names of one handle the first one counts.
    if (handles_[slot] == handle || num_used_ == kSlots - 1) return;
    ++num_used_;
    handles_[slot] = handle;
    numbers_[slot] = number;
  }

  std::uint8_t find(Handle handle) const noexcept {
    for (std::size_t slot = first_slot(handle); handles_[slot] != Handle{}; slot = next(slot))
      if (handles_[slot] == handle) return numbers_[slot];
    return kNone;
  }

 private:
  static std::size_t first_slot(Handle handle) noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, &handle, sizeof(handle));
    return word * 0x9e3779b97f4a7c15u >> 32 & (kSlots - 1);  // 2^64 by the golden ratio
  }
  static std::size_t next(std::size_t slot) noexcept { return (slot + 1) & (kSlots - 1); }

  std::array<Handle, kSlots> handles_{};
  std::array<std::uint8_t, kSlots> numbers_{};
  std::size_t num_used_ = 0;
};

class ReductionTable {
 public:
  explicit ReductionTable(const PredefinedHandles& predefined) {
    for (const NamedType& type : predefined.types) {
      if (const std::optional<Element> element = element_of(type))
        types_.add(type.handle, static_cast<std::uint8_t>(*element));
    }
    for (const NamedType& type : predefined.types) {
      if (!may_have_gap(type.kind)) add_dense(type.handle, type.bytes);
    }
    for (const MovedType& type : predefined.moved) add_dense(type.handle, type.bytes);
    for (const NamedOp& op : predefined.ops)
      ops_.add(op.handle, static_cast<std::uint8_t>(op.operation));
    for (std::size_t i = 0; i < kNumElements; ++i) {
      const auto element = static_cast<Element>(i);
      for (std::size_t k = 0; k < kNumOperations; ++k) {
        reductions_[i][k] = {find_fold(static_cast<Operation>(k), element), bytes_of(element),
                             layout_of(element)};
      }
    }
  }

  const Reduction* find(MPI_Datatype type, MPI_Op op) const noexcept {
    const std::uint8_t element = types_.find(type);
    const std::uint8_t operation = ops_.find(op);
    if (element == types_.kNone || operation == ops_.kNone) return nullptr;
    const Reduction& reduction = reductions_[element][operation];
    return reduction.fold != nullptr ? &reduction : nullptr;
  }

  // Only pairs have a MINLOC.
  const Reduction* find_pair(MPI_Datatype type) const noexcept {
    const std::uint8_t element = types_.find(type);
    if (element == types_.kNone) return nullptr;
    const Reduction& minloc = reductions_[element][static_cast<std::size_t>(Operation::kMinloc)];
    return minloc.fold != nullptr ? &minloc : nullptr;
  }

  std::size_t dense_bytes(MPI_Datatype type) const noexcept {
    const std::uint8_t bytes = dense_.find(type);
    return bytes == dense_.kNone ? 0 : bytes;
  }

 private:
  void add_dense(MPI_Datatype type, std::size_t bytes) {
    if (bytes != 0 && bytes < dense_.kNone) dense_.add(type, static_cast<std::uint8_t>(bytes));
  }

  HandleMap<MPI_Datatype, 256> dense_;  // their bytes
  HandleMap<MPI_Datatype, 256> types_;  // MPICH's family has 110, half of them other sizes
  HandleMap<MPI_Op, 32> ops_;
  std::array<std::array<Reduction, kNumOperations>, kNumElements> reductions_;
};

std::atomic<const ReductionTable*> reduction_table{nullptr};

// Never freed: threads keep what they have found in it. No lock, because the loader is asked, whose
// lock another thread may hold while it waits for the table. At worst it is made twice.
const ReductionTable& find_reduction_table(const Pmpi& pmpi) {
  // (R2) load-acquire; pairs with (R1).
  const ReductionTable* found = reduction_table.load(std::memory_order_acquire);
  if (found != nullptr) return *found;
  const MpiSymbols find(reinterpret_cast<const void*>(pmpi.Barrier));
  auto made = std::make_unique<const ReductionTable>(find_predefined(find));
  // (R1) store-release; pairs with (R2). Also (R2) where another thread was first.
  if (reduction_table.compare_exchange_strong(found, made.get(), std::memory_order_acq_rel))
    return *made.release();
  return *found;
}

}  // namespace

const Reduction* look_up_reduction(const Pmpi& pmpi, MPI_Datatype type, MPI_Op op) {
  return find_reduction_table(pmpi).find(type, op);
}

const Reduction* look_up_pair(const Pmpi& pmpi, MPI_Datatype type) {
  return find_reduction_table(pmpi).find_pair(type);
}

std::size_t dense_bytes(const Pmpi& pmpi, MPI_Datatype type) {
  return find_reduction_table(pmpi).dense_bytes(type);
}

void remove_gaps(const PairLayout& layout, const void* from, void* to, std::size_t count) noexcept {
  const auto* pair = static_cast<const std::byte*>(from);
  auto* packed = static_cast<std::byte*>(to);
  for (std::size_t i = 0; i < count; ++i, pair += layout.extent) {
    std::memcpy(packed, pair, layout.value_bytes);
    std::memcpy(packed + layout.value_bytes, pair + layout.index_at, layout.index_bytes);
    packed += layout.value_bytes + layout.index_bytes;
  }
}

void restore_gaps(const PairLayout& layout, const void* from, void* to,
                  std::size_t count) noexcept {
  const auto* packed = static_cast<const std::byte*>(from);
  auto* pair = static_cast<std::byte*>(to);
  for (std::size_t i = 0; i < count; ++i, pair += layout.extent) {
    std::memcpy(pair, packed, layout.value_bytes);
    std::memcpy(pair + layout.index_at, packed + layout.value_bytes, layout.index_bytes);
    packed += layout.value_bytes + layout.index_bytes;
  }
}

}  // namespace hierbar::mpi
