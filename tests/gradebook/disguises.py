"""Somebody else's work, made to look different: for tests of what finds it."""

import ast
import random
import re


class _Renamed(ast.NodeTransformer):
    """Every argument and variable of a function has a different name, and every helper."""

    def __init__(self, keep):
        self.keep, self.names = keep, {}

    def new(self, name):
        return self.names.setdefault(name, f"v{len(self.names)}_{name[::-1]}")

    def visit_arg(self, node):
        return ast.arg(self.new(node.arg))

    def visit_Name(self, node):
        is_ours = isinstance(node.ctx, ast.Store) or node.id in self.names
        if node.id in self.keep or not is_ours:
            return node
        return ast.Name(self.new(node.id), node.ctx)


def renamed(text):
    tree = ast.parse(text)
    keep = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    return ast.unparse(_Renamed(keep).visit(tree))


def reordered(text):
    """The functions in a different order, after all else."""
    tree = ast.parse(text)
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    rest = [node for node in tree.body if node not in functions]
    random.Random(1).shuffle(functions)
    tree.body = rest[:-1] + functions + rest[-1:]
    return ast.unparse(tree)


def reformatted(text):
    """Other comments, blank lines and line ends inside brackets; no token is another one."""
    lines = [re.sub(r"^( *)#.*", r"\1# my own words", line) for line in text.split("\n")]
    return "\n\n# mine\n".join("\n".join(lines).split("\n\n\n")).replace(", ", ",  ")


def padded(text, every=5):
    """A line that does nothing after so many statements."""
    tree = ast.parse(text)
    count = 0
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.For, ast.If)):
            body = []
            for statement in node.body:
                count += 1
                body.append(statement)
                if count % every == 0 and not isinstance(statement, ast.Return):
                    body.append(ast.parse("unused = [0]").body[0])
            node.body = body
    return ast.unparse(tree)


DISGUISES = {
    "renamed": renamed, "reordered": reordered, "reformatted": reformatted, "padded": padded,
    "all of it": lambda text: padded(reordered(renamed(reformatted(text)))),
}  # fmt: skip
