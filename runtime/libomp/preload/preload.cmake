# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Included by libomp's own build, through sources.cmake. What `hierbar run` preloads, in <library
# dir>/hierbar/preload:
#   libgomp.so.1                         libomp.so once more, from the same objects, with this
#                                        SONAME: who needs libgomp.so.1 gets it, whatever DT_RPATH
#                                        says
#   libomp.so, libomp.so.5, libiomp5.so  links to it, for LD_LIBRARY_PATH: all names lead to one
#                                        file, so it is loaded once
#   libhierbar.so                        a link; the runtime looks for it beside itself, and
#                                        where there are no links, as in a wheel, by its run path
#   libone_runtime.so, alias-N.so        see one_runtime.c

set(HIERBAR_NUM_ALIASES 8)
set(preload_sources ${CMAKE_CURRENT_LIST_DIR})

# Called when the directory has been read, because libomp's objects and the linker's flags do not
# exist before. LLVM 19 has no library of objects beside omp.
function(hierbar_add_preload)
  set(dir ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/hierbar/preload)

  set(objects omp)
  if(TARGET obj.omp)
    set(objects obj.omp)
  endif()
  add_library(omp_preload SHARED $<TARGET_OBJECTS:${objects}>)
  target_link_libraries(omp_preload PRIVATE ${LIBOMP_CONFIGURED_LIBFLAGS} ${LIBOMP_DL_LIBS})
  set_target_properties(omp_preload PROPERTIES PREFIX "" SUFFIX "" OUTPUT_NAME libgomp.so.1
    LIBRARY_OUTPUT_DIRECTORY ${dir}
    LINK_FLAGS "${LIBOMP_CONFIGURED_LDFLAGS}" LINKER_LANGUAGE ${LIBOMP_LINKER_LANGUAGE}
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH $ORIGIN/../..)
  foreach(name IN ITEMS libomp.so libomp.so.5 libiomp5.so)
    add_custom_command(TARGET omp_preload POST_BUILD
      COMMAND ${CMAKE_COMMAND} -E create_symlink libgomp.so.1 ${dir}/${name})
  endforeach()
  add_custom_command(TARGET omp_preload POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E create_symlink ../../libhierbar.so.0 ${dir}/libhierbar.so)

  # Freestanding: see one_runtime.c. The compiler may not make calls of memcpy() from its loops.
  add_library(one_runtime SHARED ${preload_sources}/one_runtime.c)
  target_compile_definitions(one_runtime PRIVATE HIERBAR_NUM_ALIASES=${HIERBAR_NUM_ALIASES})
  target_compile_options(one_runtime PRIVATE -ffreestanding -fno-stack-protector -fvisibility=hidden
    $<$<C_COMPILER_ID:GNU>:-fno-tree-loop-distribute-patterns>
    $<$<C_COMPILER_ID:Clang>:-fno-builtin>)
  target_link_options(one_runtime PRIVATE -nostdlib)
  set_target_properties(one_runtime PROPERTIES PREFIX "" OUTPUT_NAME libone_runtime
    LIBRARY_OUTPUT_DIRECTORY ${dir})

  # The versions of the runtime, without a symbol.
  file(STRINGS ${CMAKE_CURRENT_SOURCE_DIR}/exports_so.txt versions REGEX "^[A-Z][A-Z0-9_.]* {")
  set(map "")
  foreach(version IN LISTS versions)
    string(REGEX REPLACE " {.*" " { };" version "${version}")
    string(APPEND map "${version}\n")
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/hierbar/alias.map CONTENT "${map}" @ONLY)
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/hierbar/alias.c
       CONTENT "typedef int empty;\n" @ONLY)
  math(EXPR last "${HIERBAR_NUM_ALIASES} - 1")
  add_custom_target(preload DEPENDS omp_preload one_runtime)
  foreach(i RANGE ${last})
    add_library(alias-${i} SHARED ${CMAKE_CURRENT_BINARY_DIR}/hierbar/alias.c)
    target_link_options(alias-${i} PRIVATE -nostdlib LINKER:--no-as-needed
      LINKER:--version-script=${CMAKE_CURRENT_BINARY_DIR}/hierbar/alias.map)
    target_link_libraries(alias-${i} PRIVATE omp_preload)
    set_target_properties(alias-${i} PROPERTIES PREFIX "" NO_SONAME ON
      BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH $ORIGIN LIBRARY_OUTPUT_DIRECTORY ${dir})
    add_dependencies(preload alias-${i})
  endforeach()
endfunction()
cmake_language(DEFER CALL hierbar_add_preload)
