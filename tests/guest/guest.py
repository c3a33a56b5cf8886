# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A virtual machine: its shape, QEMU's options for it, the kernel that it boots, and the small file
system from which it starts."""

import argparse
import dataclasses
import gzip
import io
import lzma
import os
import pathlib
import re
import shutil
import subprocess

# Every cpu is a thread of QEMU. With more of them a boot takes minutes where there is no KVM.
MAX_CPUS = 64


@dataclasses.dataclass(frozen=True)
class Shape:
    """Each count is for one unit of the line above it."""

    packages: int
    numa: int
    l3: int
    cores: int
    threads: int

    @property
    def num_nodes(self):
        return self.packages * self.numa

    @property
    def num_cpus(self):
        return self.num_nodes * self.l3 * self.cores * self.threads

    def __str__(self):
        return (
            f"{self.packages} packages x {self.numa} NUMA nodes x {self.l3} L3 x {self.cores} cores x {self.threads} threads: "
            f"{self.num_cpus} cpus"
        )


def parse(text):
    """Parses PACKAGESxNUMAxL3xCORES[xTHREADS], for argparse."""
    words = text.split("x")
    if len(words) not in (4, 5) or not all(word.isdigit() and int(word) > 0 for word in words):
        raise argparse.ArgumentTypeError(
            f"'{text}': must be PACKAGESxNUMAxL3xCORES[xTHREADS], such as 2x2x1x4; "
            "each a positive number, per unit of the one before"
        )
    shape = Shape(*map(int, words + ["1"] * (5 - len(words))))
    if shape.num_cpus > MAX_CPUS:
        raise argparse.ArgumentTypeError(
            f"'{text}': has {shape.num_cpus} cpus; at most {MAX_CPUS} are allowed"
        )
    return shape


def qemu_options(shape, memory_mib):
    """QEMU's options. QEMU numbers cpus in the order of the tree, and gives each die one L3."""
    dies = shape.numa * shape.l3
    options = [
        "-smp",
        f"{shape.num_cpus},sockets={shape.packages},dies={dies},cores={shape.cores},threads={shape.threads}",
        "-m",
        f"{memory_mib}M",
    ]
    cpus_per_node = shape.num_cpus // shape.num_nodes
    # The last node gets the remainder.
    part_mib = memory_mib // shape.num_nodes
    for node in range(shape.num_nodes):
        size_mib = part_mib if node + 1 < shape.num_nodes else memory_mib - part_mib * node
        first = node * cpus_per_node
        options += [
            "-object",
            f"memory-backend-ram,id=memory{node},size={size_mib}M",
            "-numa",
            f"node,nodeid={node},cpus={first}-{first + cpus_per_node - 1},memdev=memory{node}",
        ]
    for node in range(shape.num_nodes):
        for other in range(shape.num_nodes):
            if node != other:
                distance = 12 if node // shape.numa == other // shape.numa else 32
                options += ["-numa", f"dist,src={node},dst={other},val={distance}"]
    return options


# The order is that in which they need each other. A module that a kernel lacks is built into it, or
# no longer exists separately.
MODULES = (
    "virtio_ring",
    "virtio",
    "virtio_pci_legacy_dev",
    "virtio_pci_modern_dev",
    "virtio_pci",
    "netfs",
    "fscache",
    "9pnet",
    "9pnet_virtio",
    "9p",
    "overlay",
)

