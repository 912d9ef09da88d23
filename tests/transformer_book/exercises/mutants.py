"""Makes programs that are wrong in one point: an operator, an axis, a sign, an index, a number.

Each mutant is the source of our solution with one node of its syntax tree exchanged. What stands in
an annotation, a docstring or an error message stays.
"""

import ast
import copy
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

OPERATORS: dict[type, tuple[type, ...]] = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.Add),
    ast.Div: (ast.Mult, ast.Sub),
    ast.FloorDiv: (ast.Mod,),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.MatMult: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
}
COMPARISONS: dict[type, tuple[type, ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
# Names of functions and methods, and what is easily taken for them.
NAMES = {
    "amax": "amin",
    "argmax": "argmin",
    "cos": "sin",
    "exp": "exp2",
    "len": "sum",
    "log_softmax": "softmax",
    "max": "min",
    "mean": "sum",
    "min": "max",
    "ones": "zeros",
    "relu": "sigmoid",
    "silu": "sigmoid",
    "sin": "cos",
    "softmax": "log_softmax",
    "sqrt": "square",
    "square": "abs",
    "stdev": "pstdev",
    "sum": "mean",
    "tril": "triu",
    "true": "found",
}


SAME = "same"  # a function that gives back what it is given


@dataclass(frozen=True)
class Mutant:
    """A function that is wrong in one point, most likely.

    Attributes:
        exercise: the name of the function.
        change: what was exchanged: the line, and what it has become.
        function: the mutant.
    """

    exercise: str
    change: str
    function: Callable[..., Any]


def mutants_of(function: Callable[..., Any]) -> Iterator[Mutant]:
    """All mutants of a function that are other programs than it."""
    function = inspect.unwrap(function)
    module = inspect.getmodule(function)
    assert module is not None
    source = inspect.getsource(module)
    tree = ast.parse(source)
    (definition,) = [
        node
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name == function.__name__
    ]
    # Types are not what is asked for; without them no mutant is refused by a type checker.
    plain = copy.deepcopy(definition)
    plain.returns = None
    for argument in plain.args.args:
        argument.annotation = None
    plain.body = plain.body[1:]  # without the docstring
    for change, text in programs_of(plain):
        names = dict(vars(module))
        names[SAME] = lambda x: x
        exec(compile(text, f"<mutant of {function.__name__}>", "exec"), names)
        yield Mutant(function.__name__, change, names[function.__name__])


def programs_of(definition: ast.FunctionDef) -> Iterator[tuple[str, str]]:
    """What was exchanged, and the program that has come of it, for each mutant."""
    original, seen = ast.unparse(definition), set[str]()
    for changed in variants(definition):
        text = ast.unparse(ast.fix_missing_locations(changed))
        if text != original and text not in seen:
            seen.add(text)
            yield difference(original, text), text


def difference(original: str, text: str) -> str:
    """The one line that has changed: "old -> new"."""
    pairs = zip(original.splitlines(), text.splitlines(), strict=False)
    old, new = next((a.strip(), b.strip()) for a, b in pairs if a != b)
    return f"{old} -> {new}"


def variants(tree: ast.FunctionDef) -> Iterator[ast.FunctionDef]:
    """The tree with each of its nodes exchanged in turn."""
    nodes = [node for statement in tree.body for node in ast.walk(statement)]
    parameters = [argument.arg for argument in tree.args.args]
    for number, node in enumerate(nodes):
        for exchange in (*exchanges(node), *neighbours(node, parameters), *left_out(node)):
            changed = copy.deepcopy(tree)
            copies = [n for statement in changed.body for n in ast.walk(statement)]
            exchange(copies[number])
            yield changed
    for number in range(len(tree.body)):
        if isinstance(tree.body[number], ast.If | ast.AugAssign):
            changed = copy.deepcopy(tree)
            changed.body[number] = ast.Pass()
            yield changed


def exchanges(node: ast.AST) -> Iterator[Callable[[Any], None]]:
    """What could be exchanged in this node."""
    match node:
        case ast.BinOp(op=op) | ast.AugAssign(op=op):
            for other in OPERATORS.get(type(op), ()):
                yield lambda n, other=other: setattr(n, "op", other())
            if isinstance(node, ast.BinOp) and not isinstance(op, ast.Add | ast.Mult):
                yield swap("left", "right")
        case ast.Compare(ops=[op]):
            for other in COMPARISONS.get(type(op), ()):
                yield lambda n, other=other: n.ops.__setitem__(0, other())
        case ast.UnaryOp(op=ast.USub()):
            yield lambda n: setattr(n, "op", ast.UAdd())
        case ast.UnaryOp(op=ast.Invert()):
            # ~mask -> mask: two complements are none.
            yield lambda n: setattr(n, "operand", ast.UnaryOp(ast.Invert(), n.operand))
        case ast.Constant(value=bool(value)):
            yield lambda n, value=value: setattr(n, "value", not value)
        case ast.Constant(value=int(value)):
            for other in (value + 1, value - 1):
                yield lambda n, other=other: setattr(n, "value", other)
        case ast.Constant(value=float(value)):
            for other in (2 * value, value + 1):
                yield lambda n, other=other: setattr(n, "value", other)
        case ast.Name(id=name) if name in NAMES:
            yield lambda n, name=name: setattr(n, "id", NAMES[name])
        case ast.Attribute(attr=name) if name in NAMES:
            yield lambda n, name=name: setattr(n, "attr", NAMES[name])
        case ast.Call(args=[_, _, *_]):
            yield lambda n: n.args.__setitem__(slice(0, 2), n.args[1::-1])
        case ast.Return(value=ast.Tuple(elts=elements)) if len(elements) > 1:
            yield lambda n: n.value.elts.reverse()
        case ast.Subscript(slice=ast.Slice(lower=None, upper=None)):
            yield lambda n: setattr(n, "slice", ast.Slice(ast.Constant(1), None))
    # A sign: x -> -x where a number is used.
    if isinstance(node, ast.BinOp):
        yield lambda n: setattr(n, "left", ast.UnaryOp(ast.USub(), n.left))
        yield lambda n: setattr(n, "right", ast.UnaryOp(ast.USub(), n.right))


def neighbours(node: ast.AST, parameters: list[str]) -> Iterator[Callable[[Any], None]]:
    """A parameter becomes the one before it, or the one after it."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in parameters:
        position = parameters.index(node.id)
        for other in parameters[max(0, position - 1) : position + 2]:
            yield lambda n, other=other: setattr(n, "id", other)


def left_out(node: ast.AST) -> Iterator[Callable[[Any], None]]:
    """A function of one thing, or a method without arguments, is left out."""
    match node:
        case ast.Call(func=ast.Name(), args=[_], keywords=[]):
            yield lambda n: setattr(n, "func", ast.Name(SAME))
        case ast.Call(func=ast.Attribute(), args=[]):

            def bare(n: Any) -> None:
                n.args, n.keywords, n.func = [n.func.value], [], ast.Name(SAME)

            yield bare


def swap(one: str, other: str) -> Callable[[Any], None]:
    """Exchanges two parts of a node."""

    def exchange(node: Any) -> None:
        first, second = getattr(node, one), getattr(node, other)
        setattr(node, one, second)
        setattr(node, other, first)

    return exchange
