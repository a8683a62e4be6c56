"""Cases of views, joins, indexing, matrix products, creation and random numbers."""

import numpy as np

from elementwise import empty, grid
from reductions import cube
from reference import (
    ALL, COMPLEX, DTYPES, FLOATS, INTS, array, eps, narrow, philox, rounded, wide, wrap,
)


def views(book):
    for name in ALL:
        x = cube(book, name)
        for what, steps in {
            "permute": [("permute", [2, 0, 1])],
            "transpose": [("transpose", 0, -1)],
            "narrow": [("narrow", 1, 1, 2)],
            "slice": [("slice", 2, 3, 0, -2)],
            "flip": [("flip", None)],
            "diagonal": [("diagonal", -1, 1, 2)],
            "reshape of a transposed": [("transpose", 0, 1), ("reshape", [4, -1])],
            "broadcast": [("narrow", 1, 0, 1), ("broadcast_to", [5, 2, 3, 4])],
        }.items():
            out = x.view(*steps)
            book.case(f"view/{name}/{what}", "view", [out], out.value())
    x = cube(book, "i32")
    chain = [("slice", 2, None, None, -1), ("transpose", 0, 1), ("unsqueeze", 0), ("narrow", 3, 1, 2), ("flip", [1]), ("squeeze", 0), ("diagonal", 0, 0, 2)]
    for length in range(1, len(chain) + 1):
        out = x.view(*chain[:length])
        book.case(f"view/i32/chain of {length}", "view", [out], out.value())
    e = empty(book, "f32", 2, 0, 3)
    for what, steps in {"reshape": [("reshape", [3, 7, 0])], "permute": [("permute", [2, 1, 0])], "diagonal": [("diagonal", 5, 0, 2)]}.items():
        out = e.view(*steps)
        book.case(f"view/f32/empty {what}", "view", [out], out.value())


def joins(book):
    for name in ALL:
        x = grid(book, name)
        parts = [x, x.view(("narrow", 0, 1, 2)), x.view(("flip", [1]))]
        book.case(f"cat/{name}/0", "cat", parts, np.concatenate([p.value() for p in parts]), axis=0)
        parts = [x.view(("transpose", 0, 1)), x.view(("transpose", 0, 1), ("narrow", 1, 0, 1))]
        book.case(f"cat/{name}/1", "cat", parts, np.concatenate([p.value() for p in parts], axis=1), axis=1)
        parts = [x, x.view(("flip", [0]))]
        book.case(f"stack/{name}/-1", "stack", parts, np.stack([p.value() for p in parts], axis=-1), axis=-1)
    x, e = grid(book, "f32"), empty(book, "f32", 0, 6)
    book.case("cat/with nothing", "cat", [e, x, e], x.value(), axis=0)
    book.case("cat/scalars", "cat", [cube(book, "f32").view(("reshape", [24]), ("narrow", 0, 0, 1), ("reshape", []))] * 2, "Invalid", axis=0)
    book.case("cat/dims differ", "cat", [x, cube(book, "f32")], "Invalid", axis=0)
    book.case("cat/dtypes differ", "cat", [x, grid(book, "f64")], "Invalid", axis=0)
    book.case("stack/dims differ", "stack", [x, x.view(("narrow", 0, 0, 2))], "Invalid", axis=0)


def indices(book, name, values):
    return book.array(f"{name}.index{values}", np.array(values, dtype=DTYPES[name]))


