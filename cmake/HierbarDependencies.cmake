# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Finds what the project stands on. A part is built when the targets that it needs exist, so the
# rest of the build asks `if(TARGET ...)` and nothing else:
#   PkgConfig::HWLOC  PkgConfig::LIBELF  PkgConfig::LIBDW  CLI11::CLI11  fmt::fmt
#   nlohmann_json::nlohmann_json
#   benchmark::benchmark  GTest::gtest  GTest::gmock
# Threads is the only dependency that nothing can do without.

# Notes, once and in one line, that `package` is missing and what is therefore not built.
function(hierbar_report_missing package consequence debian_package)
  message(STATUS "hierbar: ${package} not found: ${consequence} (Debian: ${debian_package})")
endfunction()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

find_package(PkgConfig QUIET)
if(PKG_CONFIG_FOUND)
  pkg_check_modules(HWLOC QUIET IMPORTED_TARGET GLOBAL hwloc>=2.1)
  pkg_check_modules(LIBELF QUIET IMPORTED_TARGET GLOBAL libelf)
  pkg_check_modules(LIBDW QUIET IMPORTED_TARGET GLOBAL libdw)
endif()
if(NOT TARGET PkgConfig::LIBELF)
  hierbar_report_missing(libelf "no hierbar command" "pkg-config libelf-dev")
endif()
if(NOT TARGET PkgConfig::LIBDW)
  hierbar_report_missing(libdw "reports name barriers by addresses and not by lines"
      "pkg-config libdw-dev")
endif()
if(NOT TARGET PkgConfig::HWLOC)
  hierbar_report_missing("hwloc >= 2.1" "no libhierbar.so, hierbar command, barrier_bench or libomp"
      "pkg-config libhwloc-dev")
  if(CMAKE_CROSSCOMPILING)
    message(STATUS
            "hierbar: cmake/fetch_cross_hwloc.sh ${HIERBAR_CROSS} fetches what the preset needs of it")
  endif()
endif()

find_package(CLI11 CONFIG QUIET)
if(NOT TARGET CLI11::CLI11)
  hierbar_report_missing(CLI11 "no hierbar command, no benchmarks" libcli11-dev)
endif()
find_package(fmt CONFIG QUIET)
if(NOT TARGET fmt::fmt)
  hierbar_report_missing(fmt "no benchmarks" libfmt-dev)
endif()
find_package(nlohmann_json CONFIG QUIET)
if(NOT TARGET nlohmann_json::nlohmann_json)
  hierbar_report_missing(nlohmann_json "no hierbar command, no benchmarks" nlohmann-json3-dev)
endif()

if(HIERBAR_BUILD_BENCH)
  find_package(benchmark CONFIG QUIET)
  if(NOT TARGET benchmark::benchmark)
    hierbar_report_missing("Google Benchmark" "no barrier_bench" libbenchmark-dev)
  endif()
endif()

if(HIERBAR_BUILD_TESTS)
  find_package(GTest CONFIG QUIET)
  if(NOT TARGET GTest::gmock)
    # A cross build finds no library for its target; Debian installs the sources beside the library.
    set(HIERBAR_GTEST_SOURCE_DIR /usr/src/googletest CACHE
        PATH "GoogleTest's sources, used when no built library is found")
    if(EXISTS ${HIERBAR_GTEST_SOURCE_DIR}/CMakeLists.txt)
      set(INSTALL_GTEST OFF)
      add_subdirectory(${HIERBAR_GTEST_SOURCE_DIR} ${PROJECT_BINARY_DIR}/googletest
                       EXCLUDE_FROM_ALL SYSTEM)
    else()
      hierbar_report_missing(GoogleTest "no tests" "libgtest-dev libgmock-dev")
      set(HIERBAR_BUILD_TESTS OFF)
    endif()
  endif()
endif()

if(HIERBAR_BUILD_LIBOMP)
  find_package(Python3 QUIET COMPONENTS Interpreter) # LLVM's build generates its messages with it
  find_program(HIERBAR_PATCH patch)
  find_program(HIERBAR_XZ xz)
  if(NOT Python3_FOUND OR NOT HIERBAR_PATCH OR NOT HIERBAR_XZ)
    hierbar_report_missing("python3, patch or xz" "no libomp" "python3 patch xz-utils")
    set(HIERBAR_BUILD_LIBOMP OFF)
  elseif(NOT TARGET PkgConfig::HWLOC)
    set(HIERBAR_BUILD_LIBOMP OFF)
  endif()
endif()

# MPI libraries by the family of their own ABI, each with its own shim: HIERBAR_MPI_FAMILIES, and
# for each of them its compiler driver HIERBAR_<FAMILY>_CC, whose own words say where the headers
# are (.._INCLUDE_DIRS), and its launcher .._EXEC, for the tests.
# A driver is taken by what its mpi.h defines, because its name says nothing outside Debian: mpicc
# is either family's.
set(HIERBAR_MPI_FAMILIES)

