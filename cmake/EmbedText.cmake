# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# hierbar_embed_text(<output> <header> <namespace> [<function> <file>... END]...)
#
# Writes a C++ source with a function `const char* <function>()` for each list of files, which
# returns their text, one after the other. The header declares the functions. A changed file is
# noticed by the next build.
function(hierbar_embed_text output header namespace)
  set(code "#include \"${header}\"\n\nnamespace ${namespace} {\n")
  set(function "")
  foreach(word IN LISTS ARGN)
    if(function STREQUAL "")
      set(function ${word})
      string(APPEND code "\nconst char* ${function}() {\n  return")
    elseif(word STREQUAL "END")
      string(APPEND code ";\n}\n")
      set(function "")
    else()
      file(READ ${CMAKE_CURRENT_SOURCE_DIR}/${word} text)
      string(APPEND code "\n      R\"embedded(${text})embedded\"")
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
                   ${CMAKE_CURRENT_SOURCE_DIR}/${word})
    endif()
  endforeach()
  string(APPEND code "\n}  // namespace ${namespace}\n")
  file(CONFIGURE OUTPUT ${output} CONTENT "${code}" @ONLY)
endfunction()