# Writes go to memory, above the host's files, which QEMU exports read-only. What the command writes
# to its output goes to files of the host.
INIT = """\
#!/bin/busybox sh
busybox=/bin/busybox
step() { "$@" || { echo "init: failed: $*" >/dev/console; $busybox poweroff -f; }; }
$busybox mkdir -p /proc /dev /result /host /writes /root
step $busybox mount -t proc proc /proc
step $busybox mount -t devtmpfs devices /dev
for module in /modules/*; do step $busybox insmod $module; done
step $busybox mount -t 9p -o trans=virtio,version=9p2000.L,cache=none result /result
step $busybox mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=512000 host /host
step $busybox mount -t tmpfs writes /writes
step $busybox mkdir /writes/files /writes/work
step $busybox mount -t overlay -o lowerdir=/host,upperdir=/writes/files,workdir=/writes/work root /root
step $busybox mount -t proc proc /root/proc
step $busybox mount -t sysfs sysfs /root/sys
step $busybox mount -t cgroup2 cgroup /root/sys/fs/cgroup
step $busybox mount -t devtmpfs devices /root/dev
step $busybox mkdir -p /root/dev/pts /root/dev/shm
step $busybox mount -t devpts terminals /root/dev/pts
step $busybox mount -t tmpfs shared /root/dev/shm
step $busybox mount -t tmpfs run /root/run
step $busybox ip link set lo up
step $busybox hostname guest
step $busybox cp /command /root/run/command
echo >/result/began
$busybox chroot /root /bin/sh /run/command </dev/null >>/result/stdout 2>>/result/stderr
echo $? >/result/status
$busybox poweroff -f
"""


@dataclasses.dataclass(frozen=True)
class Kernel:
    image: pathlib.Path
    modules: pathlib.Path
    busybox: pathlib.Path


def cache_directory():
    return (
        pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
        / "hierbar"
        / "guest"
    )


def _version(image):
    return [int(number) for number in re.findall(r"\d+", image.name)]


def find_kernel(directory=None):
    """The newest kernel with modules below `directory`; None if there is none.

    Without a directory, it is looked for in fetch_kernel.sh's cache, then on this machine."""
    for root in [directory] if directory else [cache_directory(), pathlib.Path("/")]:
        busybox = root / "bin" / "busybox"
        for image in sorted(root.glob("boot/vmlinuz-*"), key=_version, reverse=True):
            modules = root / "lib" / "modules" / image.name.removeprefix("vmlinuz-")
            if (
                modules.is_dir()
                and os.access(image, os.R_OK)
                and busybox.is_file()
                and is_static(busybox)
            ):
                return Kernel(image, modules, busybox)
    return None


def is_static(program):
    """Whether the program names no interpreter, which all dynamic ones of this architecture do."""
    return b"/ld-linux" not in program.read_bytes()


def _read_module(path):
    content = path.read_bytes()
    if path.suffix == ".xz":
        return lzma.decompress(content)
    if path.suffix == ".zst":
        if not shutil.which("zstd"):
            raise RuntimeError(f"{path}: unpacking it needs zstd")
        return subprocess.run(
            ["zstd", "-dc"], input=content, stdout=subprocess.PIPE, check=True
        ).stdout
    return content


def _modules(kernel):
    found = {path.name.split(".")[0]: path for path in (kernel.modules / "kernel").rglob("*.ko*")}
    return [found[name] for name in MODULES if name in found]


class _Archive:
    """The archive that the kernel unpacks: cpio's format "newc"."""

    def __init__(self):
        self._bytes = io.BytesIO()
        self._inode = 0

    def add(self, name, mode, content=b""):
        self._inode += 1
        encoded = name.encode() + b"\0"
        fields = [self._inode, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(encoded), 0]
        self._bytes.write(b"070701" + b"".join(b"%08X" % field for field in fields) + encoded)
        self._pad()
        self._bytes.write(content)
        self._pad()

    def _pad(self):
        self._bytes.write(b"\0" * (-self._bytes.tell() % 4))

    def finish(self):
        self.add("TRAILER!!!", 0)
        return self._bytes.getvalue()


def make_initramfs(kernel, command):
    """Makes the first file system. `command` is what the shell runs in the guest."""
    archive = _Archive()
    for name in ("bin", "modules"):
        archive.add(name, 0o040755)
    archive.add("bin/busybox", 0o100755, kernel.busybox.read_bytes())
    for index, path in enumerate(_modules(kernel)):
        archive.add(
            f"modules/{index:02}-{path.name.split('.')[0]}.ko", 0o100644, _read_module(path)
        )
    archive.add("init", 0o100755, INIT.encode())
    archive.add("command", 0o100644, command.encode())
    return gzip.compress(archive.finish(), compresslevel=1)