def indexing(book):
    for name in ALL:
        x = grid(book, name)
        index = indices(book, "i64", [3, 0, 0, 2])
        book.case(f"index_select/{name}/0", "index_select", [x, index], np.take(x.value(), [3, 0, 0, 2], axis=0), axis=0)
        rows = indices(book, "i64", [[0, 3, 1, 1, 2, 0], [3, 3, 0, 1, 2, 2]])
        book.case(f"gather/{name}/0", "gather", [x, rows], np.take_along_axis(x.value(), rows.value(), axis=0), axis=0)
        # Distinct targets, so that the winner is known.
        order = indices(book, "i64", [[1, 0, 3, 2, 5, 4], [5, 4, 3, 2, 1, 0], [0, 1, 2, 3, 4, 5], [2, 3, 4, 5, 0, 1]])
        src = x.view(("flip", [0]))
        out = x.value().copy()
        np.put_along_axis(out, order.value(), src.value(), axis=1)
        book.case(f"scatter/{name}/1", "scatter", [x, order, src], out, axis=1)
        # Repeated targets: all are added, bool as or, integers wrapping.
        again = indices(book, "i64", [[0, 3, 1, 1, 2, 0], [3, 3, 0, 1, 2, 2]])
        part = x.view(("narrow", 0, 1, 2))
        out = added(name, x.value(), again.value(), part.value())
        book.case(f"scatter_add/{name}/0", "scatter_add", [x, again, part], out, axis=0)
    x = grid(book, "f32")
    for name in ("u8", "i32", "u32", "i64"):
        index = indices(book, name, [5, 1])
        book.case(f"index_select/by {name}", "index_select", [x, index], np.take(x.value(), [5, 1], axis=1), axis=1)
    for name in ("i8", "f32", "bool"):
        index = book.array(f"{name}.no index", array(name, [0, 1]))
        book.case(f"index_select/by {name}", "index_select", [x, index], "Invalid", axis=1)
    strided = x.view(("transpose", 0, 1), ("slice", 0, None, None, -1))
    index = indices(book, "i64", [0, 2, 4, 1]).view(("slice", 0, None, None, -2))
    book.case("index_select/strided", "index_select", [strided, index], np.take(strided.value(), index.value(), axis=0), axis=0)
    nothing = indices(book, "i64", [])
    book.case("index_select/nothing", "index_select", [x, nothing], np.zeros((4, 0), dtype=np.float32), axis=1)
    line = book.array("f32.line", array("f32", [10, 20, 30]))
    for name, values in [("i64", [0, 3]), ("i64", [-1, 0]), ("u32", [2**32 - 1]), ("i32", [-(2**31)]), ("i64", [2**62])]:
        index = indices(book, name, values)
        for op in ("index_select", "gather"):
            book.case(f"{op}/out of range {values}", op, [line, index], "Index", axis=0)
        src = book.array(f"f32.zeros{len(values)}", np.zeros(len(values), dtype=np.float32))
        book.case(f"scatter/out of range {values}", "scatter", [line, index, src], "Index", axis=0)
    book.case("index_select/index of rank 2", "index_select", [x, rows], "Invalid", axis=0)
    book.case("gather/index of rank 1", "gather", [x, index], "Invalid", axis=0)


def added(name, base, index, src):
    out = base.astype(object if name in INTS else base.dtype).copy()
    wider = wide(name, base) if name in FLOATS + COMPLEX else out
    if name in FLOATS + COMPLEX:
        out = wider.copy()
    extra = wide(name, src) if name in FLOATS + COMPLEX else src.astype(object)
    for i in range(index.shape[0]):
        for j in range(index.shape[1]):
            at = index[i, j]
            out[at, j] = (bool(out[at, j]) or bool(extra[i, j])) if name == "bool" else out[at, j] + extra[i, j]
    if name in INTS:
        return np.array([wrap(name, int(v)) for v in out.ravel()], dtype=base.dtype).reshape(base.shape)
    return out.astype(base.dtype) if name == "bool" else narrow(name, out)


def whole(name, shape, seed):
    generator = np.random.default_rng(seed)
    if name == "bool":
        return generator.integers(0, 2, shape).astype(np.bool_)
    if name in INTS:
        low = 0 if name in ("u8", "u32") else -3
        return generator.integers(low, 4, shape).astype(DTYPES[name])
    values = generator.integers(-4, 5, shape).astype(np.float64) / 2
    if name in COMPLEX:
        values = values + 1j * generator.integers(-4, 5, shape) / 2
    return array(name, values.ravel().tolist(), shape)


def product(name, a, b):
    if name in INTS:
        exact = np.matmul(a.astype(np.int64), b.astype(np.int64))
        flat = [wrap(name, int(v)) for v in np.asarray(exact).ravel()]
        return np.array(flat, dtype=DTYPES[name]).reshape(np.shape(exact))
    # Halves of small whole numbers: every product and sum is exact in every dtype.
    return np.asarray(narrow(name, np.matmul(wide(name, a), wide(name, b))))


SHAPES = [
    ([2, 3], [3, 4]), ([3], [3]), ([2, 3], [3]), ([3], [3, 4]), ([5, 2, 3], [3, 4]), ([2, 3], [5, 3, 4]),
    ([5, 2, 3], [5, 3, 4]), ([1, 2, 3], [5, 3, 4]), ([4, 1, 2, 3], [5, 3, 2]), ([3], [5, 3, 4]), ([5, 2, 3], [3]),
    ([10, 1, 0], [10, 0, 5]), ([0, 3], [3, 5]), ([17, 33], [33, 9]), ([1, 1], [1, 1]),
]


