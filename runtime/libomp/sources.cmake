# Included by libomp's own build, through the patch: our files, built with libomp's flags.
include_directories(${LIBOMP_HIERBAR_DIR} ${LIBOMP_HIERBAR_DIR}/libomp ${LIBOMP_HIERBAR_DIR}/libomp/gomp)
string(REGEX MATCH "^[0-9]+" LIBOMP_HIERBAR_LLVM_MAJOR ${LIBOMP_HIERBAR_LLVM_VERSION})
add_compile_definitions(KMP_HIERBAR_LLVM_MAJOR=${LIBOMP_HIERBAR_LLVM_MAJOR}) # for kmp_hierbar_compat.h
add_link_options(LINKER:-z,nodelete) # never unloaded, as GCC's library; for process/kmp_hierbar_exit.cpp
list(APPEND LIBOMP_CXXFILES
  ${LIBOMP_HIERBAR_DIR}/libomp/gomp/kmp_gomp_allocate.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/gomp/kmp_gomp_cancel.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/gomp/kmp_gomp_device_memory.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/gomp/kmp_gomp_differences.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/gomp/kmp_gomp_error.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/gomp/kmp_gomp_fortran.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/gomp/kmp_gomp_initial.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/gomp/kmp_gomp_interop.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/gomp/kmp_gomp_omp.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/gomp/kmp_gomp_openacc.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/gomp/kmp_gomp_reduction.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/gomp/kmp_gomp_target.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/gomp/kmp_gomp_task.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/gomp/kmp_gomp_taskloop.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/gomp/kmp_gomp_teams.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/gomp/kmp_gomp_variables.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/gomp/kmp_gomp_workshare.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/kmp_hierbar_caller.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/kmp_hierbar_environment.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/kmp_hierbar_exchange.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/kmp_hierbar_loaded.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/kmp_hierbar_phases.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/kmp_hierbar_place.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/kmp_hierbar_plan.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/kmp_hierbar_primary.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/kmp_hierbar_report.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/kmp_hierbar_settings.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/kmp_hierbar_trace.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/process/kmp_hierbar_exit.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/process/kmp_hierbar_fork.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/process/kmp_hierbar_other_runtimes.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/process/kmp_hierbar_pause.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/region/kmp_hierbar_region.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/region/kmp_hierbar_region_record.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/waits/kmp_hierbar_contention.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/waits/kmp_hierbar_patience.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/waits/kmp_hierbar_waits.cpp)

# For kmp_gomp_openacc.cpp: a line for each function of OpenACC.
set(functions ${LIBOMP_HIERBAR_DIR}/libomp/gomp/gcc_functions.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${functions})
file(STRINGS ${functions} openacc_functions REGEX "^G?OACC_")
string(REGEX REPLACE "(G?OACC_[0-9.]+) ([A-Za-z0-9_]+) [0-9]+" "KMP_GOMP_REFUSE(\\2, \"\\1\")" openacc_functions "${openacc_functions}")
list(JOIN openacc_functions "\n" openacc_functions)
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/hierbar/kmp_gomp_openacc.inc CONTENT "${openacc_functions}\n" @ONLY)
include_directories(${CMAKE_CURRENT_BINARY_DIR}/hierbar)

include(${LIBOMP_HIERBAR_DIR}/libomp/preload/preload.cmake)
