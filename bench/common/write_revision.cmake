# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# cmake -DSOURCE=<tree> -DOUTPUT=<file> -P write_revision.cmake
# Writes the definition of hierbar::bench::kRevision. If the file has it already, it is not touched.
execute_process(COMMAND git describe --always --dirty --tags WORKING_DIRECTORY "${SOURCE}"
                OUTPUT_VARIABLE revision ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE
                RESULT_VARIABLE failed)
if(failed OR revision STREQUAL "")
  set(revision "unknown")
endif()
set(definition "const char* const hierbar::bench::kRevision = \"${revision}\";")
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT
"#include \"bench/common/host.hpp\"\n\n${definition}\n")
