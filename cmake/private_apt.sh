# shellcheck shell=bash
# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Sourced: an apt of its own, which leaves the machine's apt alone and needs no root. All that it
# keeps (lists, cache, settings) is under the directory that the variable `state` names.

# Prints the base addresses of the archives that this machine's apt is set up for, without the
# security archives, which have no source packages and no packages of other architectures that are
# not in the main one.
configured_mirrors() {
  apt-get update --print-uris 2>/dev/null | sed -n "s|^'\(.*\)/dists/.*/InRelease'.*|\1|p" |
    grep -v security | sort -u
}

# private_apt TOOL ARGUMENT...: apt-get or apt-cache with the settings below, which win over the
# machine's.
private_apt() { "$1" --config-file="$state/apt.conf" "${@:2}"; }

# write_apt_settings TYPE MIRROR SUITE [ARCHITECTURE]: what it reads, TYPE is deb or deb-src.
write_apt_settings() {
  local keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  # apt takes a relative directory as one below its own.
  state=$(realpath --canonicalize-missing "$state")
  mkdir -p "$state"/{lists,cache,etc}
  printf '%s [signed-by=%s] %s %s main\n' "$1" "$keyring" "$2" "$3" >"$state/etc/sources.list"
  {
    printf 'Dir::State::lists "%s";\n' "$state/lists"
    printf 'Dir::Cache "%s";\n' "$state/cache"
    printf 'Dir::Etc::sourcelist "%s";\n' "$state/etc/sources.list"
    printf 'Dir::Etc::sourceparts "/dev/null";\n'
    printf '%s;\n' 'Acquire::Languages "none"' 'Acquire::Retries "2"' \
      'Acquire::http::Timeout "20"' 'Acquire::https::Timeout "20"'
    # The machine's hooks are for its own apt, and may need root.
    printf '#clear APT::Update::%s;\n' Pre-Invoke Post-Invoke Post-Invoke-Success
    # apt gives downloads to a user who may not write here; that user exists to protect a root who
    # installs things.
    if ((EUID == 0)); then printf 'APT::Sandbox::User "root";\n'; fi
    # What this machine has installed is of another architecture.
    if [[ -n ${4:-} ]]; then
      printf 'APT::Architecture "%s";\n#clear APT::Architectures;\n' "$4"
      printf 'APT::Architectures "%s";\nDir::State::status "/dev/null";\n' "$4"
    fi
  } >"$state/apt.conf"
}
