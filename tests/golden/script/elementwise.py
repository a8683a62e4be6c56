"""Cases of the operations that go element by element: unary, binary, compare, select, cast."""

import numpy as np

from reference import (
    ALL, COMPLEX, DTYPES, FLOATS, FORMATS, INTS, PART, REAL,
    array, bounds, cast, int_div, int_rem, narrow, wide, wrap,
)

INF, NAN = float("inf"), float("nan")


def specials(book, name):
    """The values on which implementations differ, one after the other."""
    if name == "bool":
        values = [False, True]
    elif name in INTS:
        low, high = bounds(name)
        values = [v for v in (0, 1, 2, 3, 7, -1, -2, -7, 100, low, low + 1, high, high - 1) if low <= v <= high]
        values = list(dict.fromkeys(values))
    elif name in FLOATS:
        values = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 7.0, 100.25, 1e-3, least(name), largest(name), -largest(name), INF, -INF, NAN]
    else:
        big, tiny = largest(PART[name]) / 8, least(PART[name]) * 8
        values = [
            0, complex(-0.0, -0.0), 1, -1, 1j, 1 + 2j, -2.5 - 0.5j, 3 - 4j,
            complex(big, big), complex(-tiny, tiny), complex(big, tiny), complex(INF, 1.0), complex(2.0, NAN),
        ]
    return book.array(f"{name}.specials", array(name, values))


def least(name):
    """The least normal number."""
    return 2.0 ** FORMATS[name][1]


def largest(name):
    bits, _, most = FORMATS[name]
    return (2.0 - 2.0 ** (1 - bits)) * 2.0**most


def curve(book, name):
    """Ordinary and extreme arguments of exp, log, sqrt, tanh and recip."""
    if name in COMPLEX:
        parts = [0.0, 0.3, -1.7, 2.0, -12.0, 40.0]
        values = [complex(re, im) for re in parts for im in parts]
    else:
        values = [*np.linspace(-20, 20, 41), 40.0, 43.9, 44.4, 88.5, 89.5, -87.0, -103.0, 0.1, 1e-4, 0.99, 1.01, 300.0, -1000.0, 708.0]
        values = [v for v in values if abs(v) <= largest(name)]
    return book.array(f"{name}.curve", array(name, values))


def grid(book, name):
    """A matrix of small numbers, to be viewed."""
    counts = np.arange(24)
    if name == "bool":
        values = counts % 3 == 0
    elif name in ("u8", "u32"):
        values = counts * 5 % 19
    elif name in INTS:
        values = counts * 5 % 19 - 9
    elif name in FLOATS:
        values = (counts * 5 % 19 - 9) * 0.375
    else:
        values = (counts * 5 % 19 - 9) * 0.375 + 1j * (counts * 7 % 11 - 5) * 0.5
    return book.array(f"{name}.grid", array(name, values.tolist(), (4, 6)))


def empty(book, name, *dims):
    return book.array(f"{name}.empty{list(dims)}", np.zeros(dims, dtype=DTYPES[name]))


VIEWS = {
    "transposed": [("transpose", 0, 1)],
    "backwards": [("slice", 1, None, None, -2), ("flip", [0])],
    "broadcast": [("slice", 0, 1, 2, 1), ("broadcast_to", [3, 4, 6])],
    "diagonal": [("diagonal", 1, 0, 1)],
}


def unary_value(op, name, x):
    if op == "is_nan":
        parts = [x.real, x.imag] if name in COMPLEX else [x]
        nan = [np.isnan(part.astype(np.float64)) for part in parts]
        return np.logical_or.reduce(nan)
    if op == "conj":
        return np.conj(x) if name in COMPLEX else x
    if op == "not":
        return ~x
    if name in INTS:
        values = [wrap(name, {"neg": -int(v), "abs": abs(int(v))}[op]) for v in x.ravel()]
        return np.array(values, dtype=x.dtype).reshape(x.shape)
    if name == "bool":
        return x
    if op == "neg":
        return -x
    if op == "abs":
        if name in COMPLEX:
            return narrow(PART[name], np.abs(wide(name, x)))
        return np.abs(x)
    if name == "f64" and op in ("sqrt", "recip"):
        # Correctly rounded by IEEE 754; by way of long double it would be rounded twice.
        return np.sqrt(x) if op == "sqrt" else 1.0 / x
    z = wide(name, x)
    if op == "recip" and name in COMPLEX:
        return narrow(name, np.array([quotient(name, np.clongdouble(1), v) for v in z.ravel()]).reshape(z.shape))
    f = {"exp": np.exp, "log": np.log, "sqrt": np.sqrt, "tanh": np.tanh, "recip": np.reciprocal}[op]
    return narrow(name, f(z))


