# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# To be sourced by tests with packages from PyPI. They are skipped where a package cannot be had.

skip() {
  echo "skipped: $1"
  exit 77
}

pip_seconds=90 # for a call of pip; a test with a longer limit may set it

pip_from_pypi() { # <python> <pip's words>...
  timeout "$pip_seconds" "$1" -m pip --quiet --disable-pip-version-check "${@:2}"
}

# In a directory that several tests use: a virtual environment with one package, made when it is
# missing. Nobody else makes one there at the same time.
enter_environment() { # <python> <directory> <requirement, perhaps with checksums>
  mkdir -p "$2"
  exec 9>"$2/lock"
  flock 9
  [[ ! -e $2/python/ready ]] || return 0
  "$1" -m venv --clear "$2/python" >/dev/null 2>&1 ||
    skip 'python3 cannot make a virtual environment (Debian: python3-venv)'
  pip_from_pypi "$2/python/bin/python" install --retries 1 --timeout 15 \
    --no-deps --only-binary :all: -r /dev/stdin <<<"$3" ||
    skip "PyPI has no ${3%% *} for this machine, or cannot send it in $pip_seconds s"
  touch "$2/python/ready"
}

# PyPI's mpi4py over Debian's MPICH or Open MPI. It asks for MPI_THREAD_MULTIPLE, and wants MPICH by
# the name that it has everywhere but in Debian.
readonly mpi4py=mpi4py==4.1.2
readonly mpi4py_sources_hash=sha256:56860286dc45f20e8821e93cb06669e30462348bf866f685553fa4b712d58d02

# Sets `python` and `mpi`, options that run_mpi_test.py and check_mpi4py.py know.
enter_mpi4py() { # <python> <directory> <mpich|ompi> <program linked with that>
  local library
  enter_environment "$1" "$2" "$mpi4py"
  python=$2/python/bin/python
  case $3 in
    ompi) mpi=(--mpi ompi --env MPI4PY_MPIABI=openmpi) ;;
    mpich)
      library=$(ldd "$4" | awk '$1 ~ /^libmpi(ch)?\.so\.12$/ { print $3 }')
      mkdir -p "$2/mpich"
      ln -sf "$library" "$2/mpich/libmpi.so.12"
      mpi=(--mpi mpich --env "LD_LIBRARY_PATH=$2/mpich" --env MPI4PY_MPIABI=mpich)
      ;;
  esac
}

# The libraries of MPI's standard ABI. Sets `mpich` and `intel`, the directories of their files.
enter_abi_libraries() { # <python> <directory>
  local hash=8fed465ebff269ea2ebac179a25de02671ddf8df476e0f115be089015015cfd4
  enter_environment "$1" "$2/mpich" "mpich==5.0.2 --hash=sha256:$hash"
  hash=708b4336c9d303a3d807b58054c502ed4f716dfb074dfa48904180b46d14bb40
  enter_environment "$1" "$2/intel" "impi-rt==2021.19.0 --hash=sha256:$hash"
  mpich=$2/mpich/python intel=$2/intel/python
}
