"""Cases of reductions, positions of extremes, and running reductions."""

import numpy as np

from elementwise import VIEWS, empty, grid, specials
from reference import (
    ALL, COMPLEX, DTYPES, FLOATS, INTS, REAL, accumulated, array, eps, narrow, rounded, wide, wrap,
)

NAN = float("nan")


def cube(book, name):
    """Small numbers of rank 3, so that every sum and most products are exact."""
    counts = np.arange(24)
    if name == "bool":
        values = (counts * 5 % 7 < 4).tolist()
    elif name in ("u8", "u32"):
        values = (counts * 5 % 7).tolist()
    elif name in COMPLEX:
        values = (counts * 5 % 7 - 3 + 1j * (counts * 3 % 5 - 2)).tolist()
    else:
        values = (counts * 5 % 7 - 3).tolist()
    return book.array(f"{name}.cube", array(name, values, (2, 3, 4)))


def whole(name, x):
    """Elements as Python numbers that do not overflow."""
    return x.astype(object) if name in INTS + ["bool"] else wide(name, x)


def reduced(op, name, x, axes, keep):
    axes = tuple(axes) if axes is not None else tuple(range(x.ndim))
    if op in ("any", "all"):
        truth = x != 0
        return getattr(np, op)(truth, axis=axes, keepdims=keep)
    if op in ("min", "max"):
        if x.dtype == np.bool_:
            return getattr(np, "any" if op == "max" else "all")(x, axis=axes, keepdims=keep)
        return getattr(np, op)(x, axis=axes, keepdims=keep).astype(x.dtype)
    out = accumulated(name)
    if op == "mean":
        total = np.sum(whole(name, x) * 1, axis=axes, keepdims=keep)
        count = int(np.prod([x.shape[axis] for axis in axes]))
        if name in INTS + ["bool"]:
            total = np.asarray(total, dtype=np.longdouble)
            out = "f64"
        with np.errstate(all="ignore"):
            return narrow(out, np.asarray(total) / np.longdouble(count))
    f = {"sum": np.sum, "prod": np.prod}[op]
    value = np.asarray(f(whole(name, x) * 1, axis=axes, keepdims=keep))
    if out == "i64":
        values = [wrap("i64", int(v)) for v in value.ravel()]
        return np.array(values, dtype=np.int64).reshape(value.shape)
    return narrow(out, value)


AXES = [[0], [1], [-1], [0, 2], [2, 0], [0, 1, 2], None, []]


def reductions(book):
    for op in ("sum", "prod", "min", "max", "any", "all", "mean"):
        for name in ALL:
            x = cube(book, name)
            if name in COMPLEX and op in ("min", "max"):
                book.case(f"{op}/{name}/refused", op, [x], "Invalid", axes=None, keep=False)
                continue
            for axes in AXES:
                # Every dtype over all and over the last axis, a few of them over all the lists.
                if name not in ("f32", "i32", "bool") and axes not in (None, [-1]):
                    continue
                keep = axes in ([1], [0, 2])
                out = reduced(op, name, x.value(), axes, keep)
                exact = op in ("min", "max", "any", "all") or name in INTS + ["bool"]
                ULP = 0 if exact else 2
                ZERO = True
                book.case(f"{op}/{name}/cube over {axes}", op, [x], out, axes=axes, keep=keep, ULP=ULP, ZERO=ZERO)
        for what, steps in VIEWS.items():
            x = grid(book, "f32").view(*steps)
            last = [x.value().ndim - 1]
            out = reduced(op, "f32", x.value(), last, False)
            book.case(f"{op}/f32/{what}", op, [x], out, axes=last, keep=False, ULP=8, ZERO=True)
        for axes in ([0], [1], None):
            x = empty(book, "f32", 0, 3)
            if op in ("min", "max") and axes != [1]:
                out = "Invalid"
            else:
                out = reduced(op, "f32", x.value(), axes, False)
            book.case(f"{op}/f32/nothing over {axes}", op, [x], out, axes=axes, keep=False)
        x = empty(book, "i32", 0)
        out = "Invalid" if op in ("min", "max") else reduced(op, "i32", x.value(), None, False)
        book.case(f"{op}/i32/nothing", op, [x], out, axes=None, keep=False)
        scalar = cube(book, "f64").view(("reshape", [24]), ("narrow", 0, 5, 1), ("reshape", []))
        out = reduced(op, "f64", scalar.value(), None, False)
        book.case(f"{op}/f64/scalar", op, [scalar], out, axes=None, keep=False)
        book.case(f"{op}/axis out of range", op, [cube(book, "f32")], "Invalid", axes=[3], keep=False)
        book.case(f"{op}/axis twice", op, [cube(book, "f32")], "Invalid", axes=[0, -3], keep=False)