def products(book):
    def operand(name, dims, side):
        return book.array(f"{name}.{side}{dims}", whole(name, tuple(dims), len(dims) + sum(dims)))

    lhs, rhs = operand("bool", [2, 3], "lhs"), operand("bool", [3, 4], "rhs")
    book.case("matmul/bool/refused", "matmul", [lhs, rhs], "Invalid")
    for name in ALL[1:]:
        for a, b in SHAPES if name in ("f32", "complex128", "i32") else SHAPES[:4]:
            lhs, rhs = operand(name, a, "lhs"), operand(name, b, "rhs")
            out = product(name, lhs.value(), rhs.value())
            book.case(f"matmul/{name}/{a} {b}", "matmul", [lhs, rhs], out, ZERO=True)
    for name in ("f32", "complex64", "f16", "f64"):
        lhs, rhs = operand(name, [3, 2], "lhs"), operand(name, [4, 3], "rhs")
        forms = {
            "transposed": (lhs.view(("transpose", 0, 1)), rhs.view(("transpose", 0, 1))),
            "backwards": (lhs.view(("transpose", 0, 1), ("flip", [1])), rhs.view(("transpose", 0, 1), ("flip", [0]))),
            "repeated row": (lhs.view(("narrow", 0, 1, 1), ("broadcast_to", [3, 2]), ("transpose", 0, 1)), rhs.view(("transpose", 0, 1))),
            "repeated batch": (lhs.view(("transpose", 0, 1), ("broadcast_to", [6, 2, 3])), rhs.view(("transpose", 0, 1), ("broadcast_to", [6, 3, 4]))),
        }
        for what, (a, b) in forms.items():
            out = product(name, a.value(), b.value())
            book.case(f"matmul/{name}/{what}", "matmul", [a, b], out, ZERO=True)
    generator = np.random.default_rng(11)
    for name in FLOATS + COMPLEX:
        # Noise, where the accumulator's width shows.
        values = [generator.normal(size=(24, 48)), generator.normal(size=(48, 20))]
        if name in COMPLEX:
            values = [v + 1j * generator.normal(size=v.shape) for v in values]
        lhs, rhs = (book.array(f"{name}.noise{side}", array(name, v.ravel().tolist(), v.shape)) for side, v in zip("ab", values))
        a, b = wide(name, lhs.value()), wide(name, rhs.value())
        unit = eps("f32") if name in ("f16", "bf16") else eps(name)
        ABS = 8 * unit * float(np.max(np.abs(a) @ np.abs(b)))
        book.case(f"matmul/{name}/noise", "matmul", [lhs, rhs], narrow(name, a @ b), ABS=ABS, ULP=1)
    f32 = lambda dims, side: operand("f32", dims, side)
    book.case("matmul/scalar", "matmul", [f32([3], "lhs").view(("narrow", 0, 0, 1), ("reshape", [])), f32([3], "rhs")], "Invalid")
    book.case("matmul/inner sizes differ", "matmul", [f32([2, 3], "lhs"), f32([2, 3], "lhs")], "Invalid")
    book.case("matmul/nothing with inner sizes that differ", "matmul", [empty(book, "f32", 0, 3), f32([2, 3], "lhs")], "Invalid")
    book.case("matmul/dtypes differ", "matmul", [empty(book, "f32", 0, 3), operand("f64", [3, 4], "rhs")], "Invalid")
    book.case("matmul/batches differ", "matmul", [f32([5, 2, 3], "lhs"), f32([5, 3, 4], "rhs").view(("narrow", 0, 0, 2))], "Invalid")
    for name, beta, alpha in [("f32", 1, 1), ("f32", 0.5, 2.0), ("f64", -1.0, 0.5), ("i32", 2, 3), ("f32", 0, 1), ("complex64", 1.0, 1.0)]:
        for dims, a, b in [([2, 4], [2, 3], [3, 4]), ([4], [2, 3], [3, 4]), ([2, 1], [5, 2, 3], [3, 4]), ([], [2, 3], [3, 4]), ([2], [2, 3], [3]), ([], [3], [3])]:
            bias, lhs, rhs = operand(name, dims, "bias"), operand(name, a, "lhs"), operand(name, b, "rhs")
            exact = wide(name, bias.value()) * beta + wide(name, product(name, lhs.value(), rhs.value())) * alpha
            out = np.array([wrap(name, int(v)) for v in np.asarray(exact).ravel()], dtype=DTYPES[name]).reshape(np.shape(exact)) if name in INTS else narrow(name, exact)
            book.case(f"addmm/{name}/{dims} {a} {b} beta {beta} alpha {alpha}", "addmm", [bias, lhs, rhs], out, beta=beta, alpha=alpha, ZERO=True)
    nan = book.array("f32.nan[2, 4]", np.full((2, 4), np.nan, dtype=np.float32))
    lhs, rhs = f32([2, 3], "lhs"), f32([3, 4], "rhs")
    book.case("addmm/beta 0 reads nothing", "addmm", [nan, lhs, rhs], product("f32", lhs.value(), rhs.value()), beta=0, alpha=1, ZERO=True)
    k0 = [f32([10, 1, 0], "lhs"), f32([10, 0, 5], "rhs")]
    bias = f32([1, 5], "bias")
    out = np.broadcast_to(bias.value() * np.float32(2), (10, 1, 5))
    book.case("addmm/nothing summed", "addmm", [bias, *k0], out, beta=2, alpha=1, ZERO=True)
    book.case("addmm/bias too large", "addmm", [f32([5, 2, 4], "bias"), lhs, rhs], "Invalid", beta=1, alpha=1)


