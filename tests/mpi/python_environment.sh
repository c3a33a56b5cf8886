# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# To be sourced by tests with packages from PyPI. They are skipped where a package cannot be had.

skip() {
  echo "skipped: $1"
  exit 77
}

pip_from_pypi() { # <python> <pip's words>...
  timeout 90 "$1" -m pip --quiet --disable-pip-version-check "${@:2}"
}

# In a directory that several tests use: a virtual environment with one package, made when it is
# missing. Nobody else makes one there at the same time.
enter_environment() { # <python> <directory> <requirement, perhaps with checksums>
  mkdir -p "$2"
  exec 9>"$2/lock"
  flock 9
  [[ ! -e $2/python/ready ]] || return 0
  "$1" -m venv --clear "$2/python" >/dev/null 2>&1 || skip 'python3 cannot make a virtual environment (Debian: python3-venv)'
  pip_from_pypi "$2/python/bin/python" install --retries 1 --timeout 15 --no-deps --only-binary :all: -r /dev/stdin <<<"$3" ||
    skip "PyPI has no ${3%% *} for this machine, or cannot be reached"
  touch "$2/python/ready"
}