def nans(book):
    """NaN wins wherever it stands, and its first place is the position (G1-001, G1-002)."""
    for name in FLOATS:
        for at, values in enumerate([[3, 1, 7, NAN], [NAN, 3, 1, 7], [3, NAN, 1, 7], [NAN, NAN, NAN, NAN], [5, NAN, NAN, -9]]):
            x = book.array(f"{name}.nan{at}", array(name, values))
            for op in ("min", "max", "sum", "any", "all"):
                out = reduced(op, name, x.value(), None, False)
                book.case(f"{op}/{name}/nan {at}", op, [x], out, axes=None, keep=False)
            for op in ("argmin", "argmax"):
                out = np.asarray(getattr(np, op)(x.value().astype(np.float64)), dtype=np.int64)
                book.case(f"{op}/{name}/nan {at}", op, [x], out, axes=None, keep=False)
            for op, f in [("cummin", np.minimum), ("cummax", np.maximum)]:
                out = f.accumulate(x.value().astype(np.float64)).astype(DTYPES[name])
                book.case(f"{op}/{name}/nan {at}", op, [x], out, axis=0)


def positions(book):
    for op in ("argmin", "argmax"):
        f = getattr(np, op)
        for name in ALL:
            x = cube(book, name)
            if name in COMPLEX:
                book.case(f"{op}/{name}/refused", op, [x], "Invalid", axes=None, keep=False)
                continue
            value = x.value().astype(np.float64)
            for axis in (0, -1, None):
                out = np.asarray(f(value, axis=axis), dtype=np.int64)
                axes = None if axis is None else [axis]
                book.case(f"{op}/{name}/cube over {axes}", op, [x], out, axes=axes, keep=False)
        x = cube(book, "f32")
        # Over several axes: the position in row-major order of those, as they stand in the input.
        joined = x.value().transpose(1, 0, 2).reshape(3, 8)
        out = f(joined, axis=1).astype(np.int64)
        book.case(f"{op}/f32/cube over [0, 2]", op, [x], out, axes=[0, 2], keep=False)
        book.case(f"{op}/f32/cube over [2, 0] kept", op, [x], out.reshape(1, 3, 1), axes=[2, 0], keep=True)
        for what, steps in VIEWS.items():
            x = grid(book, "f32").view(*steps)
            out = np.asarray(f(x.value(), axis=-1), dtype=np.int64)
            book.case(f"{op}/f32/{what}", op, [x], out, axes=[-1], keep=False)
        for what, values in {"zeros": [0.0, -0.0], "negative first": [-0.0, 0.0], "equals": [2, 5, 5, 2]}.items():
            x = book.array(f"f32.{what}", array("f32", values))
            out = np.asarray(f(x.value()), dtype=np.int64)
            book.case(f"{op}/f32/{what}", op, [x], out, axes=None, keep=False)
        x = empty(book, "f32", 0, 1)
        book.case(f"{op}/f32/nothing over [1]", op, [x], np.zeros(0, dtype=np.int64), axes=[1], keep=False)
        book.case(f"{op}/f32/nothing over [0]", op, [x], "Invalid", axes=[0], keep=False)
    x = book.array("f32.subnormal first", array("f32", [-1.0, -0.0, 1.4e-45]))
    book.case("argmax/f32/subnormal", "argmax", [x], np.asarray(2, dtype=np.int64), axes=None, keep=False)


