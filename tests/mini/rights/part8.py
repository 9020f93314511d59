"""(function, a right and unusual way to write it)"""

RIGHTS = [
    ("CRunner.__init__", """
        rendered = render(lines)
        self.text = rendered[1]
        self.library = ctypes.cdll.LoadLibrary(compiled(self.text))
        self.function = getattr(self.library, rendered[0])
        """),
    ("CRunner.__call__", """
        pointers = [array.ctypes.data_as(ctypes.POINTER(ctypes.c_float)) for array in arrays]
        self.function(*pointers)
        """),
    ("PythonRunner.__call__", """
        values = {}
        of = lambda s: s.arg if s.op is Ops.CONST else values[s]
        def element(node):
            memory, place = of(node.src[0]), of(node.src[1])
            if place < 0 or place >= memory.size:
                raise IndexError(f"no element {place} of {memory.size}")
            return memory, place
        def run(first, last):
            at = first
            while at < last:
                node = self.lines[at]
                if node.op is Ops.RANGE:
                    end = next(n for n in range(at, last) if self.lines[n].op is Ops.ENDRANGE
                               and self.lines[n].src[0] is node)
                    for values[node] in range(node.arg[1]):
                        run(at + 1, end)
                    at = end
                elif node.op is Ops.DEFINE_GLOBAL:
                    values[node] = arrays[node.arg[0]].ravel()
                elif node.op is Ops.DEFINE_REG:
                    start = {Ops.ADD: 0.0, Ops.MAX: float("-inf")}[node.src[0].arg]
                    values[node.src[0]] = np.float32(start)
                elif node.op is Ops.REDUCE:
                    values[node] = np.float32(ALU[node.arg](values[node], of(node.src[0])))
                elif node.op is Ops.LOAD:
                    memory, place = element(node)
                    values[node] = memory[place]
                elif node.op is Ops.STORE:
                    memory, place = element(node)
                    memory[place] = of(node.src[2])
                else:
                    value = ALU[node.op](*map(of, node.src))
                    values[node] = int(value) if node.dtype is int else np.float32(value)
                at += 1
        run(0, len(self.lines))
        """),
    ("numbered", """
        slots, arrays = {}, {}
        for node in sink.toposort():
            if node.op == Ops.BUFFER:
                slot = UOp(Ops.DEFINE_GLOBAL, (), (len(slots), node.shape))
                slots[node], arrays[slot] = slot, node.arg.data
        return substitute(sink, slots), arrays
        """),
    ("call", """
        kernels, places = plan(sink, device)
        for run, out, parameters in kernels:
            memory.setdefault(out, np.zeros(out.shape, "f4"))
            run(*map(memory.get, parameters))
        return list(map(memory.__getitem__, places))
        """),
    ("replay", """
        fresh = {slot: t.numpy() for slot, t in zip(tape["slots"], tensors) if slot is not None}
        results = call(tape["sink"], tape["memory"] | fresh, device)
        first, *rest = tape["places"]
        for n, place in enumerate(rest):
            state[n].uop = Tensor(results[place]).uop
        return Tensor(results[first])
        """),
]  # fmt: skip
