# Included by libomp's own build, through the patch: our files, built with libomp's flags.
include_directories(${LIBOMP_HIERBAR_DIR} ${LIBOMP_HIERBAR_DIR}/libomp)
list(APPEND LIBOMP_CXXFILES
  ${LIBOMP_HIERBAR_DIR}/libomp/kmp_hierbar.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/kmp_hierbar_plan.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/kmp_hierbar_report.cpp
  ${LIBOMP_HIERBAR_DIR}/libomp/kmp_hierbar_settings.cpp)
