// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/program/program_libraries.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/process.hpp"
#include "cli/program/program.hpp"
#include "elf/elf_file.hpp"
#include "elf/predict_loads.hpp"

namespace hierbar {
namespace {

struct Mark {
  const char* text;
  MpiFamily family;
};

MpiFamily find_mark(const std::string& text, const std::vector<Mark>& marks) {
  const auto found = std::find_if(marks.begin(), marks.end(), [&](const Mark& mark) {
    return text.find(mark.text) != std::string::npos;
  });
  return found == marks.end() ? MpiFamily::kNone : found->family;
}

MpiFamily family_by_name(const std::string& file) {
  return find_mark(file, {{"hydra", MpiFamily::kMpich},
                          {"mpich", MpiFamily::kMpich},
                          {"openmpi", MpiFamily::kOpenMpi},
                          {"orterun", MpiFamily::kOpenMpi},
                          {"prterun", MpiFamily::kOpenMpi}});
}

MpiFamily family_by_version(const std::string& file) {
  const std::string answer = command_output(shell_quoted(file) + " --version 2>&1 </dev/null");
  return find_mark(answer, {{"OpenRTE", MpiFamily::kOpenMpi},
                            {"Open MPI", MpiFamily::kOpenMpi},
                            {"PRRTE", MpiFamily::kOpenMpi},
                            {"HYDRA", MpiFamily::kMpich},
                            {"Intel(R) MPI", MpiFamily::kMpich}});
}

// What of a program shows whether it will call MPI.
struct MpiSigns {
  MpiFamily family = MpiFamily::kNone;  // of the MPI library that the loader would load
  bool may_have_more = true;            // it may come to MPI in another way
};

bool refers_to(const std::string& file, const std::vector<std::string_view>& functions) {
  const std::vector<SymbolState> states = find_symbols(file, functions);
  return std::find(states.begin(), states.end(), SymbolState::kUsed) != states.end();
}

// OpenMP runtimes open what belongs to them.
bool opens_libraries(const LoadedFile& loaded) {
  return !is_openmp_name(std::filesystem::path(loaded.elf.path).filename()) &&
         refers_to(loaded.elf.path, {"dlopen", "dlmopen"});
}

bool starts_programs(const std::string& file) {
  return refers_to(file, {"execl", "execle", "execlp", "execv", "execve", "execvp", "execvpe",
                          "fexecve", "popen", "posix_spawn", "posix_spawnp", "system"});
}

MpiSigns find_mpi_signs(const std::string& file, const LoaderInput& input) {
  const Result<Loads> loads = predict_loads(file, input);
  if (!loads) return {};
  for (const LoadedFile& loaded : loads->files) {
    if (const LibraryKind kind = library_kind(loaded.elf.path); is_mpi(kind))
      return {family_of(kind)};
  }
  return {MpiFamily::kNone,
          !loads->missing.empty() || starts_programs(file) ||
              std::any_of(loads->files.begin(), loads->files.end(), opens_libraries)};
}

}  // namespace

const char* family_name(MpiFamily family) {
  constexpr const char* kNames[] = {"no MPI", "MPICH", "Open MPI", "MPI's standard ABI", "any MPI"};
  return kNames[static_cast<int>(family)];
}

const char* shim_file(MpiFamily family) {
  constexpr const char* kFiles[] = {"", "libhierbar_mpi.so", "libhierbar_mpi_ompi.so",
                                    "libhierbar_mpi_abi.so", "libhierbar_mpi_any.so"};
  return kFiles[static_cast<int>(family)];
}

FamilyGuess guess_family_of_launcher(const std::string& word) {
  const std::string file = find_in_path(word);
  if (!is_mpi_launcher(word) || file.empty()) return {};
  std::error_code unresolved;
  const std::string real = std::filesystem::canonical(file, unresolved);
  if (const MpiFamily family = family_by_name(real); family != MpiFamily::kNone)
    return {family, family, "'" + word + "' is " + real};
  if (const MpiFamily family = family_by_version(file); family != MpiFamily::kNone)
    return {family, family, "'" + word + " --version' says so"};
  return {};
}

FamilyGuess guess_family(const Program& command, const Environment& environment) {
  const MpiFamily launcher = guess_family_of_launcher(command.front()).launcher;
  const LoaderInput input{.environment = environment, .cache = read_loader_cache()};
  for (const std::string& word : command) {
    const std::string file = find_in_path(word);
    if (file.empty()) continue;
    if (const MpiFamily family = find_mpi_signs(file, input).family; family != MpiFamily::kNone)
      return {family, launcher, "'" + file + "' loads it"};
  }
  const bool has_launcher = std::any_of(command.begin(), command.end(), is_mpi_launcher);
  if (!has_launcher && !find_mpi_signs(find_started_program(command).file, input).may_have_more)
    return {};
  return {MpiFamily::kAny, launcher, "found out when the program calls it"};
}

namespace {

// What this project's libomp and its shims look up in libhierbar.so.
constexpr const char* kOurConstant = "hierbar_plan_abi_version";

LibraryKind openmp_kind(const std::string& path, const std::string& name) {
  if (has_constant(path, kOurConstant)) return LibraryKind::kHierbarOpenMp;
  // LLVM's has GCC's functions too.
  const bool is_llvms = find_symbols(path, {"__kmpc_fork_call"}).front() == SymbolState::kDefined;
  if (!is_llvms)
    return name.starts_with("libgomp") ? LibraryKind::kGccOpenMp : LibraryKind::kLlvmOpenMp;
  return name.starts_with("libiomp5") && has_constant(path, "Intel(R) OMP")
             ? LibraryKind::kIntelOpenMp
             : LibraryKind::kLlvmOpenMp;
}

bool has_name(const std::string& name, const char* stem) {
  return name.starts_with(stem) && name.find(".so") != std::string::npos;
}

LibraryKind mpi_kind(const std::string& path, const std::string& name) {
  const auto states =
      find_symbols(path, {"MPI_Barrier", "ompi_mpi_comm_world", "MPI_Abi_get_version"});
  if (states[0] != SymbolState::kDefined)
    return LibraryKind::kOther;  // of another language or part of MPI
  // The name is the standard's. Libraries with the function may have their own ABI, and files with
  // the name that of a draft.
  if (has_name(name, "libmpi_abi"))
    return states[2] == SymbolState::kDefined ? LibraryKind::kStandardMpi : LibraryKind::kOther;
  return states[1] == SymbolState::kDefined ? LibraryKind::kOpenMpi : LibraryKind::kMpich;
}

// OpenBLAS is built with threads of its own, with OpenMP's, or without.
LibraryKind blas_kind(const std::string& path) {
  const auto states = find_symbols(path, {"pthread_create", "GOMP_parallel", "__kmpc_fork_call"});
  const bool uses_openmp = states[1] == SymbolState::kUsed || states[2] == SymbolState::kUsed;
  return states[0] == SymbolState::kUsed && !uses_openmp ? LibraryKind::kOpenBlas
                                                         : LibraryKind::kOther;
}

}  // namespace

bool is_openmp_name(const std::string& file_name) {
  for (const std::string_view stem : {"libgomp", "libomp", "libiomp5"}) {
    if (!file_name.starts_with(stem)) continue;
    std::string_view rest = std::string_view(file_name).substr(stem.size());
    if (rest.starts_with('-'))
      rest.remove_prefix(std::min(rest.find_first_not_of("0123456789abcdef", 1), rest.size()));
    return rest == ".so" || rest.starts_with(".so.");
  }
  return false;
}

LibraryKind library_kind(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename();
  if (name.starts_with(shim_file(MpiFamily::kOpenMpi))) return LibraryKind::kOpenMpiShim;
  if (name.starts_with(shim_file(MpiFamily::kStandardAbi))) return LibraryKind::kStandardMpiShim;
  if (name.starts_with(shim_file(MpiFamily::kMpich))) return LibraryKind::kMpichShim;
  if (name.starts_with(shim_file(MpiFamily::kAny))) return LibraryKind::kAnyMpiShim;
  if (is_openmp_name(name)) return openmp_kind(path, name);
  if (has_name(name, "libmpi")) return mpi_kind(path, name);
  if (has_name(name, "libopenblas") || has_name(name, "libscipy_openblas")) return blas_kind(path);
  // Debian's OpenBLAS stands in for the reference BLAS under that one's name.
  if (has_name(name, "libblas") &&
      find_symbols(path, {"openblas_set_num_threads"}).front() == SymbolState::kDefined) {
    return blas_kind(path);
  }
  return LibraryKind::kOther;
}

namespace {

struct LibraryNames {
  const char* id;
  const char* name;
};

LibraryNames names_of(LibraryKind kind) {
  switch (kind) {
    case LibraryKind::kOther:
      return {"other", "library"};
    case LibraryKind::kHierbarOpenMp:
      return {"hierbar-openmp", "hierbar's OpenMP runtime"};
    case LibraryKind::kGccOpenMp:
      return {"gcc-openmp", "GCC's OpenMP runtime"};
    case LibraryKind::kLlvmOpenMp:
      return {"llvm-openmp", "LLVM's OpenMP runtime"};
    case LibraryKind::kIntelOpenMp:
      return {"intel-openmp", "Intel's OpenMP runtime"};
    case LibraryKind::kMpich:
      return {"mpich", "MPI of MPICH's kind"};
    case LibraryKind::kOpenMpi:
      return {"openmpi", "Open MPI"};
    case LibraryKind::kStandardMpi:
      return {"mpi-abi", "MPI of the standard ABI"};
    case LibraryKind::kMpichShim:
      return {"hierbar-mpi-mpich", "hierbar's MPI_Barrier for MPICH and its relatives"};
    case LibraryKind::kOpenMpiShim:
      return {"hierbar-mpi-openmpi", "hierbar's MPI_Barrier for Open MPI"};
    case LibraryKind::kStandardMpiShim:
      return {"hierbar-mpi-abi", "hierbar's MPI_Barrier for MPI's standard ABI"};
    case LibraryKind::kAnyMpiShim:
      return {"hierbar-mpi-any", "hierbar's MPI_Barrier for any MPI"};
    case LibraryKind::kOpenBlas:
      return {"openblas-pthreads", "OpenBLAS with its own threads"};
  }
  return {"", ""};
}

}  // namespace

const char* library_name(LibraryKind kind) { return names_of(kind).name; }
const char* library_id(LibraryKind kind) { return names_of(kind).id; }

bool is_openmp(LibraryKind kind) {
  return kind >= LibraryKind::kHierbarOpenMp && kind <= LibraryKind::kIntelOpenMp;
}
bool is_mpi(LibraryKind kind) {
  return kind >= LibraryKind::kMpich && kind <= LibraryKind::kStandardMpi;
}

MpiFamily family_of(LibraryKind kind) {
  if (kind == LibraryKind::kMpich || kind == LibraryKind::kMpichShim) return MpiFamily::kMpich;
  if (kind == LibraryKind::kOpenMpi || kind == LibraryKind::kOpenMpiShim)
    return MpiFamily::kOpenMpi;
  if (kind == LibraryKind::kStandardMpi || kind == LibraryKind::kStandardMpiShim)
    return MpiFamily::kStandardAbi;
  return MpiFamily::kNone;
}

namespace {

struct Known {
  std::string_view gcc_library, clang_library, start_function;
  Sanitizer sanitizer;
};

constexpr Known kKnown[] = {
    // It ends a program in which another library comes before it, since that might define malloc().
    // Ours define nothing that it replaces.
    {"libasan.so",
     "libclang_rt.asan",
     "__asan_init",
     {"AddressSanitizer", false, "ASAN_OPTIONS", "verify_asan_link_order=0",
      "lets libraries be preloaded before it"}},
    // It has 0.8 MB of static thread-local memory. With LD_AUDIT the loader sets the size of that
    // memory
    // before it has seen the program's libraries.
    {"libtsan.so",
     "libclang_rt.tsan",
     "__tsan_init",
     {"ThreadSanitizer", false, "GLIBC_TUNABLES", "glibc.rtld.optional_static_tls=1048576",
      "makes room for its thread-local memory"}},
};

bool is_needed(const ElfFile& elf, const Known& known) {
  return std::any_of(elf.needed.begin(), elf.needed.end(), [&](const std::string& name) {
    return name.starts_with(known.gcc_library) || name.starts_with(known.clang_library);
  });
}

}  // namespace

std::vector<Sanitizer> find_shared_sanitizers(const std::string& file) {
  std::vector<Sanitizer> found;
  const Result<ElfFile> elf = read_elf(file);
  for (const Known& known : kKnown) {
    if (elf && is_needed(*elf, known)) found.push_back(known.sanitizer);
  }
  return found;
}

std::vector<Sanitizer> find_all_sanitizers(const std::string& file) {
  std::vector<Sanitizer> found = find_shared_sanitizers(file);
  std::vector<std::string_view> functions;
  for (const Known& known : kKnown) functions.push_back(known.start_function);
  const std::vector<SymbolState> states = find_symbols(file, functions);
  for (std::size_t i = 0; i < states.size(); ++i) {
    const bool is_shared = std::any_of(found.begin(), found.end(), [&](const Sanitizer& one) {
      return one.name == kKnown[i].sanitizer.name;
    });
    if (is_shared || states[i] != SymbolState::kDefined) continue;
    found.push_back(kKnown[i].sanitizer);
    found.back().is_linked_in = true;
  }
  return found;
}

}  // namespace hierbar
