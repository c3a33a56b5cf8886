// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fold/fold.hpp"
#include "mpi/library/mpi_symbols.hpp"

namespace hierbar::mpi {

// What a predefined type's elements are. With the number of bytes it says how to combine them.
enum class TypeKind : std::uint8_t {
  kSigned,
  kUnsigned,
  kReal,
  kLongDouble,  // C's, whatever it is
  kComplex,
  kLongDoubleComplex,
  kBool,
  kLogical,
  kByte,
  kFloatInt,
  kDoubleInt,
  kLongDoubleInt,
  kShortInt,
  kLongInt,
  kTwoIntegers,
  kTwoReals
};

// The predefined types for which MPI allows a predefined operation: kind, Open MPI's ompi_mpi_NAME,
// name in MPI. A type that stands here twice under other names has the same kind and size, so all
// ranks come to one verdict on it (docs/design/mpi-calls.md#d0191).
// clang-format off
#define HIERBAR_MPI_TYPES(X) \
  X(kSigned, signed_char, MPI_SIGNED_CHAR) X(kSigned, short, MPI_SHORT) \
  X(kSigned, int, MPI_INT) X(kSigned, long, MPI_LONG) \
  X(kSigned, long_long_int, MPI_LONG_LONG_INT) X(kSigned, int8_t, MPI_INT8_T) \
  X(kSigned, int16_t, MPI_INT16_T) X(kSigned, int32_t, MPI_INT32_T) \
  X(kSigned, int64_t, MPI_INT64_T) X(kSigned, aint, MPI_AINT) X(kSigned, offset, MPI_OFFSET) \
  X(kSigned, count, MPI_COUNT) X(kSigned, integer1, MPI_INTEGER1) \
  X(kSigned, integer2, MPI_INTEGER2) X(kSigned, integer4, MPI_INTEGER4) \
  X(kSigned, integer8, MPI_INTEGER8) X(kUnsigned, unsigned_char, MPI_UNSIGNED_CHAR) \
  X(kUnsigned, unsigned_short, MPI_UNSIGNED_SHORT) X(kUnsigned, unsigned, MPI_UNSIGNED) \
  X(kUnsigned, unsigned_long, MPI_UNSIGNED_LONG) \
  X(kUnsigned, unsigned_long_long, MPI_UNSIGNED_LONG_LONG) X(kUnsigned, uint8_t, MPI_UINT8_T) \
  X(kUnsigned, uint16_t, MPI_UINT16_T) X(kUnsigned, uint32_t, MPI_UINT32_T) \
  X(kUnsigned, uint64_t, MPI_UINT64_T) X(kReal, float, MPI_FLOAT) X(kReal, double, MPI_DOUBLE) \
  X(kReal, real4, MPI_REAL4) X(kReal, real8, MPI_REAL8) X(kReal, real16, MPI_REAL16) \
  X(kLongDouble, long_double, MPI_LONG_DOUBLE) X(kComplex, c_complex, MPI_C_COMPLEX) \
  X(kComplex, c_float_complex, MPI_C_FLOAT_COMPLEX) \
  X(kComplex, c_double_complex, MPI_C_DOUBLE_COMPLEX) \
  X(kComplex, cxx_cplex, MPI_CXX_FLOAT_COMPLEX) \
  X(kComplex, cxx_dblcplex, MPI_CXX_DOUBLE_COMPLEX) X(kComplex, complex8, MPI_COMPLEX8) \
  X(kComplex, complex16, MPI_COMPLEX16) X(kComplex, complex32, MPI_COMPLEX32) \
  X(kLongDoubleComplex, c_long_double_complex, MPI_C_LONG_DOUBLE_COMPLEX) \
  X(kLongDoubleComplex, cxx_ldblcplex, MPI_CXX_LONG_DOUBLE_COMPLEX) \
  X(kBool, c_bool, MPI_C_BOOL) X(kBool, cxx_bool, MPI_CXX_BOOL) \
  X(kLogical, logical1, MPI_LOGICAL1) X(kLogical, logical2, MPI_LOGICAL2) \
  X(kLogical, logical4, MPI_LOGICAL4) X(kLogical, logical8, MPI_LOGICAL8) \
  X(kByte, byte, MPI_BYTE) X(kFloatInt, float_int, MPI_FLOAT_INT) \
  X(kDoubleInt, double_int, MPI_DOUBLE_INT) \
  X(kLongDoubleInt, longdbl_int, MPI_LONG_DOUBLE_INT) X(kShortInt, short_int, MPI_SHORT_INT) \
  X(kLongInt, long_int, MPI_LONG_INT) X(kTwoIntegers, 2int, MPI_2INT)

// Those whose size is chosen when the MPI library is built, as by gfortran -fdefault-integer-8.
#define HIERBAR_MPI_FORTRAN_TYPES(X) \
  X(kSigned, integer, MPI_INTEGER) X(kReal, real, MPI_REAL) \
  X(kReal, dblprec, MPI_DOUBLE_PRECISION) X(kComplex, cplex, MPI_COMPLEX) \
  X(kComplex, dblcplex, MPI_DOUBLE_COMPLEX) X(kLogical, logical, MPI_LOGICAL) \
  X(kTwoIntegers, 2integer, MPI_2INTEGER) X(kTwoReals, 2real, MPI_2REAL) \
  X(kTwoReals, 2dblprec, MPI_2DOUBLE_PRECISION)

// Those that can only be moved: Open MPI's ompi_mpi_NAME, name in MPI.
#define HIERBAR_MPI_MOVED_TYPES(X) \
  X(char, MPI_CHAR) X(wchar, MPI_WCHAR) X(character, MPI_CHARACTER) X(packed, MPI_PACKED)

// The operations: name in runtime/fold, Open MPI's ompi_mpi_op_NAME, name in MPI.
#define HIERBAR_MPI_OPERATIONS(X) \
  X(kSum, sum, MPI_SUM) X(kProd, prod, MPI_PROD) X(kMax, max, MPI_MAX) X(kMin, min, MPI_MIN) \
  X(kLand, land, MPI_LAND) X(kLor, lor, MPI_LOR) X(kLxor, lxor, MPI_LXOR) \
  X(kBand, band, MPI_BAND) X(kBor, bor, MPI_BOR) X(kBxor, bxor, MPI_BXOR) \
  X(kMinloc, minloc, MPI_MINLOC) X(kMaxloc, maxloc, MPI_MAXLOC)
// clang-format on

struct NamedType {
  const char* name;  // "MPI_INT"
  TypeKind kind;
  MPI_Datatype handle;
  std::size_t bytes;  // of the values alone, without gaps; 0: unknown, in pairs of C types
};

struct MovedType {
  MPI_Datatype handle;
  std::size_t bytes;
};

struct NamedOp {
  const char* name;
  Operation operation;
  MPI_Op handle;
};

struct PredefinedHandles {
  std::vector<NamedType> types;
  std::vector<NamedOp> ops;
  std::vector<MovedType> moved;
};

// Where the handles are constants of the header: all operations, and the types that can only be
// moved. bytes_in(type) is the size of a type.
template <class BytesIn>
void add_ops_and_moved(PredefinedHandles& found, const BytesIn& bytes_in){
#define HIERBAR_OP(operation, name, constant) \
  found.ops.push_back({#constant, Operation::operation, constant});
    HIERBAR_MPI_OPERATIONS(HIERBAR_OP)
#undef HIERBAR_OP
#define HIERBAR_TYPE(name, constant) found.moved.push_back({constant, bytes_in(constant)});
        HIERBAR_MPI_MOVED_TYPES(HIERBAR_TYPE)
#undef HIERBAR_TYPE
}

// The rows of the tables that the library has. A family of libraries defines it in its file.
PredefinedHandles find_predefined(const MpiSymbols& find);

}  // namespace hierbar::mpi
