# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

set(HIERBAR_SOURCES "$ENV{HIERBAR_SOURCES}" CACHE PATH "Directory with source archives, looked at before anything is downloaded")

# The releases of cmake/llvm_versions.txt, the default first.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/llvm_versions.txt HIERBAR_LLVM_VERSIONS REGEX "^[0-9]")
list(TRANSFORM HIERBAR_LLVM_VERSIONS REPLACE " .*" "")
list(GET HIERBAR_LLVM_VERSIONS 0 hierbar_default_llvm_version)
set(HIERBAR_LLVM_VERSION ${hierbar_default_llvm_version} CACHE STRING "The LLVM release that libomp is built from")
set_property(CACHE HIERBAR_LLVM_VERSION PROPERTY STRINGS ${HIERBAR_LLVM_VERSIONS})
if(NOT HIERBAR_LLVM_VERSION IN_LIST HIERBAR_LLVM_VERSIONS)
  list(JOIN HIERBAR_LLVM_VERSIONS ", " known_versions)
  message(FATAL_ERROR "hierbar: HIERBAR_LLVM_VERSION='${HIERBAR_LLVM_VERSION}' is not one of ${known_versions}. "
                      "Without a value it is ${hierbar_default_llvm_version}.")
endif()

# hierbar_libomp_names(<version> <suffix variable> <directory variable>)
#
# Where the builds of a version are: what the names of its targets end in, and below which directory
# its libraries are. For HIERBAR_LLVM_VERSION nothing and <build>, for the others the likes of _19
# and <build>/llvm-19.1.7.
function(hierbar_libomp_names version suffix_variable dir_variable)
  set(suffix "")
  set(dir ${PROJECT_BINARY_DIR})
  if(NOT version STREQUAL HIERBAR_LLVM_VERSION)
    string(REGEX REPLACE "^([0-9]+).*" "_\\1" suffix ${version})
    string(APPEND dir /llvm-${version})
  endif()
  set(${suffix_variable} "${suffix}" PARENT_SCOPE)
  set(${dir_variable} ${dir} PARENT_SCOPE)
endfunction()

# hierbar_fetch_openmp(<version> <patch dir>)
#
# Rules that fetch LLVM's openmp sources at build time, so that configuring stays quick;
# cmake/fetch_openmp.sh says from where.
#   openmp_stock_sources_<version>    <build>/libomp/stock-<version>/{openmp,cmake}
#   openmp_patched_sources_<version>  <build>/libomp/patched-<version>/{openmp,cmake}, with <patch
#                                     dir>/*.patch applied
function(hierbar_fetch_openmp version patch_dir)
  set(work_dir ${PROJECT_BINARY_DIR}/libomp)
  set(stock_dir ${work_dir}/stock-${version})
  set(patched_dir ${work_dir}/patched-${version})
  set(fetch_script ${PROJECT_SOURCE_DIR}/cmake/fetch_openmp.sh)
  set(patch_script ${PROJECT_SOURCE_DIR}/cmake/patch_openmp.sh)

  # Once unpacked, the sources of a version stay: a new fetch script fetches nothing again.
  add_custom_command(OUTPUT ${stock_dir}.stamp
    COMMAND ${fetch_script} --version ${version} --out ${stock_dir} --state ${work_dir}/apt --sources "${HIERBAR_SOURCES}"
    COMMAND ${CMAKE_COMMAND} -E touch ${stock_dir}.stamp
    COMMENT "Fetching the sources of LLVM ${version}'s openmp" USES_TERMINAL VERBATIM)
  add_custom_target(openmp_stock_sources_${version} DEPENDS ${stock_dir}.stamp)

  # Patches are data, applied in the order of their names (file(GLOB) sorts), not sources of a
  # target.
  file(GLOB patches CONFIGURE_DEPENDS ${patch_dir}/*.patch)
  add_custom_command(OUTPUT ${patched_dir}.stamp
    COMMAND ${patch_script} ${stock_dir} ${patched_dir} ${patches}
    COMMAND ${CMAKE_COMMAND} -E touch ${patched_dir}.stamp
    DEPENDS ${stock_dir}.stamp ${patch_script} ${patches}
    COMMENT "Patching LLVM ${version}'s openmp" VERBATIM)
  add_custom_target(openmp_patched_sources_${version} DEPENDS ${patched_dir}.stamp)
endfunction()