def creation(book):
    for name in ALL:
        book.case(f"zeros/{name}", "zeros", [], np.zeros((2, 3), dtype=DTYPES[name]), shape=[2, 3], dtype=name)
        book.case(f"ones/{name}", "ones", [], np.ones((2, 0, 3), dtype=DTYPES[name]), shape=[2, 0, 3], dtype=name)
        book.case(f"ones/{name}/scalar", "ones", [], np.ones((), dtype=DTYPES[name]), shape=[], dtype=name)
    for name, start, stop, step in [
        ("i32", 0, 5, 1), ("i64", 5, -5, -3), ("u8", 250, 255, 2), ("i8", 3, 3, 1), ("f32", 0.0, 1.0, 0.1), ("f64", 0.0, 1.0, 0.1),
        ("f16", -2.0, 2.0, 0.5), ("bf16", 0.0, 3.0, 1.0), ("f64", 1.0, 0.0, 0.25),
    ]:
        count = max(0, int(np.ceil((stop - start) / step)))
        values = [start + i * step for i in range(count)]
        out = array(name, values) if name in INTS else array(name, [np.longdouble(start) + i * np.longdouble(exact(name, step)) for i in range(count)])
        book.case(f"arange/{name}/{start} {stop} {step}", "arange", [], out, dtype=name, start=start, stop=stop, step=step)
    book.case("arange/i32/step 0", "arange", [], "Invalid", dtype="i32", start=0, stop=5, step=0)


def exact(name, value):
    """The number that a value of this dtype stands for."""
    return float(array(name, [value])[0])


def uniform(words, name):
    unit24 = lambda w: (w >> 8) * 2.0**-24
    unit53 = lambda low, high: ((low | high << 32) >> 11) * 2.0**-53
    if name in ("f64", "complex128"):
        return unit53(words[0], words[1]), unit53(words[2], words[3])
    return unit24(words[0]), unit24(words[1])


def random(book):
    seed = 0x0123456789ABCDEF
    key = [seed & 0xFFFFFFFF, seed >> 32]
    for name in FLOATS + COMPLEX:
        plain, normal = [], []
        for i in range(20):
            u0, u1 = uniform(philox([i, 0, 0, 0], key), name)
            plain.append(complex(u0, u1) if name in COMPLEX else below(name, u0))
            radius = np.sqrt(-2 * np.log(np.longdouble(1) - np.longdouble(u0)))
            turn = 2 * np.pi * np.longdouble(u1)
            z = complex(float(radius * np.cos(turn)), float(radius * np.sin(turn)))
            normal.append(z if name in COMPLEX else z.real)
        book.case(f"rand/{name}", "rand", [], array(name, plain, (4, 5)), shape=[4, 5], dtype=name, seed=str(seed))
        # cos near its zeros: the error is absolute, of the size of the radius.
        ABS = 16 * eps("f64" if name in ("f64", "complex128") else "f32")
        book.case(f"randn/{name}", "randn", [], array(name, normal, (4, 5)), shape=[4, 5], dtype=name, seed=str(seed), ABS=ABS, ULP=1)
    for op in ("rand", "randn"):
        book.case(f"{op}/i32/refused", op, [], "Invalid", shape=[2], dtype="i32", seed="1")


def below(name, value):
    """Rounded down, so that it stays below 1."""
    nearest = rounded(name, value)
    if float(nearest) > value:
        bits = nearest.view(np.uint16) - np.uint16(1)
        nearest = np.array(bits, dtype=np.uint16).view(DTYPES[name])[()]
    return nearest


def write(book):
    views(book)
    joins(book)
    indexing(book)
    products(book)
    creation(book)
    random(book)
