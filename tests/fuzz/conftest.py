"""Where the C compiler has no sanitizers (zig's clang, say), tests that need them are left out."""

import subprocess
import tempfile
from pathlib import Path

from tests.fuzz.batch import SANITIZERS
from tinyframe.runtime.clang import find_compiler
from tinyframe.settings import settings


def sanitizers_work() -> bool:
    with tempfile.TemporaryDirectory(prefix="tinyframe-") as folder:
        program = str(Path(folder) / "program")
        command = [*find_compiler(settings.CC), *SANITIZERS, "-x", "c", "-", "-o", program]
        built = subprocess.run(command, input=b"int main() { return 0; }", capture_output=True)
        return built.returncode == 0 and subprocess.run([program], env={}).returncode == 0


collect_ignore = [] if sanitizers_work() else ["test_sanitized.py"]
