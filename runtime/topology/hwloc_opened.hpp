// Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace hierbar {

// For libhierbar.so, which does not need hwloc itself (hwloc_functions.h). The rest of this folder
// is linked with hwloc in all other products, and knows nothing of this.

// Opens libhierbar_hwloc.so, which lies beside this library or where the loader finds it. Returns
// why that fails, empty if it is open. To be called before the first function of load.hpp or
// export/lstopo_xml.hpp; any thread may call it.
std::string open_hwloc();

}  // namespace hierbar