# Errors allowed, in units of the last place; docs/semantics.md states them. f16 and bf16 compute in
# f32 and round once more, so that the last place may differ.
def allowed(op, name):
    if name in COMPLEX:
        return {"neg": 0, "conj": 0, "is_nan": 0, "add": 0, "sub": 0, "abs": 2, "mul": 4}.get(op, 8)
    if name in FLOATS:
        error = {"exp": 4, "log": 4, "tanh": 5}.get(op, 0)
        return min(error, 1) if name in ("f16", "bf16") else error
    return 0


UNARY = {
    "neg": [*INTS, *FLOATS, *COMPLEX],
    "abs": ALL,
    "exp": FLOATS + COMPLEX,
    "log": FLOATS + COMPLEX,
    "sqrt": FLOATS + COMPLEX,
    "tanh": FLOATS + COMPLEX,
    "recip": FLOATS + COMPLEX,
    "conj": ALL,
    "is_nan": ALL,
    "not": ["bool", *INTS],
}


def unary(book):
    for op, names in UNARY.items():
        for name in ALL:
            if name not in names:
                book.case(f"{op}/{name}/refused", op, [specials(book, name)], "Invalid")
                continue
            inputs = {"specials": specials(book, name), "empty": empty(book, name, 2, 0, 3)}
            if name in FLOATS + COMPLEX and op in ("exp", "log", "sqrt", "tanh", "recip"):
                inputs["curve"] = curve(book, name)
            if name in ("f32", "i64", "complex64", "bf16"):
                views = {key: grid(book, name).view(*steps) for key, steps in VIEWS.items()}
                inputs |= {key: value for key, value in views.items() if op != "log" or name in COMPLEX}
            for what, x in inputs.items():
                with np.errstate(all="ignore"):
                    out = unary_value(op, name, x.value())
                CLASS = name in COMPLEX and op not in ("neg", "conj", "is_nan")
                book.case(f"{op}/{name}/{what}", op, [x], out, ULP=allowed(op, name), CLASS=CLASS)
    subnormal = array("f32", [1e-45, -1e-45, 1e-40, -1.17e-38])
    for op in ("neg", "abs", "sqrt", "is_nan"):
        x = book.array("f32.subnormals", subnormal)
        with np.errstate(all="ignore"):
            book.case(f"{op}/f32/subnormals", op, [x], unary_value(op, "f32", x.value()))


def quotient(name, a, b):
    """A complex quotient, scaled so that nothing overflows on the way; by zero, as NumPy."""
    if b == 0:
        zero = np.longdouble(0)
        return np.clongdouble(complex(float(a.real / zero), float(a.imag / zero)))
    return a / b  # x86 long double has 15 bits more of exponent than f64


def binary_value(op, name, a, b):
    if op in ("minimum", "maximum"):
        return getattr(np, op)(a, b)
    if name == "bool":
        return {"add": np.logical_or, "mul": np.logical_and}[op](a, b)
    if name in INTS:
        f = {
            "add": lambda x, y: wrap(name, x + y),
            "sub": lambda x, y: wrap(name, x - y),
            "mul": lambda x, y: wrap(name, x * y),
            "div": lambda x, y: int_div(name, x, y),
            "rem": lambda x, y: int_rem(name, x, y),
        }[op]
        a, b = np.broadcast_arrays(a, b)
        values = [f(int(x), int(y)) for x, y in zip(a.ravel(), b.ravel())]
        return np.array(values, dtype=a.dtype).reshape(a.shape)
    if name == "f64" or (name in COMPLEX and op in ("add", "sub")):
        return {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "rem": np.fmod}[op](a, b)
    x, y = np.broadcast_arrays(wide(name, a), wide(name, b))
    if name in COMPLEX:
        f = {"mul": lambda u, v: u * v, "div": lambda u, v: quotient(name, u, v)}[op]
        values = [f(u, v) for u, v in zip(x.ravel(), y.ravel())]
        return narrow(name, np.array(values, dtype=np.clongdouble).reshape(x.shape))
    f = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "rem": np.fmod}[op]
    return narrow(name, f(x, y))


