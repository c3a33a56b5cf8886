# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A Spack recipe. UNTESTED: no Spack was at hand when it was written.

It goes into packages/hierbar/ of a repository of recipes. `git` is to be set to where the sources
are; there is no release yet.
"""

from spack.package import *


class Hierbar(CMakePackage):
    """Barriers for OpenMP teams and MPI ranks that follow the machine's tree."""

    homepage = "https://example.org/hierbar"
    git = "https://example.org/hierbar.git"

    license("Apache-2.0 WITH LLVM-exception")

    version("main", branch="main")

    variant("libomp", default=True, description="Build LLVM's OpenMP runtime with these barriers")
    variant(
        "mpi", default=True, description="Build MPI_Barrier for the MPI that the specification has"
    )

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3:", type="build", when="+libomp")
    depends_on("hwloc@2.1:")
    depends_on("elfutils")
    depends_on("cli11@2.1:2.3")
    depends_on("nlohmann-json@3.9:")
    depends_on("mpi", when="+mpi")

    # What cmake/llvm_versions.txt expects; the build takes it from HIERBAR_SOURCES.
    resource(
        name="llvm-project",
        url="https://github.com/llvm/llvm-project/releases/download/llvmorg-22.1.8/llvm-project-22.1.8.src.tar.xz",
        sha256="922f1817a0df7b1489272d18134ee0087a8b068828f87ac63b9861b1a9965888",
        expand=False,
        when="+libomp",
        placement="llvm-archive",
    )

    def cmake_args(self):
        args = [
            self.define_from_variant("HIERBAR_BUILD_LIBOMP", "libomp"),
            self.define_from_variant("HIERBAR_BUILD_MPI", "mpi"),
            self.define("HIERBAR_BUILD_TESTS", False),
            self.define("HIERBAR_BUILD_BENCH", False),
        ]
        if self.spec.satisfies("+libomp"):
            args.append(
                self.define("HIERBAR_SOURCES", join_path(self.stage.source_path, "llvm-archive"))
            )
        return args
