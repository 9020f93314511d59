# %% wrong: breadth first, reversed: a source with a long and a short way down comes too late
def toposort(self):
    order, todo = {}, [self]
    while todo:
        node = todo.pop(0)
        if node not in order:
            order[node] = None
            todo.extend(node.src)
    return list(order)[::-1]

# %% wrong: a generator is no list
def toposort(self):
    seen, todo = set(), [(self, False)]
    while todo:
        node, ready = todo.pop()
        if ready:
            yield node
        elif node not in seen:
            seen.add(node)
            todo.append((node, True))
            todo.extend((source, False) for source in node.src)

# %% wrong: says This follows every path, and there are 2^60 of them
def toposort(self):
    order = []
    for source in self.src:
        order += [node for node in source.toposort() if node not in order]
    return order + [self]

# %% wrong: says A node comes more than once
def toposort(self):
    order, waiting = [], [self]
    while waiting:
        node = waiting.pop()
        order.append(node)
        waiting += node.src
    return order[::-1]

# %% wrong: says The function calls itself, and this chain is deeper than Python allows
def toposort(self):
    done = {}
    def visit(node):
        for source in node.src:
            if source not in done:
                visit(source)
        done[node] = None
    visit(self)
    return list(done)

# %% wrong: says should be a list, and yours is a dict
def toposort(self):
    done = {}
    todo = [self]
    while todo:
        missing = [s for s in todo[-1].src if s not in done]
        if missing:
            todo += missing[::-1]
        else:
            done[todo.pop()] = None
    return done

# %% right: Kahn's way, backwards
def toposort(self):
    users, todo, seen = {}, [self], {self}
    while todo:
        node = todo.pop()
        for source in set(node.src):
            users[source] = users.get(source, 0) + 1
            if source not in seen:
                seen.add(source)
                todo.append(source)
    order, ready = [], [self]
    while ready:
        node = ready.pop()
        order.append(node)
        for source in set(node.src):
            users[source] -= 1
            if users[source] == 0:
                ready.append(source)
    return order[::-1]

# %% right: since Python 3.12, plain calls need no C stack; ugly, but it has every node in order
import sys

def toposort(self):
    sys.setrecursionlimit(10**6)
    order = {}

    def visit(node):
        if node not in order:
            for source in node.src:
                visit(source)
            order[node] = None

    visit(self)
    return list(order)
