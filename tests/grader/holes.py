"""Ways out of the sandbox: what a submission tries, and what a report has to claim against it.

Each text raises OSError where it is kept out. `{outside}` becomes a folder of the test's with a
`precious` file and a `socket` in it, `{name}` the name of a socket that is no file, `{port}` a port
that echoes datagrams, `{root}` the repository, `{mark}` a text that is to be found nowhere
afterwards.
"""

import re

CALL = """
import ctypes, os, platform, socket
calls = ctypes.CDLL(None, use_errno=True)
def call(x86, arm, *arguments):
    number = x86 if platform.machine() == "x86_64" else arm
    result = calls.syscall(number, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
"""

# name: (claim, what is tried)
HOLES = {
    "leaves a key in the session": (
        "keyrings closed",
        "call(248, 217, b'user', b'{mark}', b'x', ctypes.c_size_t(1), -3)",
    ),
    "leaves a key for the user": (
        "keyrings closed",
        "call(248, 217, b'user', b'{mark}', b'x', ctypes.c_size_t(1), -4)",
    ),
    "connects to a socket that is a file": (
        "sockets of other programs closed",
        "socket.socket(socket.AF_UNIX).connect({outside!r} + '/socket')",
    ),
    "connects to a socket by its name": (
        "sockets of other programs closed",
        "socket.socket(socket.AF_UNIX).connect('\\0{name}')",
    ),
    "sends from one of a pair": (
        "sockets of other programs closed",
        "socket.socketpair(type=socket.SOCK_DGRAM)[0].connect({outside!r} + '/datagrams')",
    ),
    "sends by UDP": (
        "network closed",
        "out = socket.socket(type=socket.SOCK_DGRAM)\n"
        "out.connect(('127.0.0.1', {port}))\n"
        "out.settimeout(5); out.send(b'{mark}'); out.recv(1)",
    ),
    "reads what only the grader may": (
        "your private files out of its sight",
        "open('/etc/shadow').close()",
    ),
    "reads the solutions": (
        "solutions out of its sight",
        "open({root!r} + '/solutions/projects/01_tensor_basics.py').close()",
    ),
    "reads the tests": (
        "solutions out of its sight",
        "open({root!r} + '/tests/grader/holes.py').close()",
    ),
    "writes into the folder of another": (
        "writing outside its folder prevented",
        "open({outside!r} + '/precious', 'a').close()",
    ),
    "writes into the repository": (
        "writing outside its folder prevented",
        "open({root!r} + '/{mark}', 'x').close()",
    ),
    "changes the machine's settings": (
        "writing outside its folder prevented",
        "open('/proc/sys/kernel/core_pattern', 'a').close()",
    ),
    "leaves memory of System V": (
        "all memory and disk space counted",
        "call(29, 194, 0x7f00f00d, ctypes.c_size_t(4096), 0o1600)",
    ),
    "takes memory without a name": (
        "all memory and disk space counted",
        "os.memfd_create('{mark}')",
    ),
    "makes namespaces": ("new namespaces prevented", "call(272, 97, 0x10000000)"),
    "makes namespaces with clone": (
        "new namespaces prevented",
        "call(56, 220, 0x10000000 | 17, None, None, None, None) or os._exit(0)",
    ),
}


def submission(places: dict[str, str]) -> str:
    """A file that tries all of them when it is loaded, each in a process of its own, and raises the
    numbers of those that it got through: `through [0, 3]`."""
    tried = [definition.format(**places) for _, definition in HOLES.values()]
    return f"""{CALL}
through = []
for number, attempt in enumerate({tried!r}):
    child = os.fork()
    if child == 0:
        try:
            exec(attempt)
        except OSError:
            os._exit(1)
        os._exit(0)
    if os.waitpid(child, 0)[1] == 0:
        through.append(number)
raise RuntimeError(f"through {{through}}")
"""


def through(said: str) -> set[str]:
    """The names of those that got through, by what the report says."""
    numbers = re.search(r"RuntimeError: through \[([0-9, ]*)\]", said)
    assert numbers, said
    return {list(HOLES)[int(n)] for n in numbers[1].split(",") if n.strip()}
