// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mpi/pmpi.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <mutex>

#include "mpi/message.hpp"

namespace hierbar::mpi {
namespace {

class Finder {
 public:
  explicit Finder(const void* caller) {
    Dl_info info;
    if (dladdr(caller, &info) != 0 && info.dli_fname != nullptr) caller_ = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  }

  // What the program itself sees comes first, then what the caller's own libraries have.
  void* operator()(const char* symbol) const {
    if (void* found = dlsym(RTLD_DEFAULT, symbol)) return found;
    return caller_ != nullptr ? dlsym(caller_, symbol) : nullptr;
  }

  template <class Function>
  void bind(const char* symbol, Function& function) const {
    function = reinterpret_cast<Function>((*this)(symbol));
  }

 private:
  void* caller_ = nullptr;  // never closed: the library stays loaded as long as MPI is used
};

// Libraries with other handles than MPICH's integers, which this build of the shim cannot even pass on.
bool is_foreign(const Finder& find, const std::string& file) {
  return find("ompi_mpi_comm_world") != nullptr || file.find("libmpi_abi") != std::string::npos;
}

[[noreturn]] void give_up(const std::string& problem) {
  say(problem + "; do not load libhierbar_mpi.so into it");
  std::abort();
}

Pmpi* bind_all(const void* caller) {
  const Finder find(caller);
  auto* pmpi = new Pmpi{};
  const char* missing = nullptr;
#define HIERBAR_BIND(name)              \
  find.bind("PMPI_" #name, pmpi->name); \
  if (pmpi->name == nullptr) missing = "PMPI_" #name;
  HIERBAR_PMPI_FUNCTIONS(HIERBAR_BIND)
#undef HIERBAR_BIND
  if (missing != nullptr) give_up(std::string("this program has no MPI library with ") + missing);
  find.bind("PMPI_Session_init", pmpi->Session_init);
  find.bind("PMPI_Session_finalize", pmpi->Session_finalize);
  find.bind("MPIX_Stream_progress", pmpi->Stream_progress);
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(pmpi->Barrier), &info) != 0) pmpi->file = info.dli_fname;
  if (is_foreign(find, pmpi->file)) give_up("this program uses " + pmpi->file + ", which is not of the MPICH family");
  return pmpi;
}

std::mutex mutex;
std::atomic<const Pmpi*> found{nullptr};

}  // namespace

const Pmpi& find_pmpi(const void* caller) {
  // (P1) acquire; pairs with (P2), the release of the filled table.
  const Pmpi* pmpi = found.load(std::memory_order_acquire);  // (P1)
  if (pmpi != nullptr) return *pmpi;
  const std::lock_guard lock(mutex);
  pmpi = found.load(std::memory_order_relaxed);
  if (pmpi == nullptr) {
    pmpi = bind_all(caller);
    found.store(pmpi, std::memory_order_release);  // (P2)
  }
  return *pmpi;
}

}  // namespace hierbar::mpi
