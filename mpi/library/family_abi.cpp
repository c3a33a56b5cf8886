// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MPI's standard ABI, whichever library has it (docs/design/mpi-calls.md#d0202). Handles are
// addresses. Those of predefined objects are small numbers, the same ones in Fortran.

#include <cstdint>
#include <cstdlib>

#include "mpi/library/family.hpp"
#include "mpi/library/pmpi.hpp"
#include "mpi/library/predefined.hpp"

namespace hierbar::mpi {
namespace {

struct SizedType {
  MPI_Datatype type;
  std::size_t bytes;
};

// Types of C, and characters, whose size the handle does not have. MPI_Type_size is not asked: for
// a type that the library does not have it may end the program.
std::size_t bytes_of_c_type(MPI_Datatype type) {
  static const SizedType kTypes[] = {{MPI_AINT, sizeof(MPI_Aint)},
                                     {MPI_COUNT, sizeof(MPI_Count)},
                                     {MPI_OFFSET, sizeof(MPI_Offset)},
                                     {MPI_SHORT, sizeof(short)},
                                     {MPI_INT, sizeof(int)},
                                     {MPI_LONG, sizeof(long)},
                                     {MPI_LONG_LONG, sizeof(long long)},
                                     {MPI_UNSIGNED_SHORT, sizeof(short)},
                                     {MPI_UNSIGNED, sizeof(int)},
                                     {MPI_UNSIGNED_LONG, sizeof(long)},
                                     {MPI_UNSIGNED_LONG_LONG, sizeof(long long)},
                                     {MPI_FLOAT, sizeof(float)},
                                     {MPI_DOUBLE, sizeof(double)},
                                     {MPI_LONG_DOUBLE, sizeof(long double)},
                                     {MPI_C_FLOAT_COMPLEX, 2 * sizeof(float)},
                                     {MPI_CXX_FLOAT_COMPLEX, 2 * sizeof(float)},
                                     {MPI_C_DOUBLE_COMPLEX, 2 * sizeof(double)},
                                     {MPI_CXX_DOUBLE_COMPLEX, 2 * sizeof(double)},
                                     {MPI_C_LONG_DOUBLE_COMPLEX, 2 * sizeof(long double)},
                                     {MPI_CXX_LONG_DOUBLE_COMPLEX, 2 * sizeof(long double)},
                                     {MPI_C_BOOL, sizeof(bool)},
                                     {MPI_CXX_BOOL, sizeof(bool)},
                                     {MPI_WCHAR, sizeof(wchar_t)},
                                     {MPI_CHARACTER, 1},
                                     {MPI_PACKED, 1},
                                     {MPI_2INT, 2 * sizeof(int)}};
  for (const SizedType& known : kTypes) {
    if (known.type == type) return known.bytes;
  }
  return 0;  // pairs
}

// Types of one size have these bits, and the size's logarithm below them.
constexpr std::uintptr_t kKindBits = 0x340, kOfOneSize = 0x240;
constexpr int kSizeShift = 3;
constexpr std::uintptr_t kSizeMask = 7;

std::size_t bytes_in(MPI_Datatype type) {
  const auto bits = reinterpret_cast<std::uintptr_t>(type);
  return (bits & kKindBits) == kOfOneSize ? std::size_t{1} << (bits >> kSizeShift & kSizeMask)
                                          : bytes_of_c_type(type);
}

// What the library says of Fortran's types. A process whose library has no Fortran is told what the
// others of its job are told, so all ranks come to one verdict.
class FortranSizes {
 public:
  explicit FortranSizes(const MpiSymbols& find)
      : get_(reinterpret_cast<decltype(&PMPI_Info_get)>(find("PMPI_Info_get"))),
        free_(reinterpret_cast<decltype(&PMPI_Info_free)>(find("PMPI_Info_free"))) {
    const auto get_info =
        reinterpret_cast<decltype(&PMPI_Abi_get_fortran_info)>(find("PMPI_Abi_get_fortran_info"));
    if (get_ == nullptr || free_ == nullptr || get_info == nullptr ||
        get_info(&info_) != MPI_SUCCESS)
      info_ = MPI_INFO_NULL;
  }
  ~FortranSizes() {
    if (info_ != MPI_INFO_NULL) free_(&info_);
  }
  FortranSizes(const FortranSizes&) = delete;
  FortranSizes& operator=(const FortranSizes&) = delete;

  // 0: the library does not say it.
  std::size_t bytes(MPI_Datatype type) const {
    if (type == MPI_LOGICAL) return number("mpi_logical_size");
    if (type == MPI_INTEGER) return number("mpi_integer_size");
    if (type == MPI_REAL) return number("mpi_real_size");
    if (type == MPI_DOUBLE_PRECISION) return number("mpi_double_precision_size");
    if (type == MPI_2INTEGER) return 2 * number("mpi_integer_size");
    if (type == MPI_COMPLEX || type == MPI_2REAL) return 2 * number("mpi_real_size");
    return 2 * number("mpi_double_precision_size");  // MPI_DOUBLE_COMPLEX, MPI_2DOUBLE_PRECISION
  }

 private:
  std::size_t number(const char* key) const {
    char value[32] = "";
    int is_there = 0;
    if (info_ == MPI_INFO_NULL ||
        get_(info_, key, sizeof(value) - 1, value, &is_there) != MPI_SUCCESS || is_there == 0)
      return 0;
    return std::strtoul(value, nullptr, 10);
  }

  const decltype(&PMPI_Info_get) get_;
  const decltype(&PMPI_Info_free) free_;
  MPI_Info info_ = MPI_INFO_NULL;
};

constexpr const char* kFaultToleranceSwitches[] = {"MPIR_CVAR_ENABLE_FT", "OMPI_MCA_mpi_ft_enable"};

}  // namespace

const LibraryFamily kFamily = LibraryFamily::kStandardAbi;
const std::span<const char* const> kFaultToleranceVariables = kFaultToleranceSwitches;
const char* const kProgressSymbol = "";  // the standard has none
const char* const kCommFromFortran = "PMPI_Comm_fromint";
const bool kThreadsMayMakeComms = true;
const bool kTakesOneElementTwice = false;
const bool kTakesOneBufferTwice = false;
const bool kTakesFewerBytes = false;
const bool kTakesOwnPart = false;

void bind_handles(const MpiSymbols& find, Pmpi& pmpi) {
  find.need(kCommFromFortran);
#define HIERBAR_HANDLE(type, name, constant) pmpi.name = constant;
  HIERBAR_MPI_HANDLES(HIERBAR_HANDLE)
#undef HIERBAR_HANDLE
}

PredefinedHandles find_predefined(const MpiSymbols& find) {
  PredefinedHandles found;
#define HIERBAR_TYPE(kind, name, constant) \
  found.types.push_back({#constant, TypeKind::kind, constant, bytes_in(constant)});
  HIERBAR_MPI_TYPES(HIERBAR_TYPE)
#undef HIERBAR_TYPE
  const FortranSizes sizes(find);
#define HIERBAR_TYPE(kind, name, constant)             \
  if (const std::size_t bytes = sizes.bytes(constant)) \
    found.types.push_back({#constant, TypeKind::kind, constant, bytes});
  HIERBAR_MPI_FORTRAN_TYPES(HIERBAR_TYPE)
#undef HIERBAR_TYPE
  add_ops_and_moved(found, bytes_in);
  return found;
}

void (*find_progress(const MpiSymbols&))() { return nullptr; }

MPI_Comm from_fortran(const Pmpi& pmpi, MPI_Fint comm) { return pmpi.Comm_f2c(comm); }

}  // namespace hierbar::mpi