BINARY = {
    "add": ALL,
    "sub": ALL[1:],
    "mul": ALL,
    "div": ALL[1:],
    "rem": [*INTS, *FLOATS],
    "minimum": REAL,
    "maximum": REAL,
}


def pairs(x):
    """Every element with every element, by broadcasting."""
    return [x.view(("unsqueeze", 1)), x.view(("unsqueeze", 0))]


def binary(book):
    for op, names in BINARY.items():
        for name in ALL:
            x = specials(book, name)
            if name not in names:
                book.case(f"{op}/{name}/refused", op, [x, x], "Invalid")
                continue
            inputs = {"pairs": pairs(x)}
            inputs["empty"] = [empty(book, name, 0, 3), empty(book, name, 1, 3)]
            if name in ("f32", "i32", "complex128", "f16"):
                g = grid(book, name)
                inputs["strided"] = [g.view(("slice", 1, None, None, -2)), g.view(("narrow", 1, 0, 3), ("flip", [0]))]
                inputs["row"] = [g, g.view(("slice", 0, 2, 3, 1))]
                inputs["column"] = [g.view(("narrow", 1, 1, 1)), g]
                inputs["scalar"] = [g, g.view(("narrow", 0, 1, 1), ("narrow", 1, 2, 1), ("reshape", []))]
            for what, (a, b) in inputs.items():
                with np.errstate(all="ignore"):
                    out = binary_value(op, name, a.value(), b.value())
                ZERO = op in ("minimum", "maximum")
                CLASS = name in COMPLEX and op in ("mul", "div")
                book.case(f"{op}/{name}/{what}", op, [a, b], out, ULP=allowed(op, name), ZERO=ZERO, CLASS=CLASS)
    f32, f64 = specials(book, "f32"), specials(book, "f64")
    book.case("add/dtypes differ", "add", [f32, f64], "Invalid")
    book.case("add/shapes differ", "add", [grid(book, "f32"), f32], "Invalid")
    # A number takes the tensor's dtype by kind, or is refused.
    for name, number, out in [
        ("i32", 3, None), ("f32", 3, None), ("f16", 0.1, None), ("f32", -2.5, None), ("bool", True, None),
        ("i32", 1.5, "Invalid"), ("u8", 256, "Invalid"), ("u8", -1, "Invalid"), ("f16", 1e6, "Invalid"), ("bool", 1, "Invalid"),
    ]:
        x = grid(book, name)
        if out is None:
            out = binary_value("add", name, x.value(), array(name, [number]))
        book.case(f"add/{name}/number {number}", "add_number", [x], out, number=number)


def compare(book):
    kinds = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}
    for op, f in kinds.items():
        for name in ALL:
            a, b = pairs(specials(book, name))
            if name in COMPLEX and op not in ("eq", "ne"):
                book.case(f"{op}/{name}/refused", op, [a, b], "Invalid")
                continue
            out = f(a.value(), b.value()).astype(np.bool_)
            book.case(f"{op}/{name}/pairs", op, [a, b], out)
        e = empty(book, "f32", 2, 1, 1, 0)
        book.case(f"{op}/f32/empty", op, [e, e], np.zeros((2, 1, 1, 0), dtype=np.bool_))
        g = grid(book, "i32")
        a, b = g.view(("transpose", 0, 1)), g.view(("transpose", 0, 1), ("flip", [1]))
        book.case(f"{op}/i32/strided", op, [a, b], f(a.value(), b.value()))


