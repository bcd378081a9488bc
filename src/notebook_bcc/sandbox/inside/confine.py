"""Confines the process it runs in by Landlock and seccomp, then becomes the program it was given.

    python -I -S confine.py '{"writable": [...], "readable": [...], ...}' PROGRAM ARGUMENT...

Only the standard library is used: it runs before the kernel's own code, and a part of it (`seal`) in the kernel.
Landlock has no binding, so that its three system calls are made by number; filters of system calls are made by
libseccomp. Nothing here can be undone by what runs afterwards, nor by the processes that start from it.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import stat
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ABI_QUESTION = 1
_PATH_BENEATH = 1
_PR_CAPBSET_DROP, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 24, 36, 38
_LAST_CAPABILITY = 63

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REFER, _TRUNCATE, _IOCTL = 1 << 13, 1 << 14, 1 << 15
_MAKE_DEVICES = 1 << 6 | 1 << 11
_FIRST_RIGHTS = (1 << 13) - 1
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_ABSTRACT_SOCKETS_AND_SIGNALS = 1 << 0 | 1 << 1
# From which version of Landlock on each is known.
_REFER_ABI, _TRUNCATE_ABI, _IOCTL_ABI, _SCOPES_ABI = 2, 3, 5, 6

_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000
_NO_NEW_PRIVS_ATTRIBUTE, _ALL_THREADS_ATTRIBUTE = 3, 4
_NE, _EQ, _GE, _MASKED_EQ = 1, 4, 5, 7
_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK, _FAMILIES = 1, 2, 10, 16, 46
_SOCKET_KIND = 0xF
# Without a connection: such a socket speaks to whatever address it likes. The second kind becomes the first.
_SOCK_DGRAM, _SOCK_RAW = 2, 3
# Ways around the rules for files and sockets, into other processes, or to what belongs to the whole machine.
_DENIED = (
    *("io_uring_setup", "io_uring_enter", "io_uring_register", "open_by_handle_at"),
    *("ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_getfd", "kcmp", "userfaultfd"),
    *("mount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "fsopen", "fsmount", "fsconfig"),
    *("mount_setattr", "unshare", "setns", "bpf", "perf_event_open", "add_key", "request_key", "keyctl", "acct"),
    *("shmget", "shmat", "shmctl", "msgget", "msgsnd", "msgrcv", "semget", "semop", "semtimedop", "mq_open"),
    *("mq_unlink", "chown", "fchown", "lchown", "fchownat", "mknod", "swapon", "swapoff", "reboot", "syslog"),
    *("init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "quotactl", "settimeofday"),
    *("clock_settime", "clock_adjtime", "adjtimex", "sethostname", "setdomainname", "vhangup"),
)
# Of these, what namespaces do not keep apart either.
_SHARED_BY_NAMESPACES = (
    *("io_uring_setup", "io_uring_enter", "io_uring_register", "open_by_handle_at", "userfaultfd", "bpf"),
    *("perf_event_open", "add_key", "request_key", "keyctl"),
)
_UNSUPPORTED = ("setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr")
# Landlock has no rule for them, and a copy of a file uses them: they are said to succeed, and change nothing.
_WITHOUT_EFFECT = (*("chmod", "fchmod", "fchmodat", "fchmodat2", "utime", "utimes", "utimensat", "futimesat"),)


class ConfinementFailed(Exception):
    """A rule could not be made or applied; nothing may run."""


class _Comparison(ctypes.Structure):
    _fields_ = [("arg", ctypes.c_uint), ("op", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]


class _Ruleset(ctypes.Structure):
    _fields_ = [("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class _PathRule(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32)]


def landlock_abi() -> int:
    """The version of Landlock that this system has, 0 for none."""
    return max(0, _call(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_ABI_QUESTION)))


def seccomp_library() -> Any:  # Any: functions of a C library
    """libseccomp. Raises ConfinementFailed where there is none."""
    try:
        library = ctypes.CDLL("libseccomp.so.2", use_errno=True)
    except OSError as error:
        raise ConfinementFailed("libseccomp is not installed") from error
    library.seccomp_init.restype = ctypes.c_void_p
    library.seccomp_init.argtypes = [ctypes.c_uint32]
    library.seccomp_release.argtypes = [ctypes.c_void_p]
    library.seccomp_load.argtypes = [ctypes.c_void_p]
    library.seccomp_attr_set.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32]
    return library


def restrict_files(*, writable: Iterable[str], readable: Iterable[str], devices: Iterable[str], abi: int) -> None:
    """From here on only these can be opened. Abstract sockets of others, and signals to them, are denied where Landlock
    knows them."""
    rights = _FIRST_RIGHTS | (_REFER if abi >= _REFER_ABI else 0) | (_TRUNCATE if abi >= _TRUNCATE_ABI else 0)
    rights |= _IOCTL if abi >= _IOCTL_ABI else 0
    ruleset = _Ruleset(files=rights, scoped=_ABSTRACT_SOCKETS_AND_SIGNALS if abi >= _SCOPES_ABI else 0)
    size = 24 if abi >= _SCOPES_ABI else 8
    rules = _checked(_call(_CREATE_RULESET, ctypes.byref(ruleset), ctypes.c_size_t(size), ctypes.c_uint32(0)))
    for paths, allowed in (
        (readable, _READ),
        (writable, rights & ~(_MAKE_DEVICES | _IOCTL)),
        (devices, _READ_FILE | _WRITE_FILE),
    ):
        for path in paths:
            _allow(rules, path, allowed & rights)
    _checked(_call(_RESTRICT_SELF, ctypes.c_int(rules), ctypes.c_uint32(0)))
    os.close(rules)


def filter_calls(*, abi: int) -> None:
    """Deny what Landlock does not stop. Sockets stay until `seal`: a kernel makes its own when it starts."""
    with _Filter() as rules:
        for kind in (_SOCK_DGRAM, _SOCK_RAW):
            rules.deny("socketpair", _Comparison(1, _MASKED_EQ, _SOCKET_KIND, kind), code=errno.EACCES)
        for name in (*_DENIED, *(("truncate", "truncate64") if abi < _TRUNCATE_ABI else ())):
            rules.deny(name)
        for name in _UNSUPPORTED:
            rules.deny(name, code=errno.ENOTSUP)
        for name in _WITHOUT_EFFECT:
            rules.deny(name, code=0)
        # Limits and priorities of other processes than the caller.
        rules.deny("prlimit64", _Comparison(0, _NE, 0, 0))
        rules.deny("setpriority", _Comparison(1, _NE, 0, 0))
        rules.load()


def seal(network: bool) -> bool:
    """Deny new sockets and every way to an address, or with a network all sockets that are not for one. For a kernel
    whose own sockets are up."""
    with _Filter() as rules:
        if network:
            rules.allow_families(_AF_INET, _AF_INET6, _AF_NETLINK)
        else:
            for name in ("socket", "connect", "bind", "listen"):
                rules.deny(name, code=errno.EACCES)
        rules.load()
    return True


def write_filter(descriptor: int) -> None:
    """Write the filter for a process in namespaces of its own, where sockets of its network are harmless. Others, such
    as those to the host of a virtual machine, belong to no namespace. Raises ConfinementFailed."""
    with _Filter() as rules:
        rules.allow_families(_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK)
        for name in _SHARED_BY_NAMESPACES:
            rules.deny(name)
        rules.write(descriptor)


def main(arguments: Sequence[str]) -> None:
    """Raises ConfinementFailed, OSError."""
    wanted: Mapping[str, Any] = json.loads(arguments[0])  # Any: JSON
    abi = min(landlock_abi(), wanted["abi"])
    if not abi:
        raise ConfinementFailed("this system has no Landlock")
    # Processes that a cell leaves behind stay in the kernel's family, where they are counted and ended.
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    if os.geteuid() == 0:
        for capability in range(_LAST_CAPABILITY + 1):
            _prctl(_PR_CAPBSET_DROP, capability)
    if _prctl(_PR_SET_NO_NEW_PRIVS, 1):
        raise ConfinementFailed("the process cannot give up new privileges")
    os.chdir(wanted["cwd"])
    own = f"/proc/{os.getpid()}"
    seccomp_library()
    restrict_files(writable=wanted["writable"], readable=[*wanted["readable"], own], devices=wanted["devices"], abi=abi)
    filter_calls(abi=abi)
    os.execvp(arguments[1], list(arguments[1:]))


class _Filter:
    """A list of denied system calls in the making; everything else is allowed. Calls of another architecture kill."""

    def __init__(self) -> None:
        self._library = seccomp_library()
        self._context = self._library.seccomp_init(_ALLOW)
        if not self._context:
            raise ConfinementFailed("libseccomp cannot make a filter")

    def __enter__(self) -> _Filter:
        return self

    def __exit__(self, *_: object) -> None:
        self._library.seccomp_release(self._context)

    def deny(self, name: str, *comparisons: _Comparison, code: int = errno.EPERM) -> None:
        number = self._library.seccomp_syscall_resolve_name(name.encode("ascii"))
        if number < 0:
            # Not a call of this system, or not known to this libseccomp.
            return
        array = (_Comparison * len(comparisons))(*comparisons)
        failed = self._library.seccomp_rule_add_array(
            ctypes.c_void_p(self._context),
            ctypes.c_uint32(_ERRNO | code),
            ctypes.c_int(number),
            ctypes.c_uint(len(comparisons)),
            array if comparisons else None,
        )
        if failed:
            raise ConfinementFailed(f"libseccomp refuses a rule for {name}: {os.strerror(-failed)}")

    def allow_families(self, *allowed: int) -> None:
        """Deny sockets of all other families, also of those that are not invented yet."""
        for family in set(range(_FAMILIES)) - set(allowed):
            self.deny("socket", _Comparison(0, _EQ, family, 0), code=errno.EACCES)
        self.deny("socket", _Comparison(0, _GE, _FAMILIES, 0), code=errno.EACCES)

    def write(self, descriptor: int) -> None:
        failed = self._library.seccomp_export_bpf(ctypes.c_void_p(self._context), ctypes.c_int(descriptor))
        if failed:
            raise ConfinementFailed(f"the filter of system calls cannot be written: {os.strerror(-failed)}")

    def load(self) -> None:
        self._library.seccomp_attr_set(self._context, _NO_NEW_PRIVS_ATTRIBUTE, 1)
        # A kernel has threads by now, and each of them could run a cell's code.
        self._library.seccomp_attr_set(self._context, _ALL_THREADS_ATTRIBUTE, 1)
        failed = self._library.seccomp_load(self._context)
        if failed:
            raise ConfinementFailed(f"the filter of system calls cannot be loaded: {os.strerror(-failed)}")


def _allow(rules: int, path: str, rights: int) -> None:
    """A path that is not there needs no rule."""
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            rights &= _OF_FILES
        rule = _PathRule(allowed=rights, parent=place)
        _checked(_call(_ADD_RULE, ctypes.c_int(rules), ctypes.c_int(_PATH_BENEATH), ctypes.byref(rule), 0))
    finally:
        os.close(place)


def _call(number: int, *arguments: Any) -> int:  # Any: what ctypes takes
    return int(ctypes.CDLL(None, use_errno=True).syscall(ctypes.c_long(number), *arguments))


def _checked(result: int) -> int:
    if result < 0:
        raise ConfinementFailed(f"Landlock refuses: {os.strerror(ctypes.get_errno())}")
    return result


def _prctl(option: int, value: int) -> int:
    return int(ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), 0, 0, 0))


if __name__ == "__main__":
    main(sys.argv[1:])