# hierbar_classify_mpicc(<driver> <variable>): mpich, ompi, or empty if it compiles no mpi.h or one
# of another family.
function(hierbar_classify_mpicc driver variable)
  set(${variable} "" PARENT_SCOPE)
  file(WRITE ${PROJECT_BINARY_DIR}/CMakeFiles/mpi_family.c "#include <mpi.h>\n")
  execute_process(COMMAND ${driver} -E -dM ${PROJECT_BINARY_DIR}/CMakeFiles/mpi_family.c
                  OUTPUT_VARIABLE macros ERROR_QUIET RESULT_VARIABLE problem)
  if(problem)
    return()
  elseif(macros MATCHES "#define OMPI_MAJOR_VERSION ")
    set(${variable} ompi PARENT_SCOPE)
  elseif(macros MATCHES
         "#define (MPICH_VERSION|I_MPI_VERSION|MVAPICH2?_VERSION|CRAY_MPICH_VERSION) ")
    set(${variable} mpich PARENT_SCOPE)
  endif()
endfunction()

# hierbar_find_mpicc(<family> <variable> <name>...): the first driver in PATH that is of the family.
function(hierbar_find_mpicc family variable)
  string(REPLACE ":" ";" directories "$ENV{PATH}")
  foreach(name IN LISTS ARGN)
    foreach(directory IN LISTS directories)
      if(EXISTS ${directory}/${name})
        hierbar_classify_mpicc(${directory}/${name} found)
        if(found STREQUAL family)
          set(${variable} ${directory}/${name} PARENT_SCOPE)
          return()
        endif()
      endif()
    endforeach()
  endforeach()
endfunction()

# hierbar_find_mpi(<family> <suffix of Debian's names> <shim> <Debian's packages>)
macro(hierbar_find_mpi family suffix shim packages)
  string(TOUPPER ${family} prefix)
  set(prefix HIERBAR_${prefix})
  set(${prefix}_CC "" CACHE FILEPATH
      "Compiler driver of the MPI library of the family ${family}; empty: one in PATH")
  set(driver ${${prefix}_CC})
  if(driver)
    hierbar_classify_mpicc(${driver} found)
    if(NOT found STREQUAL "${family}")
      message(FATAL_ERROR
              "${prefix}_CC='${driver}' is no compiler driver of the MPI family ${family}: its "
              "mpi.h makes it '${found}'; allowed: an mpicc of that family, or empty for one in "
              "PATH")
    endif()
  else()
    hierbar_find_mpicc(${family} driver mpicc.${suffix} mpicc mpiicx mpiicc mpigcc cc)
  endif()
  if(NOT driver)
    hierbar_report_missing("mpicc of ${suffix}" "no ${shim}" "${packages}")
  else()
    set(${prefix}_CC ${driver})
    cmake_path(GET driver PARENT_PATH directory)
    # The launcher beside the driver is of the same library, whatever else is in PATH.
    find_program(${prefix}_EXEC NAMES mpiexec.${suffix} mpiexec HINTS ${directory} NO_DEFAULT_PATH)
    list(APPEND HIERBAR_MPI_FAMILIES ${family})
    execute_process(COMMAND ${driver} -show OUTPUT_VARIABLE words OUTPUT_STRIP_TRAILING_WHITESPACE)
    string(REGEX MATCHALL "-I *[^ ]+" ${prefix}_INCLUDE_DIRS "${words}")
    list(TRANSFORM ${prefix}_INCLUDE_DIRS REPLACE "^-I *" "")
    message(STATUS "hierbar: ${shim} for ${driver}")
  endif()
endmacro()

if(HIERBAR_BUILD_MPI AND CMAKE_CROSSCOMPILING)
  message(STATUS "hierbar: cross build: no libhierbar_mpi.so, libhierbar_mpi_ompi.so and "
                 "libhierbar_mpi_abi.so")
elseif(HIERBAR_BUILD_MPI)
  hierbar_find_mpi(mpich mpich libhierbar_mpi.so "libmpich-dev mpich")
  hierbar_find_mpi(ompi openmpi libhierbar_mpi_ompi.so "libopenmpi-dev openmpi-bin")
endif()

# Says at the end of the configuration what will be built.
function(hierbar_print_summary)
  message(STATUS
          "hierbar ${PROJECT_VERSION}: ${CMAKE_BUILD_TYPE}, "
          "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}, "
                 "${CMAKE_SYSTEM_PROCESSOR}")
  set(names "libhierbar.so" "hierbar" "libomp.so" "libhierbar_mpi.so" "libhierbar_mpi_ompi.so"
      "libhierbar_mpi_abi.so" "libhierbar_mpi_any.so" "libhierbar_ompt.so" "omp_barrier_bench"
            "mpi_barrier_bench" "mpi_collective_bench" "barrier_bench")
  set(targets hierbar_runtime hierbar_cli libomp hierbar_mpi hierbar_mpi_ompi hierbar_mpi_abi
      hierbar_mpi_any hierbar_ompt omp_barrier_bench mpi_barrier_bench mpi_collective_bench barrier_bench)
  foreach(name target IN ZIP_LISTS names targets)
    if(TARGET ${target})
      set(answer yes)
    else()
      set(answer no)
    endif()
    message(STATUS "  ${name}: ${answer}")
  endforeach()
  message(STATUS "  tests: ${HIERBAR_BUILD_TESTS}")
  if(HIERBAR_SANITIZE)
    message(STATUS "  sanitizers: ${HIERBAR_SANITIZE}")
  endif()
endfunction()