def select(book):
    for name in ALL:
        x = grid(book, name)
        c = grid(book, "bool").view(("flip", [0]))
        a, b = x, x.view(("slice", 1, None, None, -1))
        book.case(f"where_cond/{name}", "where_cond", [c, a, b], np.where(c.value(), a.value(), b.value()))
        row = c.view(("narrow", 0, 1, 1))
        one = x.view(("narrow", 1, 2, 1))
        book.case(f"where_cond/{name}/broadcast", "where_cond", [row, one, b], np.where(row.value(), one.value(), b.value()))
    x = grid(book, "f32")
    book.case("where_cond/condition of f32", "where_cond", [x, x, x], "Invalid")
    book.case("where_cond/branches differ", "where_cond", [grid(book, "bool"), x, grid(book, "f64")], "Invalid")
    for name, low, high in [("i32", -3, 4), ("f32", -1.5, 2.0), ("f64", 2.0, 1.0), ("u8", 3, 9), ("bf16", 0.5, 0.5)]:
        for what, x in {"grid": grid(book, name), "specials": specials(book, name)}.items():
            raised = np.maximum(x.value(), array(name, [low]))
            out = np.minimum(raised, array(name, [high]))
            book.case(f"clamp/{name}/{low} to {high}/{what}", "clamp", [x], out, low=low, high=high, ZERO=True)
    book.case("clamp/complex64/refused", "clamp", [grid(book, "complex64")], "Invalid", low=0.0, high=1.0)


def casting(book, name):
    """What is cast: the edges of every other dtype's range, ties, and what is not a number."""
    if name == "bool":
        values = [False, True]
    elif name in INTS:
        low, high = bounds(name)
        values = [0, 1, 2, 7, 127, 128, 200, 255, 256, 300, 2049, 65519, 65520, 16777217, -1, -2, -127, -128, -266, 2**31 - 1, 2**31, -(2**31), 2**32 + 5, 2**53 + 1, (1 << 60) + (1 << 36), (1 << 60) + (1 << 36) + 1, low, high]
        values = list(dict.fromkeys(v for v in values if low <= v <= high))
    else:
        values = [
            0.0, -0.0, 0.5, -0.5, 1.5, -1.5, 1.9427, -1.9427, 127.9, 128.0, -128.9, 255.5, 256.0, -1.0, -266.0, 259999.0,
            2049.0, 2049.0000000001, 1.00390625, 1.00390626, 65519.0, 65519.999, 65520.0, 1e-7, 3e-8, 2147483647.0, -2147483649.0,
            4000000000.7, 4294967295.5, 9.3e18, -9.3e18, 3.4e38, 3.5e38, -1e300, INF, -INF, NAN,
        ]
        if name in COMPLEX:
            values = [complex(v, 0.25) for v in values if v == v] + [complex(0, 1), complex(NAN, 1), complex(0, NAN)]
    return book.array(f"{name}.casting", array(name, values))


def casts(book):
    for source in ALL:
        for target in ALL:
            if source == target:
                continue
            x = casting(book, source)
            out = cast(source, target, x.value())
            book.case(f"to_dtype/{source}/{target}", "to_dtype", [x], out, dtype=target)
    for steps, what in [(VIEWS["backwards"], "backwards"), (VIEWS["broadcast"], "broadcast"), ([("transpose", 0, 1)], "transposed")]:
        for source, target in [("f32", "f16"), ("i32", "f64"), ("bool", "i32"), ("complex64", "complex128")]:
            x = grid(book, source).view(*steps)
            book.case(f"to_dtype/{source}/{target}/{what}", "to_dtype", [x], cast(source, target, x.value()), dtype=target)
    # A NaN whose payload lies in the bits that are cut off must not become infinite (G1-028).
    nans = np.array([0x7F800001, 0xFFC00000, 0x7F7FFFFF, 0x7F800000], dtype=np.uint32).view(np.float32)
    x = book.array("f32.nans", nans)
    for target in ("bf16", "f16", "f64"):
        book.case(f"to_dtype/f32/{target}/nans", "to_dtype", [x], cast("f32", target, nans), dtype=target)
    x = empty(book, "f32", 0, 3)
    book.case("to_dtype/f32/i64/empty", "to_dtype", [x], np.zeros((0, 3), dtype=np.int64), dtype="i64")


def write(book):
    unary(book)
    binary(book)
    compare(book)
    select(book)
    casts(book)
