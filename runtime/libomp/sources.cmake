# Included by libomp's own build, through the patch: our files, built with libomp's flags.
include_directories(${LIBOMP_HIERBAR_DIR} ${LIBOMP_HIERBAR_DIR}/libomp)
string(REGEX MATCH "^[0-9]+" LIBOMP_HIERBAR_LLVM_MAJOR ${LIBOMP_HIERBAR_LLVM_VERSION})
add_compile_definitions(KMP_HIERBAR_LLVM_MAJOR=${LIBOMP_HIERBAR_LLVM_MAJOR}) # for kmp_hierbar_compat.h
list(APPEND LIBOMP_CXXFILES
  ${LIBOMP_HIERBAR_DIR}/libomp/kmp_gomp_cancel.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/kmp_gomp_device_memory.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/kmp_gomp_error.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/kmp_gomp_fortran.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/kmp_gomp_initial.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/kmp_gomp_omp.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/kmp_gomp_reduction.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/kmp_gomp_target.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/kmp_gomp_task.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/kmp_gomp_taskloop.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/kmp_gomp_teams.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/kmp_gomp_workshare.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/kmp_hierbar.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/kmp_hierbar_contention.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/kmp_hierbar_environment.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/kmp_hierbar_place.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/kmp_hierbar_plan.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/kmp_hierbar_report.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/kmp_hierbar_settings.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/kmp_hierbar_trace.cpp)
