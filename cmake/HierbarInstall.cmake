# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   bin/hierbar
#   lib/libhierbar.so
#   lib/libhierbar_hwloc.so.0   needs hwloc; libhierbar.so opens it when it reads the machine
#   lib/libhierbar_mpi.so    looks for libhierbar.so beside itself; so do libhierbar_mpi_ompi.so and
#                            libhierbar_mpi_abi.so
#   lib/libhierbar_mpi_any.so  opens that of these three which the process needs
#   lib/libhierbar_ompt.so   the OMPT tool; needs nothing
#   lib/hierbar/             libomp.so and its other names, libhierbar.so as a link
#   lib/hierbar/preload/     the same runtime as `hierbar run` preloads it; see
#                            runtime/libomp/preload
#   lib/cmake/hierbar/       find_package(hierbar): hierbar::barrier, hierbar::runtime,
#                            hierbar::mpi, hierbar::mpi_ompi, hierbar::mpi_abi, hierbar::mpi_any
#   lib/pkgconfig/hierbar.pc
#   include/hierbar/         hierbar.h, mpi.h, hierbar_mpi.f90, barrier/, base/, plan/plan.h
#   share/doc/hierbar/       this project's licence and LLVM's
#   share/man, share/{bash-completion,zsh,fish}: see packaging/CMakeLists.txt
#
# The OpenMP runtime has a directory of its own because one of its names is libgomp.so.1: in a
# directory that the loader searches by default it would replace GCC's runtime in every program of
# the machine.

include(CMakePackageConfigHelpers)

set(hierbar_openmp_dir ${CMAKE_INSTALL_LIBDIR}/hierbar)
set(hierbar_include_dir ${CMAKE_INSTALL_INCLUDEDIR}/hierbar)
set(hierbar_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/hierbar)

# 1. Libraries and the command.
install(TARGETS hierbar_barrier EXPORT hierbarTargets)
if(TARGET hierbar_runtime)
  install(TARGETS hierbar_runtime EXPORT hierbarTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
          INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(TARGETS hierbar_hwloc LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_SKIP)
endif()
foreach(shim IN ITEMS hierbar_mpi hierbar_mpi_ompi hierbar_mpi_abi hierbar_mpi_any hierbar_ompt)
  if(TARGET ${shim})
    install(TARGETS ${shim} EXPORT hierbarTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
endforeach()
if(TARGET hierbar_cli)
  install(TARGETS hierbar_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(HIERBAR_BUILD_LIBOMP)
  foreach(name IN ITEMS libomp.so libomp.so.5 libiomp5.so libgomp.so.1)
    install(FILES ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/${name} DESTINATION ${hierbar_openmp_dir}
            PERMISSIONS
            OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  endforeach()
  install(DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/hierbar/preload
          DESTINATION ${hierbar_openmp_dir} USE_SOURCE_PERMISSIONS)
  install(FILES ${PROJECT_BINARY_DIR}/libomp/stock-${HIERBAR_LLVM_VERSION}/openmp/LICENSE.TXT
          DESTINATION ${CMAKE_INSTALL_DOCDIR}
          RENAME LICENSE.LLVM)
  # libomp looks for libhierbar.so beside itself.
  install(CODE "
    set(link \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${hierbar_openmp_dir}/libhierbar.so\")
    file(CREATE_LINK ../libhierbar.so.0 \"\${link}\" SYMBOLIC)")
endif()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# 2. Headers, under the names by which they include each other.
install(FILES runtime/include/hierbar/hierbar.h runtime/include/hierbar/hierbar_mpi.f90
        runtime/include/hierbar/mpi.h DESTINATION ${hierbar_include_dir})
install(FILES runtime/plan/plan.h DESTINATION ${hierbar_include_dir}/plan)
install(FILES runtime/base/clock.hpp runtime/base/futex.hpp runtime/base/membarrier.hpp
              runtime/base/shared_calls.hpp DESTINATION ${hierbar_include_dir}/base)
install(DIRECTORY runtime/base/arch/ DESTINATION ${hierbar_include_dir}/base/arch)
install(DIRECTORY runtime/barrier/ DESTINATION ${hierbar_include_dir}/barrier FILES_MATCHING
        PATTERN "*.hpp")

# 3. CMake package and pkg-config file.
install(EXPORT hierbarTargets NAMESPACE hierbar:: DESTINATION ${hierbar_package_dir})
file(WRITE ${PROJECT_BINARY_DIR}/hierbarConfig.cmake.in [==[@PACKAGE_INIT@

# Targets: hierbar::barrier, the header-only barrier; hierbar::runtime, libhierbar.so.
# HIERBAR_OPENMP_DIR: where libomp.so and its other names are, for LD_LIBRARY_PATH or a run path.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include("${CMAKE_CURRENT_LIST_DIR}/hierbarTargets.cmake")
set_and_check(HIERBAR_INCLUDE_DIR "@PACKAGE_CMAKE_INSTALL_INCLUDEDIR@")
set(HIERBAR_OPENMP_DIR "@PACKAGE_hierbar_openmp_dir@")
check_required_components(hierbar)
]==])
configure_package_config_file(${PROJECT_BINARY_DIR}/hierbarConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/hierbarConfig.cmake
                              INSTALL_DESTINATION ${hierbar_package_dir}
                              PATH_VARS CMAKE_INSTALL_INCLUDEDIR hierbar_openmp_dir)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/hierbarConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/hierbarConfig.cmake
        ${PROJECT_BINARY_DIR}/hierbarConfigVersion.cmake
        DESTINATION ${hierbar_package_dir})
# Relative to itself, because --prefix can still change where everything goes.
file(RELATIVE_PATH hierbar_prefix_from_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/hierbar.pc @ONLY CONTENT [==[prefix=${pcfiledir}/@hierbar_prefix_from_pc@
libdir=${prefix}/@CMAKE_INSTALL_LIBDIR@
includedir=${prefix}/@CMAKE_INSTALL_INCLUDEDIR@
openmpdir=${prefix}/@hierbar_openmp_dir@

Name: hierbar
Description: @PROJECT_DESCRIPTION@
Version: @PROJECT_VERSION@
Libs: -L${libdir} -lhierbar
Cflags: -I${includedir} -I${includedir}/hierbar
]==])
install(FILES ${PROJECT_BINARY_DIR}/hierbar.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
