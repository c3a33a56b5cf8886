# Included by libomp's own build, through the patch: our files, built with libomp's flags.
include_directories(${LIBOMP_HIERBAR_DIR})
string(REGEX MATCH "^[0-9]+" LIBOMP_HIERBAR_LLVM_MAJOR ${LIBOMP_HIERBAR_LLVM_VERSION})
# For kmp_hierbar_compat.h.
add_compile_definitions(KMP_HIERBAR_LLVM_MAJOR=${LIBOMP_HIERBAR_LLVM_MAJOR})
# Never unloaded, as GCC's library; for kmp_hierbar_process.cpp.
add_link_options(LINKER:-z,nodelete)
set(hierbar_sources
  barrier/kmp_hierbar_exchange.cpp
  barrier/kmp_hierbar_host.cpp
  barrier/kmp_hierbar_phases.cpp
  barrier/kmp_hierbar_plan.cpp
  barrier/kmp_hierbar_report.cpp
  barrier/kmp_hierbar_trace.cpp
  barrier/kmp_hierbar_waits.cpp
  gomp/kmp_gomp_cancel.cpp
  gomp/kmp_gomp_constructs.cpp
  gomp/kmp_gomp_device.cpp
  gomp/kmp_gomp_fortran.cpp
  gomp/kmp_gomp_initial.cpp
  gomp/kmp_gomp_memory.cpp
  gomp/kmp_gomp_messages.cpp
  gomp/kmp_gomp_omp.cpp
  gomp/kmp_gomp_target.cpp
  gomp/kmp_gomp_task.cpp
  gomp/kmp_gomp_workshare.cpp
  kmp_hierbar_caller.cpp
  kmp_hierbar_library.cpp
  kmp_hierbar_other_runtimes.cpp
  kmp_hierbar_placement.cpp
  kmp_hierbar_process.cpp
  kmp_hierbar_settings.cpp
  region/kmp_hierbar_region.cpp
  region/kmp_hierbar_region_record.cpp)
list(TRANSFORM hierbar_sources PREPEND ${LIBOMP_HIERBAR_DIR}/libomp/)
list(APPEND LIBOMP_CXXFILES ${hierbar_sources})

# For kmp_gomp_messages.cpp: a line for each function of OpenACC.
set(functions ${LIBOMP_HIERBAR_DIR}/libomp/gomp/gcc_functions.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${functions})
file(STRINGS ${functions} openacc_functions REGEX "^G?OACC_")
string(REGEX REPLACE "(G?OACC_[0-9.]+) ([A-Za-z0-9_]+) [0-9]+" "KMP_GOMP_REFUSE(\\2, \"\\1\")"
       openacc_functions "${openacc_functions}")
list(JOIN openacc_functions "\n" openacc_functions)
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/hierbar/kmp_gomp_openacc.inc
     CONTENT "${openacc_functions}\n" @ONLY)
include_directories(${CMAKE_CURRENT_BINARY_DIR}/hierbar)

include(${LIBOMP_HIERBAR_DIR}/libomp/preload/preload.cmake)
