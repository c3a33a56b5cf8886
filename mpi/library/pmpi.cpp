// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/library/pmpi.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "base/trusted_variable.hpp"
#include "mpi/library/family.hpp"
#include "mpi/settings/report_settings.hpp"
#include "mpi/settings/settings.hpp"

namespace hierbar::mpi {
namespace {

template <class Function>
void bind(void* symbol, Function& function) {
  function = reinterpret_cast<Function>(symbol);
}

// An address in a library that this shim does not serve. It is written before (P2) and read after
// (P1).
const void* library_not_served = nullptr;

// The definition that counts for the whole program is another shim's. That one says what there is
// to say, and if it is of this family, it serves.
bool is_behind_other_shim() {
  const void* const first = dlsym(RTLD_DEFAULT, kOnlyInShims);
  return first != nullptr && !are_in_one_file(first, &library_not_served) && !is_in_front(first);
}

// Stands for a function that the library does not have.
int fail() { return MPI_ERR_OTHER; }

// Whether that shim is of this family, too.
bool is_served_by_first_shim() {
  const std::string first = file_of(dlsym(RTLD_DEFAULT, kOnlyInShims));
  return first.substr(first.rfind('/') + 1) == shim_file();
}

const Pmpi* decline(const std::string& reason) {
  if (is_first_process() && !is_behind_other_shim()) print_line(reason);
  return nullptr;
}

const Pmpi* decline_library(const std::string& file, LibraryFamily family) {
  const std::string right = family != LibraryFamily::kNone ? std::string(row_of(family).shim_file) +
                                                                 " is for " + row_of(family).name
                                                           : "hierbar has none for that library";
  return decline("this program uses " + file + ", but " + shim_file() + " is for " +
                 row_of(kFamily).name + " only (" + right + "); it does nothing here");
}

// PMPI_Barrier of the library that the program has opened.
// (P6) release in serves_opened(); pairs with (P5), the acquire of whoever binds.
std::atomic<const void*> opened_barrier{nullptr};

bool is_of_tool(const void* definition, const void* library) {
  return definition != nullptr && !are_in_one_file(definition, library) && !is_in_shim(definition);
}

void bind_next(const MpiSymbols& find, Pmpi& pmpi) {
  const auto next = [&find](const char* symbol, const char* profiling_symbol) {
    void* const found = next_definition(symbol);
    return found != nullptr ? found : find(profiling_symbol);
  };
#define HIERBAR_BIND(name) bind(next("MPI_" #name, "PMPI_" #name), pmpi.next.name);
#define HIERBAR_BIND_DATA(name, lower) HIERBAR_BIND(name)
#define HIERBAR_BIND_LARGE(name, lower) HIERBAR_BIND(name##_c)
  HIERBAR_NEXT_FUNCTIONS(HIERBAR_BIND)
  HIERBAR_DATA_FUNCTIONS(HIERBAR_BIND_DATA)
#ifdef HIERBAR_HEADER_HAS_LARGE_COUNTS
  HIERBAR_DATA_FUNCTIONS(HIERBAR_BIND_LARGE)
#endif
#undef HIERBAR_BIND_DATA
#undef HIERBAR_BIND_LARGE
#ifdef HIERBAR_HEADER_HAS_SESSIONS
  HIERBAR_BIND(Session_init)
  HIERBAR_BIND(Session_finalize)
#endif
#undef HIERBAR_BIND
#define HIERBAR_BIND(name) bind(next("MPIX_" #name, "PMPIX_" #name), pmpi.next.name);
  HIERBAR_BIND(Threadcomm_init)
  HIERBAR_BIND(Threadcomm_start)
  HIERBAR_BIND(Threadcomm_finish)
  HIERBAR_BIND(Threadcomm_free)
#undef HIERBAR_BIND
}

// `name` and `fortran` are a function's names in C and in Fortran, there without an ending.
CallTool find_tool(const Pmpi& pmpi, const char* name, const std::string& fortran) {
  const auto* const library = reinterpret_cast<const void*>(pmpi.Barrier);
  CallTool tool;
  tool.is_before = is_of_tool(dlsym(RTLD_DEFAULT, name), library);
  tool.is_behind = is_of_tool(next_definition(name), library);
  for (const char* ending : {"_", "__", "_f08_"}) {
    const void* const next = next_definition((fortran + ending).c_str());
    if (is_of_tool(next, library) && !is_of_fortran_library(next)) tool.is_in_fortran = true;
  }
  return tool;
}

// The calls with data in the library's own file: the shims define them, too. Returns the name of
// the first one that it lacks, or null.
const char* bind_data_functions(const void* library, Pmpi& pmpi) {
  const char* missing = nullptr;
#define HIERBAR_BIND(name, lower)                             \
  bind(definition_inside(library, "PMPI_" #name), pmpi.name); \
  if (pmpi.name == nullptr && missing == nullptr) missing = "PMPI_" #name;
  HIERBAR_DATA_FUNCTIONS(HIERBAR_BIND)
#undef HIERBAR_BIND
#ifdef HIERBAR_HEADER_HAS_LARGE_COUNTS
#define HIERBAR_BIND(name, lower) \
  bind(definition_inside(library, "PMPI_" #name "_c"), pmpi.name##_c);
  HIERBAR_DATA_FUNCTIONS(HIERBAR_BIND)
#undef HIERBAR_BIND
#endif
  return missing;
}

// The tools of all calls that the shim serves.
void find_tools(Pmpi& pmpi) {
  pmpi.tool = find_tool(pmpi, "MPI_Barrier", "mpi_barrier");
#define HIERBAR_FIND(name, lower)                                   \
  pmpi.lower##_tool = find_tool(pmpi, "MPI_" #name, "mpi_" #lower); \
  pmpi.large_##lower##_tool = find_tool(pmpi, "MPI_" #name "_c", "mpi_" #lower "_c");
  HIERBAR_DATA_FUNCTIONS(HIERBAR_FIND)
#undef HIERBAR_FIND
}

// What not every library has.
void bind_optional(const MpiSymbols& find, Pmpi& pmpi) {
  bind(find(kCommFromFortran), pmpi.Comm_f2c);
  bind(find("PMPI_Type_f2c"), pmpi.Type_f2c);
  bind(find("PMPI_Op_f2c"), pmpi.Op_f2c);
  // As MPI's standard ABI calls them.
  if (pmpi.Type_f2c == nullptr) bind(find("PMPI_Type_fromint"), pmpi.Type_f2c);
  if (pmpi.Op_f2c == nullptr) bind(find("PMPI_Op_fromint"), pmpi.Op_f2c);
  bind(find("PMPIX_Comm_test_threadcomm"), pmpi.Comm_test_threadcomm);
#ifdef HIERBAR_HEADER_HAS_SESSIONS
  bind(find("PMPI_Session_get_info"), pmpi.Session_get_info);
#else
  pmpi.has_unseen_sessions = find("PMPI_Session_init") != nullptr;
#endif
  pmpi.own_progress = find_progress(find);
  constexpr std::array kNames = {"MPIX_Query_cuda_support", "MPIX_Query_hip_support",
                                 "MPIX_Query_rocm_support", "MPIX_Query_ze_support"};
  for (std::size_t i = 0; i < kNames.size(); ++i)
    bind(find(kNames[i]), pmpi.query_device_support[i]);
}

// Returns null if this shim does not serve the program.
const Pmpi* bind_all(const void* caller) {
  const MpiSymbols find(caller, opened_barrier.load(std::memory_order_acquire));  // (P5)
  const void* const library = find(kInEveryMpi);
  void* const barrier = library != nullptr ? definition_inside(library, "PMPI_Barrier") : nullptr;
  if (barrier == nullptr) {
    return decline("this program calls MPI functions, but has no MPI library with PMPI_Barrier; " +
                   std::string(shim_file()) + " does nothing here");
  }
  library_not_served = barrier;
  const std::string file = file_of(barrier);
  const LibraryFamily family = family_of(barrier, file);
  if (family != kFamily) return decline_library(file, family);
  if (is_behind_other_shim() && is_served_by_first_shim()) return nullptr;
  auto* pmpi = new Pmpi{};
#define HIERBAR_BIND(name) bind(find.need("PMPI_" #name), pmpi->name);
  HIERBAR_PMPI_FUNCTIONS(HIERBAR_BIND)
#undef HIERBAR_BIND
  bind_handles(find, *pmpi);
  bind(barrier, pmpi->Barrier);
  const char* const missing_data = bind_data_functions(library, *pmpi);
  const char* const missing = missing_data != nullptr ? missing_data : find.missing();
  if (missing != nullptr) {
    return decline("this program uses " + file + ", which lacks " + missing + "; " + shim_file() +
                   " does nothing here");
  }
  bind_next(find, *pmpi);
  bind_optional(find, *pmpi);
  pmpi->file = file;
  pmpi->extent = extent_of(barrier);
  find_tools(*pmpi);
  pmpi->has_user_threads = definition_behind(barrier, "ABT_thread_yield") != nullptr;
  if (pmpi->has_user_threads && is_first_process()) {
    print_line(file + " is built on Argobots, and barriers of " + shim_file() +
               " cannot switch its threads; the MPI library's own barrier is used");
  }
  return pmpi;
}

std::mutex lookup_mutex;
const Pmpi foreign{};  // stands for a library that this shim does not serve
std::atomic<const Pmpi*> found{nullptr};
std::atomic<const Pmpi*> found_unrecorded{nullptr};

}  // namespace

bool serves_opened(const void* barrier) {
  const std::string file = file_of(barrier);
  const LibraryFamily family = family_of(barrier, file);
  if (family != kFamily) {
    static std::atomic<bool> is_said{false};
    // Relaxed: at worst the line is printed twice.
    if (found.load(std::memory_order_relaxed) == nullptr &&
        !is_said.exchange(true, std::memory_order_relaxed)) {
      decline_library(file, family);
    }
    return false;
  }
  if (const Pmpi* const pmpi = found.load(std::memory_order_acquire)) {  // (P1)
    return pmpi != &foreign &&
           are_in_one_file(reinterpret_cast<const void*>(pmpi->Barrier), barrier);
  }
  const void* first = nullptr;
  opened_barrier.compare_exchange_strong(first, barrier, std::memory_order_acq_rel);  // (P6)
  return first == nullptr || are_in_one_file(first, barrier);
}

std::string name_of(const Pmpi& pmpi, MPI_Comm comm) {
  char name[MPI_MAX_OBJECT_NAME] = "";
  int length = 0;
  pmpi.Comm_get_name(comm, name, &length);
  return length > 0 ? name : "an unnamed communicator";
}

const Pmpi* find_pmpi(const void* caller) {
  // (P1) load-acquire; pairs with (P2), the release of the filled table.
  const Pmpi* pmpi = found.load(std::memory_order_acquire);  // (P1)
  if (pmpi == nullptr) {
    const std::lock_guard lock(lookup_mutex);
    // Relaxed: the lock orders it after (P2).
    pmpi = found.load(std::memory_order_relaxed);
    if (pmpi == nullptr) {
      pmpi = bind_all(caller);
      if (pmpi == nullptr) pmpi = &foreign;
      // (P2) store-release; pairs with (P1).
      found.store(pmpi, std::memory_order_release);
    }
  }
  return pmpi != &foreign ? pmpi : nullptr;
}

const Pmpi* find_pmpi_unrecorded(const void* caller) {
  const Pmpi* pmpi = found_unrecorded.load(std::memory_order_acquire);  // (P3) pairs with (P4)
  if (pmpi != nullptr) return pmpi;
  pmpi = find_pmpi(caller);
  if (pmpi == nullptr || report_settings().asked || pmpi->tool.exists()) return nullptr;
  // (P4) store-release of the same table; pairs with (P3).
  found_unrecorded.store(pmpi, std::memory_order_release);
  return pmpi;
}

void* find_next(const char* symbol, const char* profiling_symbol) {
  // Not another shim where the program does not see its MPI library: it would look for that from
  // our address, in vain. The library's own function is looked for from `library_not_served` and
  // not from the present caller, who may not know MPI: MPI_Finalize may be an interpreter's exit
  // handler.
  void* next = next_definition(symbol);
  const bool is_hidden =
      library_not_served != nullptr && dlsym(RTLD_DEFAULT, kInEveryMpi) == nullptr;
  if (next != nullptr && !(is_hidden && is_in_shim(next))) return next;
  next = library_not_served != nullptr ? MpiSymbols(library_not_served)(profiling_symbol) : nullptr;
  // It may be a name that this shim has as well.
  if (next != nullptr && are_in_one_file(next, &library_not_served))
    next = definition_inside(library_not_served, profiling_symbol);
  if (next != nullptr) return next;
  const std::string reason =
      "this program calls " + std::string(symbol) + "(), which only " + shim_file() + " defines";
  if (library_not_served == nullptr) {
    // A static MPI library does not even have a function in the program that the linker has found
    // here.
    print_line(reason +
               ", so the program is ended; if its MPI library is linked in (libmpich.a), link the "
               "shared library (libmpich.so), or leave " +
               shim_file() + " out");
    _exit(EXIT_FAILURE);
  }
  print_line(reason + "; the call fails with MPI_ERR_OTHER");
  return reinterpret_cast<void*>(&fail);
}

void* find_in_other_shim(const char* symbol) {
  if (void* next = next_definition(symbol)) return next;
  const void* const library = library_not_served;
  const LibraryFamily family =
      library != nullptr ? family_of(library, file_of(library)) : LibraryFamily::kNone;
  const std::string call = std::string("this program calls ") + symbol + "(), ";
  if (family == LibraryFamily::kNone || family == kFamily) {
    print_line(call + "but hierbar has no version of it for the program's MPI library");
    std::abort();
  }
  const std::string file = row_of(family).shim_file;
  const std::string own = file_of(&foreign);
  const std::string beside = directory_of(&foreign) + file;
  void* const other = dlopen(beside.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  void* const found = other != nullptr ? dlsym(other, symbol) : nullptr;
  if (found != nullptr) return found;
  print_line(call + "whose version for its MPI library is in " + file +
             "; preload or link that, or put it into the directory of " + own);
  std::abort();
}

bool takes_device_memory(const Pmpi& pmpi) {
  for (int (*const query)() : pmpi.query_device_support) {
    if (query != nullptr && query() == 1) return true;
  }
  // Of Cray's MPICH, of MPICH, which takes it for granted where it can, and of Intel's.
  for (const char* name : {"MPICH_GPU_SUPPORT_ENABLED", "MPIR_CVAR_ENABLE_GPU", "I_MPI_OFFLOAD"}) {
    const char* const value = trusted_variable(name);
    if (value != nullptr && *value != '\0' && std::strcmp(value, "0") != 0) return true;
  }
  return false;
}

bool packs_plainly(const Pmpi& pmpi, MPI_Comm comm) {
  const long long values[2] = {1, -2};
  std::byte packed[4 * sizeof(values)]{};
  int position = 0;
  return pmpi.Pack(values, 2, pmpi.long_long, packed, static_cast<int>(sizeof(packed)), &position,
                   comm) == MPI_SUCCESS &&
         position == static_cast<int>(sizeof(values)) &&
         std::memcmp(packed, values, sizeof(values)) == 0;
}

QuietErrors::QuietErrors(const Pmpi& pmpi, MPI_Comm comm)
    : pmpi_(pmpi),
      comm_(comm),
      has_handler_(ask([&] { return pmpi.Comm_get_errhandler(comm, &handler_); })) {
  if (has_handler_) pmpi_.Comm_set_errhandler(comm_, pmpi_.errors_return);
}

QuietErrors::~QuietErrors() {
  if (!has_handler_) return;
  ask([&] { return pmpi_.Comm_set_errhandler(comm_, handler_); });
  pmpi_.Errhandler_free(&handler_);
}

MPI_Comm split_quietly(const Pmpi& pmpi, MPI_Comm comm, int colour) {
  MPI_Comm made = pmpi.comm_null;
  int status = MPI_SUCCESS;
  {
    const QuietErrors quiet(pmpi, comm);
    status = pmpi.Comm_split(comm, colour, 0, &made);
  }
  if (status != MPI_SUCCESS) return pmpi.comm_null;
  if (made != pmpi.comm_null) pmpi.Comm_set_errhandler(made, pmpi.errors_return);
  return made;
}

}  // namespace hierbar::mpi
