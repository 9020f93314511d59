"""Hint: When may a node go into the list? Say it as a condition on its sources. And how do you
notice, cheaply, that a node is in the list already?
Hint: Keep a list of nodes that are waiting, with this node in it. Look at one of them: if all of
its sources are done, it's done too. If not, it goes back to wait, and the missing ones are looked
at first. A dict remembers an order, and finds a node at once.
Because: A node is done once all of its sources are, so it never comes before one of them. Each
node gets into the dict once, however many users it has: 61 nodes, and not 2^60 paths. And nothing
calls itself, so no graph is too deep.
"""

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