def long_sums(book):
    """Sums where the accumulator's width or the order shows (G1-013, G1-014, G1-016)."""
    for name, value, count in [("f16", 1, 20000), ("bf16", 1, 70000), ("f16", 1, 70000), ("f16", 500, 300)]:
        one = book.array(f"{name}.{value}", array(name, [value]))
        x = one.view(("broadcast_to", [count]))
        total = rounded(name, value * count)
        book.case(f"sum/{name}/{count} of {value}", "sum", [x], np.asarray(total), axes=None, keep=False)
        mean = rounded(name, value)
        book.case(f"mean/{name}/{count} of {value}", "mean", [x], np.asarray(mean), axes=None, keep=False)
    for name, values, mean in [
        ("i32", [2**31 - 1] * 2, 2**31 - 1), ("i64", [2**62] * 2, 2**62), ("u8", [250] * 3, 250), ("bool", [True, False], 0.5),
    ]:
        x = book.array(f"{name}.heavy", array(name, values))
        book.case(f"mean/{name}/heavy", "mean", [x], np.asarray(float(mean)), axes=None, keep=False)
        out = np.asarray(wrap("i64", sum(int(v) for v in values)), dtype=np.int64)
        book.case(f"sum/{name}/heavy", "sum", [x], out, axes=None, keep=False)
    generator = np.random.default_rng(7)
    for name in ("f16", "bf16", "f32", "f64"):
        x = book.array(f"{name}.noise", array(name, generator.normal(size=500).tolist()))
        exact = wide(name, x.value())
        # Blocked or pairwise summation in the accumulator stays far below this.
        unit = eps("f32") if name in ("f16", "bf16") else eps(name)
        ABS = 16 * unit * float(np.sum(np.abs(exact)))
        ULP = 1 if name in ("f16", "bf16") else 0
        out = narrow(name, np.sum(exact))
        book.case(f"sum/{name}/noise", "sum", [x], out, axes=None, keep=False, ABS=ABS, ULP=ULP)
        out = narrow(name, np.mean(exact))
        book.case(f"mean/{name}/noise", "mean", [x], out, axes=None, keep=False, ABS=ABS / 500, ULP=ULP + 1)
        out = narrow(name, np.cumsum(exact))
        # A running sum may be taken one after the other.
        book.case(f"cumsum/{name}/noise", "cumsum", [x], out, axis=0, ABS=32 * ABS, ULP=ULP)


def scans(book):
    for op in ("cumsum", "cumprod", "cummin", "cummax"):
        for name in ALL:
            x = cube(book, name)
            if name in COMPLEX and op in ("cummin", "cummax"):
                book.case(f"{op}/{name}/refused", op, [x], "Invalid", axis=0)
                continue
            for axis in (0, 1, -1):
                value = whole(name, x.value())
                if op in ("cummin", "cummax"):
                    f = {"cummin": np.minimum, "cummax": np.maximum}[op]
                    out = f.accumulate(x.value(), axis=axis).astype(DTYPES[name])
                else:
                    f = {"cumsum": np.cumsum, "cumprod": np.cumprod}[op]
                    running = f(value * 1, axis=axis)
                    out = accumulated(name)
                    if out == "i64":
                        running = np.array([wrap(out, int(v)) for v in running.ravel()], dtype=np.int64).reshape(x.value().shape)
                        out = running
                    else:
                        out = narrow(out, running)
                ULP = 2 if op == "cumprod" and name in FLOATS + COMPLEX else 0
                book.case(f"{op}/{name}/cube along {axis}", op, [x], out, axis=axis, ULP=ULP, ZERO=True)
        f = {"cumsum": np.cumsum, "cumprod": np.cumprod, "cummin": np.minimum.accumulate, "cummax": np.maximum.accumulate}[op]
        for what, steps in VIEWS.items():
            x = grid(book, "f64").view(*steps)
            book.case(f"{op}/f64/{what}", op, [x], f(x.value(), axis=-1), axis=-1, ULP=8, ZERO=True)
        x = empty(book, "f32", 2, 0)
        book.case(f"{op}/f32/empty", op, [x], np.zeros((2, 0), dtype=np.float32), axis=1)
        book.case(f"{op}/axis out of range", op, [cube(book, "f32")], "Invalid", axis=3)


def write(book):
    reductions(book)
    nans(book)
    positions(book)
    long_sums(book)
    scans(book)
    assert specials and REAL
