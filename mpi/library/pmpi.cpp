// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/library/pmpi.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "base/launchers.hpp"
#include "mpi/library/family.hpp"
#include "mpi/settings/message.hpp"
#include "mpi/settings/report_settings.hpp"

namespace hierbar::mpi {
namespace {

[[noreturn]] void give_up(const char* missing) {
  print_line(std::string("this program has no MPI library with ") + missing + "; do not load " + kShimFile + " into it");
  std::abort();
}

template <class Function>
void bind(void* symbol, Function& function) {
  function = reinterpret_cast<Function>(symbol);
}

// Whether this process may print for the program. MPI cannot be asked, so the launcher's variables
// must tell.
bool is_first_process() {
  const char* rank = rank_in_job(own_environment());
  return rank == nullptr || std::strcmp(rank, "0") == 0;
}

// The PMPI_Barrier of a library of another family. It is written before (P2) and read after (P1).
const void* foreign_barrier = nullptr;

// Returns null if the library is of another family.
const Pmpi* bind_all(const void* caller) {
  const MpiSymbols find(caller);
  const void* const barrier = find.need("PMPI_Barrier");
  if (barrier == nullptr) give_up(find.missing());
  const std::string file = file_of(barrier);
  if (!is_of_family(find, file)) {
    if (is_first_process()) {
      print_line("this program uses " + file + ", but " + kShimFile + " is for " + kFamilyName + " only (" + kOtherShim +
                 "); it does nothing here");
    }
    foreign_barrier = barrier;
    return nullptr;
  }
  auto* pmpi = new Pmpi{};
#define HIERBAR_BIND(name) bind(find.need("PMPI_" #name), pmpi->name);
  HIERBAR_PMPI_FUNCTIONS(HIERBAR_BIND)
#undef HIERBAR_BIND
  bind_handles(find, *pmpi);
  if (find.missing() != nullptr) give_up(find.missing());
#if MPI_VERSION >= 4
  bind(find("PMPI_Session_init"), pmpi->Session_init);
  bind(find("PMPI_Session_finalize"), pmpi->Session_finalize);
#endif
  bind(find("PMPI_Comm_f2c"), pmpi->Comm_f2c);
  bind(find("PMPIX_Threadcomm_init"), pmpi->Threadcomm_init);
  bind(find("PMPIX_Threadcomm_start"), pmpi->Threadcomm_start);
  bind(find("PMPIX_Threadcomm_finish"), pmpi->Threadcomm_finish);
  bind(find("PMPIX_Threadcomm_free"), pmpi->Threadcomm_free);
  bind(find("PMPIX_Comm_test_threadcomm"), pmpi->Comm_test_threadcomm);
  pmpi->own_progress = find_progress(find);
  pmpi->file = file;
  return pmpi;
}

std::mutex lookup_mutex;
const Pmpi foreign{};  // stands for a library of another family
std::atomic<const Pmpi*> found{nullptr};
std::atomic<const Pmpi*> found_unrecorded{nullptr};

}  // namespace

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
  if (pmpi == nullptr || report_settings().asked) return nullptr;
  // (P4) store-release of the same table; pairs with (P3).
  found_unrecorded.store(pmpi, std::memory_order_release);
  return pmpi;
}

void* find_next(const char* symbol, const char* profiling_symbol) {
  // RTLD_NEXT is asked only where the program sees the MPI library. Elsewhere another shim behind
  // this one would look for the library from our address, in vain. The library's own function is
  // looked for from `foreign_barrier` and not from the present caller, who may not know MPI:
  // MPI_Finalize may be an interpreter's exit handler.
  void* next = dlsym(RTLD_DEFAULT, "PMPI_Barrier") != nullptr ? dlsym(RTLD_NEXT, symbol) : nullptr;
  if (next == nullptr) next = MpiSymbols(foreign_barrier)(profiling_symbol);
  if (next == nullptr) give_up(profiling_symbol);
  return next;
}

void* find_in_other_shim(const char* symbol) {
  if (void* next = dlsym(RTLD_NEXT, symbol)) return next;
  const std::string own = file_of(&foreign);
  const std::string other = own.substr(0, own.rfind('/') + 1) + kOtherShimFile;
  void* const library = dlopen(other.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  void* const found = library != nullptr ? dlsym(library, symbol) : nullptr;
  if (found != nullptr) return found;
  print_line(std::string("this program calls ") + symbol + "(), which for its MPI library is in " + kOtherShimFile +
             "; preload or link that, or put it beside " + own);
  std::abort();
}

}  // namespace hierbar::mpi
