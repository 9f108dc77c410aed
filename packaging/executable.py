#!/usr/bin/env python3
"""What an executable file needs to run: the system, the processor, and the C library.

    packaging/executable.py [--static] [--relocatable] FILE...

prints one line for each file. With --static, it fails if a file needs a dynamic loader or a shared library; with --relocatable, if the
system cannot load it at a random address. The scripts that pack binaries import it, so that a package names the platform of the
binary that it really has.
"""

import argparse
import os
import re
import struct
import sys
from dataclasses import dataclass

ELF_MACHINES = {0x3E: "x86_64", 0xB7: "aarch64"}
MACH_MACHINES = {0x01000007: "x86_64", 0x0100000C: "aarch64"}
PE_MACHINES = {0x8664: "x86_64", 0xAA64: "aarch64"}
ET_DYN = 3
PT_LOAD, PT_DYNAMIC, PT_INTERP = 1, 2, 3
DT_NEEDED, DT_STRTAB, DT_VERNEED, DT_VERNEEDNUM = 1, 5, 0x6FFFFFFE, 0x6FFFFFFF
LC_BUILD_VERSION, LC_VERSION_MIN_MACOSX = 0x32, 0x24


class Unreadable(Exception):
    """The file is no executable of a known system."""


@dataclass(frozen=True)
class Executable:
    system: str  # linux, darwin or win32
    machine: str  # x86_64 or aarch64
    libraries: tuple = ()  # the shared libraries that the loader must find (Linux only)
    is_static: bool = False  # no dynamic loader and no shared library (Linux only)
    glibc: tuple = None  # the oldest version of glibc that has every symbol (Linux, dynamic only)
    macos: tuple = None  # the oldest version of macOS (macOS only)
    is_relocatable: bool = False  # can be loaded at a random address (Linux only)
    has_symbols: bool = False  # a symbol table or debug information (Linux only)

    def __str__(self):
        words = [self.system, self.machine]
        if self.system == "linux":
            words.append("static" if self.is_static else f"needs {', '.join(self.libraries)}")
            words.append("relocatable" if self.is_relocatable else "at a fixed address")
            words.append("with symbols" if self.has_symbols else "stripped")
        if self.glibc:
            words.append("glibc {}.{} or later".format(*self.glibc))
        if self.macos:
            words.append("macOS {}.{} or later".format(*self.macos))
        return ", ".join(words)


def describe(path):
    """The needs of the executable file at `path`."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        if data[:4] == b"\x7fELF":
            return _elf(data)
        if data[:4] == b"\xcf\xfa\xed\xfe":
            return _mach(data)
        if data[:2] == b"MZ":
            return _pe(data)
    except (struct.error, IndexError, KeyError) as error:
        raise Unreadable(f"{path} is damaged, or for a processor other than x86_64 and aarch64: {error!r}") from error
    raise Unreadable(f"{path} is no executable of Linux (64-bit ELF), macOS (64-bit Mach-O) or Windows (PE)")


def _text(data, at):
    return data[at : data.index(b"\0", at)].decode()


def _elf(data):
    if data[4] != 2 or data[5] != 1:
        raise KeyError("not 64-bit little-endian")
    kind, number = struct.unpack_from("<HH", data, 16)
    machine, is_relocatable = ELF_MACHINES[number], kind == ET_DYN
    program_headers, section_headers = struct.unpack_from("<QQ", data, 32)
    entry_size, entries, section_size, sections = struct.unpack_from("<HHHH", data, 54)
    loads, dynamic, has_loader = [], None, False
    for nth in range(entries):
        kind, _, offset, address, _, size = struct.unpack_from("<IIQQQQ", data, program_headers + nth * entry_size)
        if kind == PT_LOAD:
            loads.append((address, offset, size))
        elif kind == PT_DYNAMIC:
            dynamic = (offset, size)
        elif kind == PT_INTERP:
            has_loader = True

    def offset_of(address):
        for start, offset, size in loads:
            if start <= address < start + size:
                return address - start + offset
        raise KeyError(f"address {address:#x}")

    tags = []
    if dynamic:
        tags = [struct.unpack_from("<QQ", data, dynamic[0] + at) for at in range(0, dynamic[1], 16)]
    single = dict(tags)
    strings = offset_of(single[DT_STRTAB]) if DT_STRTAB in single else None
    libraries = tuple(_text(data, strings + value) for tag, value in tags if tag == DT_NEEDED)
    # Each library has a list of the symbol versions that it must provide.
    glibc = None
    need = offset_of(single[DT_VERNEED]) if DT_VERNEED in single else 0
    for _ in range(single.get(DT_VERNEEDNUM, 0)):
        _, count, _, first, next_need = struct.unpack_from("<HHIII", data, need)
        version = need + first
        for _ in range(count):
            _, _, _, name, next_version = struct.unpack_from("<IHHII", data, version)
            found = re.fullmatch(r"GLIBC_(\d+)\.(\d+)(\.\d+)?", _text(data, strings + name))
            if found:
                glibc = max(glibc or (0, 0), (int(found[1]), int(found[2])))
            version += next_version
        need += next_need
    kinds = [struct.unpack_from("<I", data, section_headers + nth * section_size + 4)[0] for nth in range(sections)]
    symbol_table = 2  # SHT_SYMTAB; the dynamic symbols are another kind.
    return Executable(
        "linux",
        machine,
        libraries,
        not has_loader and not libraries,
        glibc,
        is_relocatable=is_relocatable,
        has_symbols=symbol_table in kinds,
    )


def _mach(data):
    machine = MACH_MACHINES[struct.unpack_from("<I", data, 4)[0]]
    count = struct.unpack_from("<I", data, 16)[0]
    at, version = 32, None
    for _ in range(count):
        command, size = struct.unpack_from("<II", data, at)
        if command == LC_BUILD_VERSION:
            version = struct.unpack_from("<I", data, at + 12)[0]
        elif command == LC_VERSION_MIN_MACOSX:
            version = struct.unpack_from("<I", data, at + 8)[0]
        at += size
    return Executable("darwin", machine, macos=None if version is None else (version >> 16, version >> 8 & 0xFF))


def _pe(data):
    at = struct.unpack_from("<I", data, 0x3C)[0]
    if data[at : at + 4] != b"PE\0\0":
        raise KeyError("no PE header")
    return Executable("win32", PE_MACHINES[struct.unpack_from("<H", data, at + 4)[0]])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--static", action="store_true", help="fail if a file needs a loader or a shared library")
    parser.add_argument("--relocatable", action="store_true", help="fail if a file must be at a fixed address")
    parser.add_argument("files", nargs="+", metavar="FILE")
    arguments = parser.parse_args()
    wrong = False
    for path in arguments.files:
        try:
            executable = describe(path)
        except (OSError, Unreadable) as error:
            print(f"executable.py: {error}", file=sys.stderr)
            wrong = True
            continue
        print(f"{path}: {executable}, {os.path.getsize(path)} bytes")
        if arguments.static and not executable.is_static:
            print(f"executable.py: {path} is not static", file=sys.stderr)
            wrong = True
        if arguments.relocatable and not executable.is_relocatable:
            print(f"executable.py: {path} must be at a fixed address: link it with -pie", file=sys.stderr)
            wrong = True
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
