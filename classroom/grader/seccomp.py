"""The system calls that a confined process cannot make, as a seccomp filter of our own.

The filter is a small BPF program. It looks at the architecture first, then at the call's number,
and for a few calls at an argument. Everything that is not listed here stays allowed: a C compiler
and NumPy have to work. There is a column of numbers for x86-64 and one for aarch64; on any other
architecture there is no filter.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct
import sys

# Denied with EPERM. (x86-64, aarch64); None: the architecture does not have it.
Numbers = tuple[int | None, int | None]
DENIED: dict[str, dict[str, Numbers]] = {
    "sockets": {
        "socket": (41, 198), "connect": (42, 203), "bind": (49, 200), "listen": (50, 201),
        "setsockopt": (54, 208),  # a pair could be made to hold more
        "sendmsg": (46, 211), "sendmmsg": (307, 269),  # of files that nobody else has open
    },
    "keys": {
        "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    },
    "other processes": {
        "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
        "process_madvise": (440, 440), "kcmp": (312, 272), "pidfd_getfd": (438, 438),
        "setpriority": (141, 140), "ioprio_set": (251, 30),
    },
    "namespaces": {
        "unshare": (272, 97), "setns": (308, 268),
    },
    "mounts": {
        "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
        "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
        "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433),
        "mount_setattr": (442, 442), "open_tree_attr": (467, 467),
        "swapon": (167, 224), "swapoff": (168, 225), "quotactl": (179, 60),
        "quotactl_fd": (443, 443), "name_to_handle_at": (303, 264),
        "open_by_handle_at": (304, 265),
    },
    # What stays in memory after the process, or is in memory without being any process's.
    "shared memory": {
        "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "shmdt": (67, 197),
        "semget": (64, 190), "semop": (65, 193), "semctl": (66, 191), "semtimedop": (220, 192),
        "msgget": (68, 186), "msgsnd": (69, 189), "msgrcv": (70, 188), "msgctl": (71, 187),
        "mq_open": (240, 180), "mq_unlink": (241, 181), "mq_timedsend": (242, 182),
        "mq_timedreceive": (243, 183), "mq_notify": (244, 184), "mq_getsetattr": (245, 185),
        "memfd_create": (319, 279), "memfd_secret": (447, 447), "vmsplice": (278, 75),
        "io_setup": (206, 0),
    },
    # What a grader never needs and what kernels have had most of their holes in.
    "the kernel": {
        "io_uring_setup": (425, 425), "io_uring_enter": (426, 426),
        "io_uring_register": (427, 427), "bpf": (321, 280), "userfaultfd": (323, 282),
        "perf_event_open": (298, 241), "fanotify_init": (300, 262), "fanotify_mark": (301, 263),
        "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105),
        "finit_module": (313, 273), "delete_module": (176, 106), "acct": (163, 89),
        "reboot": (169, 142), "syslog": (103, 116), "lookup_dcookie": (212, 18),
        "nfsservctl": (180, 42), "iopl": (172, None), "ioperm": (173, None),
        "modify_ldt": (154, None), "uselib": (134, None), "_sysctl": (156, None),
    },
}  # fmt: skip

# ENOSYS, so that the C library falls back to clone, whose flags a filter can read.
ABSENT: dict[str, Numbers] = {"clone3": (435, 435)}

# Allowed only where, for each (argument, mask, value), argument & mask == value; for (argument,
# mask, None), where it has not all of these bits.
NEW_NAMESPACES = 0x7E020000  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
WHOLE = 0xFFFFFFFF
AF_UNIX = SOCK_STREAM = 1
MAP_HUGETLB, MADV_PAGEOUT = 0x40000, 21
SHARED_ANONYMOUS = 0x21  # memory that stays while any process maps any page of it, and is no one's
CONDITIONS: dict[str, tuple[Numbers, list[tuple[int, int, int | None]]]] = {
    "mmap": ((9, 222), [(3, SHARED_ANONYMOUS, None), (3, MAP_HUGETLB, None)]),
    "madvise": ((28, 233), [(2, MADV_PAGEOUT, None)]),  # memory that is swapped counts for nobody
    "fallocate": ((285, 47), [(1, WHOLE, 0)]),  # beyond a file's end, no limit holds
    "prlimit64": ((302, 261), [(0, WHOLE, 0)]),  # of this process alone
    "clone": ((56, 220), [(0, NEW_NAMESPACES, 0)]),
    # asyncio and multiprocessing make pairs of streams. A pair of datagram sockets is another
    # matter: either end can be sent to any socket file there is.
    "socketpair": ((53, 199), [(0, WHOLE, AF_UNIX), (1, 0xF, SOCK_STREAM)]),
    "personality": ((135, 92), [(0, WHOLE, WHOLE)]),  # it may ask, and not change
}

# machine: (AUDIT_ARCH_…, which of the two numbers)
ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
X32 = 0x40000000  # what the numbers of x86-64's third ABI begin at

LOAD, AND, RETURN = 0x20, 0x54, 0x06  # BPF: of a word, with a constant, a constant
EQUAL, AT_LEAST = 0x15, 0x35  # jumps
KILL_PROCESS, ERRNO, ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
NUMBER_AT, ARCHITECTURE_AT, ARGUMENTS_AT = 0, 4, 16  # in struct seccomp_data
PR_SET_NO_NEW_PRIVS, PR_GET_SECCOMP, PR_SET_SECCOMP, MODE_FILTER = 38, 21, 22, 2


def is_available() -> bool:
    """Whether there is a table for this machine, and a kernel that takes filters."""
    if sys.platform != "linux" or machine() not in ARCHITECTURES:
        return False
    return ctypes.CDLL(None).prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0


def machine() -> str:
    """The processor's name, or "" for a 32-bit Python, whose calls have other numbers."""
    return platform.machine() if ctypes.sizeof(ctypes.c_void_p) == 8 else ""


