"""A trace on a terminal, for people over ssh and for scripts; or opened in the browser.

python -m tinyframe.viz run.trace                              in the browser
python -m tinyframe.viz run.trace --ls                         realizes and kernels
python -m tinyframe.viz run.trace --kernel r_8_16              its source, numbers and passes
python -m tinyframe.viz run.trace --kernel r_8_16 --pass simplify
python -m tinyframe.viz run.trace --json                       the same for programs
"""

from __future__ import annotations

import argparse
import json
import sys
import webbrowser
from collections.abc import Sequence
from typing import Any

from tinyframe.device import human_bytes
from tinyframe.uop.show import printable, summary
from tinyframe.viz.explorer.answers import MOST_STEPS, chrome_trace, stages, steps
from tinyframe.viz.explorer.server import Server
from tinyframe.viz.explorer.session import has_browser, wait_for_ctrl_c
from tinyframe.viz.explorer.store import TraceError
from tinyframe.viz.explorer.trace import Trace


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tinyframe.viz",
        description="Opens a trace (VIZ_TRACE=FILE python script.py) in the browser, or prints it.",
    )
    parser.add_argument("file", metavar="FILE", help="the trace")
    parser.add_argument("--ls", action="store_true", help="list its realizes and kernels")
    parser.add_argument("--kernel", metavar="NAME", help="print a kernel: source, numbers, passes")
    parser.add_argument(
        "--pass", dest="stage", metavar="NAME", help="of --kernel: the graph after it, its rewrites"
    )
    parser.add_argument("--json", action="store_true", help="print it for a program to read")
    parser.add_argument("--chrome", action="store_true", help="print the profile for Perfetto")
    parser.add_argument("--port", type=int, default=0, help="of the page; any that is free")
    return parser


def main(given: Sequence[str] | None = None) -> int:
    parser = arguments()
    args = parser.parse_args(given)
    if args.stage and not args.kernel:
        parser.error("--pass goes with --kernel: python -m tinyframe.viz FILE --ls lists them")
    try:
        trace = Trace.open(args.file)
        if args.chrome:
            print(json.dumps(chrome_trace(trace)))
        elif args.kernel:
            print_kernel(trace, args.kernel, args.stage, args.json)
        elif args.json:
            print(json.dumps(trace.overview, indent=2))
        elif args.ls:
            print(printable(listing(trace)))
        else:
            return serve(trace, args.port)
    except (TraceError, NoSuch) as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"{args.file} cannot be read: {error.strerror or error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        return 0
    return 0


class NoSuch(ValueError):
    """A kernel or a pass that is not in the trace."""


def serve(trace: Trace, port: int) -> int:
    try:
        server = Server(trace, port)
    except (OSError, OverflowError) as error:
        print(f"port {port} cannot be used: {error}", file=sys.stderr)
        return 1
    server.start()
    print(f"tinyframe explorer: {server.url}  (Ctrl-C ends it)", flush=True)
    if has_browser():
        webbrowser.open(server.url)
    wait_for_ctrl_c()
    return 0


def listing(trace: Trace) -> str:
    """Realizes with the lines that asked for them, and their kernels with times."""
    about = trace.overview
    total = sum(k["seconds"] for k in about["kernels"]) or 1.0
    lines = [f"{' '.join(about['script'])}: {len(about['realizes'])} realizes, "
             f"{len(about['kernels'])} kernels, {total * 1e3:.2f} ms"]  # fmt: skip
    for n, realize in enumerate(about["realizes"]):
        lines.append(f"realize {n}  {place_of(about, realize['line'])}")
        for ran in trace.realize(n)["ran"]:
            took = ran["seconds"]
            size = human_bytes(ran["bytes"])
            lines.append(
                f"  {ran['name']:24s} {took * 1e6:9.1f} us {took / total:6.1%}  {size:>10s}"
            )
    if about["lost"]:
        lines.append(f"… and {about['lost']} realizes more, which were not recorded")
    return "\n".join(lines)


def place_of(about: dict[str, Any], line: int | None) -> str:
    if line is None:
        return "(not from a script)"
    file, number, text = about["lines"][line]
    return f"{file}:{number}  {text}"


def print_kernel(trace: Trace, name: str, stage: str | None, as_json: bool) -> None:
    about = trace.overview
    known = [(k["name"], k["function"], str(n)) for n, k in enumerate(about["kernels"])]
    found = [n for n, names in enumerate(known) if name in names]
    if not found:
        names = ", ".join(k["name"] for k in about["kernels"][:20])
        more = " …" if len(about["kernels"]) > 20 else ""
        raise NoSuch(f"there is no kernel {name!r} in this trace; there are: {names}{more}")
    kernel, query = about["kernels"][found[0]], {"of": f"kernel/{found[0]}"}
    if stage is None:
        data = stages(trace, query)
        print(json.dumps({**kernel, **data}, indent=2) if as_json
              else printable(kernel_text(about, kernel, data)))  # fmt: skip
        return
    described = trace.described(f"kernel/{found[0]}")
    numbers = [n for n, s in enumerate(described.stages) if s.name == stage]
    if not numbers:
        names = ", ".join(s.name for s in described.stages)
        raise NoSuch(f"{kernel['name']} has no pass {stage!r}; there are: {names}")
    listed: list[dict[str, Any]] = []
    for start in range(0, described.stages[numbers[0]].step_count, MOST_STEPS):
        page = {**query, "stage": str(numbers[0]), "from": str(start)}
        listed += steps(trace, page)["steps"]
    for step in listed:
        step["rule"] = "{}:{}  {}".format(*about["rules"][step["rule"]])
    roots = described.stages[numbers[0]].roots
    text = "\n".join(summary(root) for root in roots[-1:])  # type: ignore[arg-type]
    if as_json:
        print(json.dumps({"graph": text, "steps": listed}, indent=2))
        return
    lines = [text, f"{len(listed)} rewrites:"]
    for step in listed:
        lines += [f"{step['n']:4d}  {step['rule']}", f"        {step['before']}",
                  f"     -> {step['after']}"]  # fmt: skip
    print(printable("\n".join(lines)))


def kernel_text(about: dict[str, Any], kernel: dict[str, Any], data: dict[str, Any]) -> str:
    lines = [kernel["name"]]
    lines += [f"  {place_of(about, line)}" for line in kernel["lines"]]
    if kernel["best"]:
        rate = 1e-9 / kernel["best"]
        lines.append(
            f"  {kernel['runs']} runs, at best {kernel['best'] * 1e6:.1f} us: "
            f"{kernel['ops'] * rate:.1f} GFLOP/s of {about['roof']['flops'] / 1e9:.0f}, "
            f"{kernel['bytes'] * rate:.1f} GB/s of {about['roof']['bandwidth'] / 1e9:.0f}"
        )
        lines.append(f"  {data['verdict']}")
    if data["plan"]:
        lines.append(f"  plan: {data['plan'][0]}, because {data['plan'][1]}")
    if data["opts"]:
        lines.append(f"  opts: {'; '.join(data['opts'])}")
    lines += ["", data["source"].rstrip(), "", "passes:"]
    lines += [f"  {s['name']:20s} {s['nodes']:6d} nodes {s['steps']:6d} rewrites"
              for s in data["stages"]]  # fmt: skip
    return "\n".join(lines)
