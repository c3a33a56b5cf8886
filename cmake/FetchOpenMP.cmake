# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

set(HIERBAR_SOURCES "$ENV{HIERBAR_SOURCES}"
    CACHE PATH "Directory with source archives, looked at before anything is downloaded")

# The releases of cmake/llvm_versions.txt, the default first.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/llvm_versions.txt HIERBAR_LLVM_VERSIONS REGEX "^[0-9]")
# Debian's sid deletes a release when the next one comes, so ctest must not need one that only sid
# has.
set(HIERBAR_LASTING_LLVM_VERSIONS ${HIERBAR_LLVM_VERSIONS})
list(FILTER HIERBAR_LASTING_LLVM_VERSIONS EXCLUDE REGEX "  sid$")
list(TRANSFORM HIERBAR_LASTING_LLVM_VERSIONS REPLACE " .*" "")
list(TRANSFORM HIERBAR_LLVM_VERSIONS REPLACE " .*" "")
list(GET HIERBAR_LLVM_VERSIONS 0 hierbar_default_llvm_version)
set(HIERBAR_LLVM_VERSION ${hierbar_default_llvm_version}
    CACHE STRING "The LLVM release that libomp is built from")
set_property(CACHE HIERBAR_LLVM_VERSION PROPERTY STRINGS ${HIERBAR_LLVM_VERSIONS})
if(NOT HIERBAR_LLVM_VERSION IN_LIST HIERBAR_LLVM_VERSIONS)
  list(JOIN HIERBAR_LLVM_VERSIONS ", " known_versions)
  message(FATAL_ERROR "hierbar: HIERBAR_LLVM_VERSION='${HIERBAR_LLVM_VERSION}' is not one of "
                      "${known_versions}. Without a value it is ${hierbar_default_llvm_version}.")
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

# hierbar_patched_openmp(<version> <kind> <patch>...)
#
# A rule for openmp_<kind>_sources_<version>: <build>/libomp/<kind>-<version>, the stock sources
# with the patches applied in the order given. They are data, not sources of a target.
function(hierbar_patched_openmp version kind)
  set(stock_dir ${PROJECT_BINARY_DIR}/libomp/stock-${version})
  set(out_dir ${PROJECT_BINARY_DIR}/libomp/${kind}-${version})
  set(patch_script ${PROJECT_SOURCE_DIR}/cmake/patch_openmp.sh)
  add_custom_command(OUTPUT ${out_dir}.stamp
    COMMAND ${patch_script} ${stock_dir} ${out_dir} ${ARGN}
    COMMAND ${CMAKE_COMMAND} -E touch ${out_dir}.stamp
    DEPENDS ${stock_dir}.stamp ${patch_script} ${ARGN}
    COMMENT "Patching LLVM ${version}'s openmp (${kind})" VERBATIM)
  add_custom_target(openmp_${kind}_sources_${version} DEPENDS ${out_dir}.stamp)
endfunction()

# hierbar_version_patches(<version> <patches> <variable>)
#
# The directory below <patches>/versions with what differs in this version: of those whose number is
# not above the version's, the one with the highest.
function(hierbar_version_patches version patches variable)
  file(GLOB names CONFIGURE_DEPENDS RELATIVE ${patches}/versions ${patches}/versions/*)
  list(SORT names COMPARE NATURAL)
  list(FILTER names INCLUDE REGEX "^[0-9.]+$")
  foreach(name IN LISTS names)
    if(name VERSION_LESS_EQUAL version)
      set(found ${patches}/versions/${name})
    endif()
  endforeach()
  set(${variable} ${found} PARENT_SCOPE)
endfunction()

# hierbar_fetch_openmp(<version> <patches>)
#
# Rules that fetch LLVM's openmp sources at build time, so that configuring stays quick;
# cmake/fetch_openmp.sh says from where. cmake/check_hooks.py describes the kinds of patches. Those
# of a kind are applied in the order of their names (file(GLOB) sorts).
#   openmp_stock_sources_<version>     <build>/libomp/stock-<version>: openmp/, cmake/, and what a
#                                      version needs besides to be configured
#   openmp_upstream_sources_<version>  with llvm-fixes/*.patch, but for those that the left-out.txt
#                                      of the version's directory names
#   openmp_rfc_sources_<version>       with these and then llvm-fixes/rfc/*.patch: proposals
#   openmp_patched_sources_<version>   with the first, then *.patch of the version's directory and
#                                      hooks/*.patch
function(hierbar_fetch_openmp version patches)
  set(work_dir ${PROJECT_BINARY_DIR}/libomp)
  set(stock_dir ${work_dir}/stock-${version})
  set(fetch_script ${PROJECT_SOURCE_DIR}/cmake/fetch_openmp.sh)

  # Once unpacked, the sources of a version stay: a new fetch script fetches nothing again.
  add_custom_command(OUTPUT ${stock_dir}.stamp
    COMMAND ${fetch_script} --version ${version} --out ${stock_dir} --state ${work_dir}/apt
            --sources "${HIERBAR_SOURCES}"
    COMMAND ${CMAKE_COMMAND} -E touch ${stock_dir}.stamp
    COMMENT "Fetching the sources of LLVM ${version}'s openmp" USES_TERMINAL VERBATIM)
  add_custom_target(openmp_stock_sources_${version} DEPENDS ${stock_dir}.stamp)

  file(GLOB fixes CONFIGURE_DEPENDS ${patches}/llvm-fixes/*.patch)
  hierbar_version_patches(${version} ${patches} version_patches)
  file(GLOB left_out CONFIGURE_DEPENDS ${version_patches}/left-out.txt)
  if(left_out)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${left_out})
    file(STRINGS ${left_out} left_out REGEX "^[^#]")
    list(TRANSFORM left_out REPLACE ":.*" "")
    list(TRANSFORM left_out PREPEND ${patches}/llvm-fixes/)
    list(REMOVE_ITEM fixes ${left_out})
  endif()
  file(GLOB proposals CONFIGURE_DEPENDS ${patches}/llvm-fixes/rfc/*.patch)
  file(GLOB own CONFIGURE_DEPENDS ${version_patches}/*.patch)
  file(GLOB hooks CONFIGURE_DEPENDS ${patches}/hooks/*.patch)
  hierbar_patched_openmp(${version} upstream ${fixes})
  hierbar_patched_openmp(${version} rfc ${fixes} ${proposals})
  hierbar_patched_openmp(${version} patched ${fixes} ${own} ${hooks})
endfunction()
