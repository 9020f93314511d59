"""Submissions that want points without work, or want to do harm; and what their reports must say.

Each is the text of a file, most of it run when it is loaded. `{outside}` becomes a folder that the
test watches, `{port}` a port that it listens on, `{root}` the repository.
"""

from tests.grader.here import WRONG

# Finds the pipe that answers go through, as its text is in this process for everyone to read.
FIND_PIPE = """
import os, stat, struct, json
pipes = [n for n in range(3, 64) if os.path.exists(f"/proc/self/fd/{n}")
         and stat.S_ISFIFO(os.fstat(n).st_mode)]
def send(header, data=b""):
    for n in pipes:
        os.set_blocking(n, True)
        try: os.write(n, struct.pack(">I", len(header)) + header + data)
        except OSError: pass
"""

# name: (submission, a piece of its report)
HOSTILE = {
    "exits": ("import os; os._exit(0)", "it exited (with status 0)"),
    "exits politely": ("import sys; sys.exit(0)", "SystemExit"),
    "becomes another program": ("import os; os.execv('/bin/true', ['true'])", "it exited"),
    "crashes": ("import ctypes; ctypes.string_at(0)", "by signal 11"),
    "prints a report": (
        WRONG + 'print(\'{"score": 100}\'); print("100 of 100 points")',
        "It printed",
    ),
    "forges an answer": (
        FIND_PIPE
        + 'send(json.dumps({"nonce": "0", "kind": "loaded", "body": None, "arrays": []}).encode())',
        "a question that was not asked",
    ),
    "forges full marks": (
        FIND_PIPE + 'send(b\'{"score": 100, "passed": true}\')',
        "no header",
    ),
    "gives half an answer": (
        FIND_PIPE + "send(b'{\"nonce\": ', b''); os._exit(0)",
        "no JSON",
    ),
    "hangs in an answer": (
        FIND_PIPE + "os.write(pipes[-1], struct.pack('>I', 1000)); import time; time.sleep(99)",
        "no answer within",
    ),
    "answers without an end": (
        FIND_PIPE + "\nwhile True: os.write(pipes[-1], b'\\xff' * 4096)",
        "a header that is too long",
    ),
    "answers deep JSON": (FIND_PIPE + "send(b'[' * 500000)", "no JSON (RecursionError)"),
    "answers NaN in JSON": (
        FIND_PIPE + 'send(b\'{"nonce": NaN, "kind": "", "body": 0, "arrays": []}\')',
        "what came back is not an answer",
    ),
    "answers a huge array": (
        FIND_PIPE + 'send(b\'{"nonce": "", "kind": "", "body": 0, "arrays": '
        '[["float64", [16000000, 16000000]]]}\')',
        "arrays that are too large",
    ),
    "answers an empty array of a huge shape": (
        FIND_PIPE + 'send(b\'{"nonce": "", "kind": "", "body": 0, "arrays": '
        '[["float64", [16777216, 16777216, 16777216, 16777216, 0]]]}\')',
        "arrays that are too large",
    ),
    "answers objects": (
        FIND_PIPE + 'send(b\'{"nonce": "", "kind": "", "body": 0, "arrays": [["object", [1]]]}\')',
        "a dtype that is not sent",
    ),
    "hangs up": (
        "import os; os.closerange(3, 99); import time; time.sleep(99)",
        "The file could not be loaded: ",
    ),
    "gives NaN": (
        "from tinyframe import Tensor\nnan = float('nan')\n"
        "def double(x): return Tensor([[nan] * 4] * 3)\ndef lazily(x): return x * nan",
        "is nan, and should be",
    ),
    "gives what equals everything": (
        "class Same:\n"
        "    def __eq__(self, other): return True\n"
        "    def __getattr__(self, name): return self\n"
        "    def __call__(self, *a): return self\n"
        "def double(x): return Same()\ndef lazily(x): return Same()",
        "an object of type Same",
    ),
    "gives constants": ("def double(x): return 2.0\ndef lazily(x): return x * 0 + 1", "not"),
    "patches NumPy": (
        "import numpy as np\n"
        "np.allclose = np.array_equal = np.all = lambda *a, **k: True\n" + WRONG,
        "double(x)",
    ),
    "patches builtins": (
        "import builtins\n"
        "builtins.isinstance = builtins.all = builtins.any = lambda *a: True\n"
        "builtins.abs = lambda x: 0\n" + WRONG,
        "0 of 100",
    ),
    "patches tinyframe": (
        "import numpy as np\nfrom tinyframe import Tensor, GlobalCounters\n"
        "Tensor.numpy = lambda self: np.zeros((3, 4), np.float32)\n"
        "GlobalCounters.kernel_count = 1\n" + WRONG,
        "double(x)",
    ),
    "patches the grader": (
        "from classroom.grader import answerer, channel\n"
        "answerer.encode = channel.encode = lambda value, arrays, depth=0: {'passed': 100}\n"
        "answerer.to_table = lambda *a: 'right'\n" + WRONG,
        "an object that is no value",
    ),
    "patches the judge": (
        "import classroom.grader.judge as judge\njudge.grade = lambda *a: 100\n" + WRONG,
        "ModuleNotFoundError",
    ),
    "imports the solution": (
        "import sys; sys.path.insert(0, {root!r})\n"
        "source = open({root!r} + '/solutions/projects/01_tensor_basics.py').read()\n",
        "Error",
    ),
    "loops": ("def double(x):\n  while True: pass\nlazily = double", "Is there an endless loop?"),
    "sleeps": (
        "import time\ndef double(x): time.sleep(1000)\nlazily = double",
        "for most of which it waited or slept",
    ),
    "loops in the referee": (
        WRONG + "from classroom.grader import answerer\n"
        "def table(root, inputs, arrays):\n"
        "    rows = [['CONST', 'float', [], [1.0, None]]]\n"
        "    for n in range(998): rows.append(['ADD', 'float', [n, n], None])\n"
        "    return rows\n"
        "answerer.to_table = table\n",
        "lazily",
    ),
    "forks without end": ("import os\nwhile True: os.fork()", "could not be loaded"),
    "allocates 50 GB": ("block = bytearray(50 << 30)", "MemoryError"),
    "fills memory": (
        "blocks = []\nwhile True: blocks.append(bytearray(b'x') * (1 << 24))",
        "of memory and was stopped",
    ),
    "prints without end": ("while True: print('x' * 1000)", "kB and was stopped"),
    "makes many files": (
        "n = 0\nwhile True:\n    n += 1\n    open(f'f{n}', 'w').close()",
        "could not be loaded",
    ),
    "makes a large file": (
        "with open('f', 'wb') as f:\n    while True: f.write(bytes(1 << 20))",
        "could not be loaded",
    ),
    "makes deep folders": (
        "import os\nfor _ in range(250): os.mkdir('d'); os.chdir('d')\n" + WRONG,
        "0 of 100",
    ),
    "deletes files": (
        "import shutil\nfor place in ({outside!r}, {root!r} + '/.nowhere', '..', '.'):\n"
        "    shutil.rmtree(place, ignore_errors=True)\n" + WRONG,
        "0 of 100",
    ),
    "writes through a link": (
        "import os\nos.symlink({outside!r} + '/precious', 'here')\nopen('here', 'w').write('gone')",
        "Error: [Errno",
    ),
    "leaves a daemon": (
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        "        time.sleep(0.2)\n"
        "        while True: time.sleep(1)\n"
        "    os._exit(0)\n" + WRONG,
        "0 of 100",
    ),
    # To everybody only where it is the first process of a namespace of its own: a test must not end
    # the machine that it runs on.
    "signals its parent": (
        "import os, signal\n"
        "for pid in [os.getppid() or -1, -1 if os.getpid() == 1 else os.getppid()]:\n"
        "    try: os.kill(pid, signal.SIGKILL)\n"
        "    except OSError: pass\n" + WRONG,
        "of 100",
    ),
    "reads its parent": (
        "import os\nseen = ''\n"
        "for pid in os.listdir('/proc'):\n"
        "    if pid.isdigit() and pid != str(os.getpid()):\n"
        "        try: seen += open(f'/proc/{{pid}}/environ').read()\n"
        "        except OSError: pass\n"
        "raise RuntimeError('seen: ' + seen)",
        "RuntimeError: seen:",
    ),
    "reads the environment": (
        "import os\nraise RuntimeError(str([v for v in os.environ.values() if 'secret' in v])"
        " + open('/proc/self/environ').read()[-40:])",
        "RuntimeError: []",
    ),
    "poisons caches": (
        "import os, pathlib\n"
        "for folder in ({outside!r}, os.environ['TINYFRAME_CACHE']):\n"
        "    for kind in ('programs', 'macros', 'opts'):\n"
        "        try:\n"
        "            place = pathlib.Path(folder, kind, '00'); place.mkdir(parents=True)\n"
        "            (place / 'x').write_bytes(b'poison')\n"
        "        except OSError: pass\n" + WRONG,
        "0 of 100",
    ),
    "calls home": (
        "import socket\nsocket.create_connection(('127.0.0.1', {port}), 3).send(b'hello')",
        "Error",
    ),
    "asks a question": ("answer = input('Points? ')", "EOFError"),
    "leaves threads": (
        "import threading, time\n"
        "for _ in range(5): threading.Thread(target=time.sleep, args=(99,)).start()\n" + WRONG,
        "0 of 100",
    ),
    "is binary": ("\0\1\2", "null bytes in it"),
    "is broken": ("def double(x) return x", "expected ':' in line 1 (def double(x) return x)"),
    "speaks to the terminal": ("raise RuntimeError('\\x1b[2J\\x1b]0;100/100\\x07')", "[2J]0"),
    "lets its first thread end, and others fill memory": (
        "import ctypes, platform, threading, time\n"
        "def fill():\n"
        "    time.sleep(0.3)\n"
        "    blocks = []\n"
        "    while True: blocks.append(bytearray(b'x') * (1 << 22))\n"
        "threading.Thread(target=fill).start()\n"
        "ctypes.CDLL(None).syscall(60 if platform.machine() == 'x86_64' else 93, 0)",
        "of memory and was stopped",
    ),
    "hides files where no path leads": (
        "import os\n"
        "for _ in range(20): os.mkdir('d' * 250); os.chdir('d' * 250)\n"
        "for n in range(100): open(f'f{n}', 'wb').write(bytes(1 << 20))",
        "could not be loaded",
    ),
    "gives a list without an end": (
        "from collections.abc import Sequence\n"
        "class Endless(Sequence):\n"
        "    __len__ = lambda self: 1\n"
        "    __getitem__ = lambda self, n: b'x' * (1 << 20)\n"
        "def double(x): return Endless()\nlazily = double",
        "of memory and was stopped",
    ),
    "interrupts the answer again and again": (
        "import signal\n"
        "def interrupt(*_): raise KeyError('now')\n"
        "signal.signal(signal.SIGALRM, interrupt)\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)\n" + WRONG,
        "0 of 100",
    ),
    "changes the answer on its way": (
        "import sys\n"
        "def trace(frame, event, arg):\n"
        "    if frame.f_code.co_name == 'answer' and event == 'return':\n"
        "        frame.f_locals['kind'] = 'right'\n"
        "    return trace\n"
        "sys.settrace(trace)\n" + WRONG,
        "0 of 100",
    ),
    "answers twice": (
        "import gc\n"
        "from classroom.grader.channel import Channel\n"
        "(channel,) = [o for o in gc.get_objects() if isinstance(o, Channel)]\n"
        "real = channel.send\n"
        "def send(*message): real(*message); real(*message)\n"
        "channel.send = send\n" + WRONG,
        "a question that was not asked",
    ),
    "answers as two processes": (
        "import os\ndef double(x):\n    os.fork()\n    return x\nlazily = double",
        "0 of 100",
    ),
    "closes its ears": (
        FIND_PIPE + "null = os.open('/dev/null', os.O_RDWR)\nfor n in pipes: os.dup2(null, n)\n",
        "could not be loaded",
    ),
    "answers by the questions it finds": (
        "import gc\n"
        "from classroom.grader.channel import Message\n"
        "def double(x):\n"
        "    return [o for o in gc.get_objects() if isinstance(o, Message)][0].body\n"
        "lazily = double",
        "0 of 100",
    ),
    "leaves a hook for when it is over": (
        "import atexit, os\natexit.register(lambda: os.write(1, b'100 of 100 points'))\n"
        "import sys\nsys.addaudithook(lambda name, _: None if name != 'exec' else 1 / 0)\n" + WRONG,
        "0 of 100",
    ),
}