def program(name: str) -> list[tuple[int, int, int, int]]:
    """The filter for a machine as BPF instructions: code, jump if true, jump if not, constant."""
    architecture, column = ARCHITECTURES[name]
    refuse, absent = ERRNO | errno.EPERM, ERRNO | errno.ENOSYS
    lines = [
        (LOAD, 0, 0, ARCHITECTURE_AT),
        (EQUAL, 1, 0, architecture),
        (RETURN, 0, 0, KILL_PROCESS),
        (LOAD, 0, 0, NUMBER_AT),
        (AT_LEAST, 0, 1, X32),
        (RETURN, 0, 0, absent),
    ]
    plain = [(numbers, refuse) for group in DENIED.values() for numbers in group.values()]
    plain += [(numbers, absent) for numbers in ABSENT.values()]
    for numbers, verdict in plain:
        if (number := numbers[column]) is not None:
            lines += [(EQUAL, 0, 1, number), (RETURN, 0, 0, verdict)]
    for numbers, conditions in CONDITIONS.values():
        body: list[tuple[int, int, int, int]] = []
        for argument, mask, value in conditions:
            body += [
                (LOAD, 0, 0, ARGUMENTS_AT + 8 * argument),  # its lower half: these are ints
                (AND, 0, 0, mask),
                (EQUAL, 1, 0, value) if value is not None else (EQUAL, 0, 1, mask),
                (RETURN, 0, 0, refuse),
            ]
        body.append((RETURN, 0, 0, ALLOW))
        number = numbers[column]
        assert number is not None
        lines += [(EQUAL, 0, len(body), number), *body]
    return [*lines, (RETURN, 0, 0, ALLOW)]


def install() -> bool:
    """From here on the calls above fail, in this process and all that it starts; did it work?"""
    if not is_available():
        return False
    lines = program(machine())
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in lines))
    whole = struct.pack("HP", len(lines), ctypes.addressof(code))
    calls = ctypes.CDLL(None)
    calls.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    return calls.prctl(PR_SET_SECCOMP, MODE_FILTER, whole, 0, 0) == 0
