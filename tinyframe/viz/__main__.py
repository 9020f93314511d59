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
from functools import partial
from typing import Any

from tinyframe.device import human_bytes
from tinyframe.uop.show import printable, summary
from tinyframe.viz.explorer.answers import BadQuery, chrome_trace, listed_steps, stages
from tinyframe.viz.explorer.server import Server
from tinyframe.viz.explorer.session import show, wait_for_ctrl_c
from tinyframe.viz.explorer.store import TraceError
from tinyframe.viz.explorer.trace import Trace


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tinyframe.viz",
        description="Opens a trace (VIZ_TRACE=FILE python script.py) in the browser, or prints it.",
    )
    add = parser.add_argument
    add("file", metavar="FILE", help="the trace")
    add("--ls", action="store_true", help="list its realizes and kernels")
    add("--kernel", metavar="NAME", help="print a kernel: source, numbers, passes")
    add("--pass", dest="stage", metavar="NAME", help="with --kernel: the graph after it, rewrites")
    add("--json", action="store_true", help="print it for a program to read")
    add("--chrome", action="store_true", help="print the profile for Perfetto")
    add("--port", type=int, default=0, help="port of the page; by default any free one")
    args = parser.parse_args()
    if args.stage and not args.kernel:
        parser.error("--pass goes with --kernel: python -m tinyframe.viz FILE --ls lists them")
    try:
        trace = Trace.open(args.file)
        if not (args.chrome or args.kernel or args.json or args.ls):
            return serve(trace, args.port)
        if args.chrome:
            text, data = "", chrome_trace(trace)
        elif args.kernel:
            text, data = of_kernel(trace, args.kernel, args.stage)
        else:
            text, data = listing(trace), trace.overview
        print(json.dumps(data, indent=2) if args.json or args.chrome else printable(text))
    except (TraceError, BadQuery) as error:
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:
        return 0
    except OSError as error:
        print(f"{args.file} cannot be read: {error.strerror or error}", file=sys.stderr)
        return 1
    return 0


def serve(trace: Trace, port: int) -> int:
    try:
        server = Server(trace, port)
    except (OSError, OverflowError) as error:
        print(f"port {port} cannot be used: {error}", file=sys.stderr)
        return 1
    show(server, partial(print, flush=True), "  (Ctrl-C ends it)")
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
            took, size = ran["seconds"], human_bytes(ran["bytes"])
            times = f"{took * 1e6:9.1f} us {took / total:6.1%}"
            lines.append(f"  {ran['name']:24s} {times}  {size:>10s}")
    if about["lost"]:
        lines.append(f"… and {about['lost']} more realizes, which were not recorded")
    return "\n".join(lines)


def place_of(about: dict[str, Any], line: int | None) -> str:
    return "(not from a script)" if line is None else "{}:{}  {}".format(*about["lines"][line])


def of_kernel(trace: Trace, name: str, stage: str | None) -> tuple[str, Any]:
    """A kernel, or one of its passes, as text and as data."""
    about = trace.overview
    known = [(k["name"], k["function"], str(n)) for n, k in enumerate(about["kernels"])]
    found = next((n for n, names in enumerate(known) if name in names), None)
    if found is None:
        names = ", ".join(k["name"] for k in about["kernels"][:20])
        more = " …" if len(about["kernels"]) > 20 else ""
        raise BadQuery(f"there is no kernel {name!r} in this trace; there are: {names}{more}")
    kernel = about["kernels"][found]
    if stage is None:
        data = stages(trace, {"of": f"kernel/{found}"})
        return kernel_text(about, kernel, data), {**kernel, **data}
    passes = trace.described(f"kernel/{found}").stages
    wanted = next((s for s in passes if s.name == stage), None)
    if wanted is None:
        names = ", ".join(s.name for s in passes)
        raise BadQuery(f"{kernel['name']} has no pass {stage!r}; there are: {names}")
    graph = summary(wanted.roots[-1])  # type: ignore[arg-type]
    steps = listed_steps(wanted)
    lines = [graph, f"{len(steps)} rewrites:"]
    for step in steps:
        step["rule"] = "{}:{}  {}".format(*about["rules"][step["rule"]])
        lines += [f"{step['n']:4d}  {step['rule']}", f"        {step['before']}",
                  f"     -> {step['after']}"]  # fmt: skip
    return "\n".join(lines), {"graph": graph, "steps": steps}


def kernel_text(about: dict[str, Any], kernel: dict[str, Any], data: dict[str, Any]) -> str:
    lines = [kernel["name"]]
    lines += [f"  {place_of(about, line)}" for line in kernel["lines"]]
    if kernel["best"]:
        rate, roof = 1e-9 / kernel["best"], about["roof"]
        lines += [
            f"  {kernel['runs']} runs, at best {kernel['best'] * 1e6:.1f} us: "
            f"{kernel['ops'] * rate:.1f} GFLOP/s of {roof['flops'] / 1e9:.0f}, "
            f"{kernel['bytes'] * rate:.1f} GB/s of {roof['bandwidth'] / 1e9:.0f}",
            f"  {data['verdict']}",
        ]
    if data["plan"]:
        lines.append(f"  plan: {data['plan'][0]}, because {data['plan'][1]}")
    if data["opts"]:
        lines.append(f"  opts: {'; '.join(data['opts'])}")
    lines += ["", data["source"].rstrip(), "", "passes:"]
    lines += [f"  {s['name']:20s} {s['nodes']:6d} nodes {s['steps']:6d} rewrites"
              for s in data["stages"]]  # fmt: skip
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
