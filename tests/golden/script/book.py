"""The book of cases: what is written to golden.json, and how.

A case is an operation, its inputs (a named array, then views of it), its arguments, and either the
output with a tolerance or the class of error that is expected.
"""

import json

import numpy as np

from reference import COMPLEX, DTYPES, FLOATS, FORMATS, NAMES, PART


def view(x, steps):
    """The view operations of tensor-core, by NumPy's means."""
    for step in steps:
        kind, *args = step
        if kind == "permute":
            x = x.transpose(args[0])
        elif kind == "transpose":
            x = np.swapaxes(x, *args)
        elif kind == "slice":
            axis, start, stop, stride = args
            index = [slice(None)] * x.ndim
            index[axis] = slice(start, stop, stride)
            x = x[tuple(index)]
        elif kind == "narrow":
            axis, start, length = args
            index = [slice(None)] * x.ndim
            index[axis] = slice(start, start + length)
            x = x[tuple(index)]
        elif kind == "broadcast_to":
            x = np.broadcast_to(x, args[0])
        elif kind == "flip":
            x = np.flip(x, None if args[0] is None else tuple(args[0]))
        elif kind == "unsqueeze":
            x = np.expand_dims(x, args[0])
        elif kind == "squeeze":
            x = np.squeeze(x, args[0])
        elif kind == "diagonal":
            x = np.diagonal(x, *args)
        elif kind == "reshape":
            x = x.reshape(args[0])
        else:
            raise ValueError(kind)
    return x


class Book:
    def __init__(self):
        self.arrays = {}
        self.cases = []
        self.ids = set()

    def array(self, name, x):
        """Names an array; the same name again must be the same array."""
        dtype = NAMES[x.dtype]
        entry = {"d": dtype, "s": list(x.shape), "x": bytes_of(x)}
        assert self.arrays.setdefault(name, entry) == entry, name
        return Input(name, x, [])

    def case(self, ident, op, inputs, out, **args):
        """`out` is an array, or the name of an error class. Keyword arguments in capitals are the
        comparison's: ULP, ABS (absolute error), ZERO (the sign of zero does not count), CLASS (of
        a complex result that is not finite, only that counts)."""
        assert ident not in self.ids, ident
        self.ids.add(ident)
        case = {"id": ident, "op": op, "in": [each.entry() for each in inputs]}
        plain = {key: value for key, value in args.items() if key.islower()}
        if plain:
            case["args"] = plain
        if isinstance(out, str):
            case["err"] = out
        else:
            out = np.asarray(out)
            case["out"] = {"d": NAMES[out.dtype], "s": list(out.shape), "x": bytes_of(out)}
            for key in ("ULP", "ABS"):
                if args.get(key):
                    case[key.lower()] = float(args[key])
            for key in ("ZERO", "CLASS"):
                if args.get(key):
                    case[key.lower()] = True
            if any(has_subnormals(each.value()) for each in inputs):
                case["subnormal"] = True
        self.cases.append(case)

    def dump(self):
        lines = ["{", '"about": "written by script/generate.py: do not edit",']
        lines.append(f'"numpy": {json.dumps(np.__version__)},')
        lines.append('"arrays": {')
        items = [f"{json.dumps(k)}: {packed(v)}" for k, v in sorted(self.arrays.items())]
        lines.append(",\n".join(items))
        lines.append('},\n"cases": [')
        lines.append(",\n".join(packed(case) for case in self.cases))
        lines.append("]\n}\n")
        return "\n".join(lines)


class Input:
    """A named array and the views that are made of it."""

    def __init__(self, name, base, steps):
        self.name, self.base, self.steps = name, base, steps

    def view(self, *steps):
        return Input(self.name, self.base, [*self.steps, *(list(step) for step in steps)])

    def value(self):
        return view(self.base, self.steps)

    def entry(self):
        return [self.name, *self.steps] if self.steps else self.name


def bytes_of(x):
    return np.ascontiguousarray(x).tobytes().hex()


def packed(value):
    return json.dumps(value, separators=(",", ":"))


def has_subnormals(x):
    name = NAMES[x.dtype]
    if name not in FLOATS + COMPLEX:
        return False
    least = 2.0 ** FORMATS[PART.get(name, name)][1]
    parts = [x.real, x.imag] if name in COMPLEX else [x]
    sizes = [np.abs(part.astype(np.float64)) for part in parts]
    return any(bool(np.any((size > 0) & (size < least))) for size in sizes)


assert DTYPES["bool"].itemsize == 1
