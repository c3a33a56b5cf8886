# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

set(HIERBAR_SOURCES "$ENV{HIERBAR_SOURCES}" CACHE PATH "Directory with source archives, looked at before anything is downloaded")

# hierbar_fetch_openmp(<version> <patch dir>)
#
# Rules that fetch LLVM's openmp sources at build time, so that configuring stays quick; cmake/fetch_openmp.sh says from where.
#   openmp_stock_sources    <build>/libomp/stock-<version>/{openmp,cmake}
#   openmp_patched_sources  <build>/libomp/patched-<version>/{openmp,cmake}, with <patch dir>/*.patch applied
# Sets openmp_stock_dir and openmp_patched_dir to these directories.
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
  add_custom_target(openmp_stock_sources DEPENDS ${stock_dir}.stamp)

  # Patches are data, applied in the order of their names (file(GLOB) sorts), not sources of a target.
  file(GLOB patches CONFIGURE_DEPENDS ${patch_dir}/*.patch)
  add_custom_command(OUTPUT ${patched_dir}.stamp
    COMMAND ${patch_script} ${stock_dir} ${patched_dir} ${patches}
    COMMAND ${CMAKE_COMMAND} -E touch ${patched_dir}.stamp
    DEPENDS ${stock_dir}.stamp ${patch_script} ${patches}
    COMMENT "Patching LLVM ${version}'s openmp" VERBATIM)
  add_custom_target(openmp_patched_sources DEPENDS ${patched_dir}.stamp)

  set(openmp_stock_dir ${stock_dir} PARENT_SCOPE)
  set(openmp_patched_dir ${patched_dir} PARENT_SCOPE)
endfunction()
