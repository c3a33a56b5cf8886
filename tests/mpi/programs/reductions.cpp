// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One rank, without the shim: for each predefined type and operation, whether the library accepts
// the two, and whether it gives for two inputs what the shim's reduction gives. Where libraries are
// known to be wrong, as with unsigned integers, the reduction is right: fold_test.cpp shows it.
// Prints what only the reduction serves.

#include "mpi/reduction/reduction.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "mpi/library/pmpi.hpp"
#include "mpi/library/predefined.hpp"
#include "mpi_test.hpp"

namespace hierbar::test {
namespace {

using namespace hierbar::mpi;

constexpr std::size_t kCount = 9;
constexpr std::size_t kMostBytes = 64;  // of an element
using Elements = std::array<std::byte, kCount * kMostBytes>;

const Pmpi& own_pmpi() {
  static const Pmpi pmpi = [] {
    Pmpi made{};
    made.Barrier = &PMPI_Barrier;
    return made;
  }();
  return pmpi;
}

const PredefinedHandles& own_predefined() {
  static const PredefinedHandles predefined =
      find_predefined(MpiSymbols(reinterpret_cast<const void*>(&PMPI_Barrier)));
  return predefined;
}

std::size_t extent_of(MPI_Datatype type) {
  MPI_Aint low = 0, extent = 0;
  CHECK(MPI_Type_get_extent(type, &low, &extent) == MPI_SUCCESS && low == 0);
  return static_cast<std::size_t>(extent);
}

// ---- inputs: small numbers, whose sums and products are exact ----

template <class T>
void put(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof(T));
}

int number_of(int input, std::size_t i) {
  return static_cast<int>(i * 7 + static_cast<std::size_t>(input) * 5) % 11 - 5;
}

void put_integer(std::byte* to, std::size_t bytes, long long value) {
  std::memcpy(to, &value, bytes);
}

void put_real(std::byte* to, std::size_t bytes, int value) {
  if (bytes == sizeof(float)) put(to, static_cast<float>(value));
  if (bytes == sizeof(double)) put(to, static_cast<double>(value));
  if (bytes == sizeof(long double)) put(to, static_cast<long double>(value));
}

// A type's value at `to`, and where its index stands.
void put_pair(std::byte* to, TypeKind kind, std::size_t bytes, int value, int index) {
  switch (kind) {
    case TypeKind::kFloatInt:
      put(to, static_cast<float>(value)), put(to + 4, index);
      break;
    case TypeKind::kDoubleInt:
      put(to, static_cast<double>(value)), put(to + 8, index);
      break;
    case TypeKind::kLongDoubleInt:
      put(to, static_cast<long double>(value)), put(to + 16, index);
      break;
    case TypeKind::kShortInt:
      put(to, static_cast<short>(value)), put(to + 4, index);
      break;
    case TypeKind::kLongInt:
      put(to, static_cast<long>(value)), put(to + 8, index);
      break;
    case TypeKind::kTwoIntegers:
      put_integer(to, bytes / 2, value), put_integer(to + bytes / 2, bytes / 2, index);
      break;
    default:
      put_real(to, bytes / 2, value), put_real(to + bytes / 2, bytes / 2, index);
  }
}

Elements make_input(const NamedType& type, std::size_t extent, int input) {
  Elements elements{};
  for (std::size_t i = 0; i < kCount; ++i) {
    std::byte* const to = &elements[i * extent];
    const int value = number_of(input, i);
    switch (type.kind) {
      case TypeKind::kSigned:
      case TypeKind::kUnsigned:
      case TypeKind::kByte:
        put_integer(to, type.bytes, value);
        break;
      case TypeKind::kBool:
      case TypeKind::kLogical:
        put_integer(to, type.bytes, value > 0 ? 1 : 0);
        break;
      case TypeKind::kReal:
      case TypeKind::kLongDouble:
        put_real(to, type.bytes, value);
        break;
      case TypeKind::kComplex:
      case TypeKind::kLongDoubleComplex:
        put_real(to, type.bytes / 2, value);
        put_real(to + type.bytes / 2, type.bytes / 2, value - input);
        break;
      default:  // every third value is the same
        put_pair(to, type.kind, type.bytes, i % 3 == 0 ? 4 : value, 10 - input - (i > 4 ? 0 : 3));
    }
  }
  return elements;
}

// ---- one type and operation ----

bool has_padding(TypeKind kind) {
  return kind == TypeKind::kLongDouble || kind == TypeKind::kLongDoubleComplex ||
         kind == TypeKind::kLongDoubleInt;
}

// Of a long double's bytes x86 uses ten; the library leaves any in the others.
Elements without_padding(const NamedType& type, std::size_t extent, Elements elements) {
  if (!has_padding(type.kind) || std::numeric_limits<long double>::digits != 64) return elements;
  const std::size_t step = type.kind == TypeKind::kLongDoubleInt ? extent : sizeof(long double);
  for (std::size_t at = 0; at + step <= kCount * extent; at += step)
    std::fill_n(&elements[at + 10], 6, std::byte{});
  return elements;
}

// What the reduction makes of the two, where `right` is and the result shall be.
void reduce(const Reduction& reduction, const Elements& left, Elements& right) {
  std::vector<std::byte> packed(kCount * reduction.element_bytes);
  const void* from_left = left.data();
  if (reduction.has_gaps()) {
    remove_gaps(reduction.layout, left.data(), packed.data(), kCount);
    from_left = packed.data();
  }
  const int status = cross_without_gaps(reduction, {right.data(), kCount, right.data(), kCount},
                                        [&](const void* from, void* to) {
                                          const void* const inputs[] = {from_left, from};
                                          reduction(to, inputs, 2, kCount);
                                          return MPI_SUCCESS;
                                        });
  CHECK(status == MPI_SUCCESS);
}

struct Counts {
  int compared = 0, wrong = 0, known_faults = 0, only_here = 0;
};

// MPICH 4.0.2 compares unsigned integers as signed ones (its issue 6083), Open MPI 4.1.4 some of
// them (10648), and MPI_OFFSET the other way. Open MPI's vectors of short ones do not wrap (8045).
bool is_known_fault(const NamedType& type, const NamedOp& op) {
  const bool is_comparison = op.operation == Operation::kMax || op.operation == Operation::kMin;
  if (type.handle == MPI_OFFSET) return is_comparison;
  if (type.kind != TypeKind::kUnsigned) return false;
  return is_comparison || (op.operation == Operation::kSum && type.bytes <= 2);
}

// The library is not asked for what MPI does not allow: MPICH 4.0.2 ends the program.
void compare(const NamedType& type, const NamedOp& op, Counts& counts) {
  const Reduction* const reduction = find_reduction(own_pmpi(), type.handle, op.handle);
  if (reduction == nullptr) return;
  const std::size_t extent = extent_of(type.handle);
  CHECK(extent * kCount <= sizeof(Elements));
  CHECK(extent == (reduction->has_gaps() ? reduction->layout.extent : reduction->element_bytes));
  const Elements left = make_input(type, extent, 1);
  Elements theirs = make_input(type, extent, 2), ours = theirs;
  if (MPI_Reduce_local(left.data(), theirs.data(), kCount, type.handle, op.handle) != MPI_SUCCESS) {
    std::printf("only here: %s of %s\n", op.name, type.name);
    ++counts.only_here;
    return;
  }
  reduce(*reduction, left, ours);
  ++counts.compared;
  if (without_padding(type, extent, ours) == without_padding(type, extent, theirs)) return;
  const bool is_known = is_known_fault(type, op);
  std::printf("%s: %s of %s\n", is_known ? "a fault of the library" : "not alike", op.name,
              type.name);
  ++(is_known ? counts.known_faults : counts.wrong);
}

// ---- handles ----

const NamedType* find_type(const PredefinedHandles& predefined, MPI_Datatype handle) {
  const auto found = std::find_if(predefined.types.begin(), predefined.types.end(),
                                  [&](const NamedType& type) { return type.handle == handle; });
  return found != predefined.types.end() ? &*found : nullptr;
}

// The handles that are found at run time are those that the compiler gives the program.
void check_handles(const PredefinedHandles& predefined) {
  struct {
    MPI_Datatype type;
    const char* name;
  } const types[] = {{MPI_INT, "MPI_INT"},
                     {MPI_AINT, "MPI_AINT"},
                     {MPI_UINT64_T, "MPI_UINT64_T"},
                     {MPI_DOUBLE, "MPI_DOUBLE"},
                     {MPI_LONG_DOUBLE, "MPI_LONG_DOUBLE"},
                     {MPI_C_BOOL, "MPI_C_BOOL"},
                     {MPI_BYTE, "MPI_BYTE"},
                     {MPI_CXX_DOUBLE_COMPLEX, "MPI_CXX_DOUBLE_COMPLEX"},
                     {MPI_2INT, "MPI_2INT"},
                     {MPI_LONG_DOUBLE_INT, "MPI_LONG_DOUBLE_INT"},
                     {MPI_INTEGER, "MPI_INTEGER"},
                     {MPI_DOUBLE_PRECISION, "MPI_DOUBLE_PRECISION"},
                     {MPI_DOUBLE_COMPLEX, "MPI_DOUBLE_COMPLEX"},
                     {MPI_LOGICAL, "MPI_LOGICAL"},
                     {MPI_2REAL, "MPI_2REAL"}};
  for (const auto& [type, name] : types) {
    const NamedType* const found = find_type(predefined, type);
    CHECK(found != nullptr && std::string(found->name) == name);
    int bytes = 0;
    MPI_Type_size(type, &bytes);
    CHECK(found->bytes == 0 || found->bytes == static_cast<std::size_t>(bytes));
  }
  CHECK(predefined.ops.size() == kNumOperations);
  for (const auto& [op, name] : {std::pair(MPI_SUM, "MPI_SUM"), {MPI_MAXLOC, "MPI_MAXLOC"}}) {
    CHECK(std::any_of(predefined.ops.begin(), predefined.ops.end(),
                      [&, op = op, name = name](const NamedOp& named) {
                        return named.handle == op && std::string(named.name) == name;
                      }));
  }
}

const Reduction* find(MPI_Datatype type, MPI_Op op) { return find_reduction(own_pmpi(), type, op); }

void check_synonyms() {
  for (const MPI_Op op : {MPI_SUM, MPI_MAX, MPI_LAND, MPI_BXOR, MPI_MINLOC}) {
    for (const MPI_Datatype type : {MPI_LONG_LONG, MPI_INT64_T, MPI_AINT, MPI_OFFSET, MPI_COUNT})
      CHECK(find(type, op) == find(MPI_LONG, op));
    CHECK(find(MPI_INTEGER, op) == find(MPI_INT, op));
    CHECK(find(MPI_DOUBLE_PRECISION, op) == find(MPI_DOUBLE, op));
    CHECK(find(MPI_DOUBLE_COMPLEX, op) == find(MPI_C_DOUBLE_COMPLEX, op));
    CHECK(find(MPI_CXX_BOOL, op) == find(MPI_C_BOOL, op));
    CHECK(find(MPI_2INTEGER, op) == find(MPI_2INT, op));
  }
  // As Fortran's handles come to the shim.
  const MPI_Datatype integer = MPI_Type_f2c(MPI_Type_c2f(MPI_INTEGER));
  CHECK(find(integer, MPI_SUM) != nullptr && find(integer, MPI_SUM) == find(MPI_INT, MPI_SUM));
}

void ignore(void*, void*, int*, MPI_Datatype*) {}

void check_what_is_not_predefined() {
  MPI_Datatype several, copy;
  MPI_Op op;
  MPI_Type_contiguous(2, MPI_INT, &several);
  MPI_Type_commit(&several);
  MPI_Type_dup(MPI_INT, &copy);
  MPI_Op_create(&ignore, 1, &op);
  CHECK(find(several, MPI_SUM) == nullptr);
  CHECK(find(copy, MPI_SUM) == nullptr);
  CHECK(find(MPI_INT, op) == nullptr);
  CHECK(find(MPI_DATATYPE_NULL, MPI_SUM) == nullptr);
  CHECK(find(MPI_INT, MPI_OP_NULL) == nullptr);
  CHECK(find(MPI_INT, MPI_REPLACE) == nullptr);
  CHECK(find(MPI_CHAR, MPI_SUM) == nullptr);
  MPI_Type_free(&several);
  MPI_Type_free(&copy);
  MPI_Op_free(&op);
}

// The table of MPICH's family has handles of other Fortran sizes, and of newer libraries.
bool is_in_library(const NamedType& type) {
#ifndef MPI_LOGICAL1
  if (type.kind == TypeKind::kLogical && type.handle != MPI_LOGICAL) return false;
#endif
  for (const MPI_Datatype fortran :
       {MPI_INTEGER, MPI_REAL, MPI_DOUBLE_PRECISION, MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_LOGICAL,
        MPI_2INTEGER, MPI_2REAL, MPI_2DOUBLE_PRECISION}) {
    const NamedType* const known = find_type(own_predefined(), fortran);
    if (known != nullptr && std::strcmp(known->name, type.name) == 0) return type.handle == fortran;
  }
  return true;
}

int run() {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  const PredefinedHandles& predefined = own_predefined();
  check_handles(predefined);
  check_synonyms();
  check_what_is_not_predefined();
  Counts counts;
  for (const NamedType& type : predefined.types) {
    if (!is_in_library(type)) continue;
    for (const NamedOp& op : predefined.ops) compare(type, op, counts);
  }
  std::printf("%d compared, %d not alike, %d known faults, %d only here\n", counts.compared,
              counts.wrong, counts.known_faults, counts.only_here);
  return counts.wrong == 0 && counts.compared > 300 ? 0 : 1;
}

}  // namespace
}  // namespace hierbar::test

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = hierbar::test::run();
  MPI_Finalize();
  return status;
}
