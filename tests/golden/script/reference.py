"""Dtypes, exact rounding, and the rules where docs/semantics.md differs from NumPy.

Everything here is written from the rules, in whole numbers, fractions or wider floats, and never
by calling what is being tested.
"""

from fractions import Fraction

import ml_dtypes
import numpy as np

DTYPES = {
    "bool": np.dtype(np.bool_),
    "u8": np.dtype(np.uint8),
    "i8": np.dtype(np.int8),
    "u32": np.dtype(np.uint32),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "complex64": np.dtype(np.complex64),
    "complex128": np.dtype(np.complex128),
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}

INTS = ["u8", "i8", "u32", "i32", "i64"]
FLOATS = ["f16", "bf16", "f32", "f64"]
COMPLEX = ["complex64", "complex128"]
REAL = ["bool", *INTS, *FLOATS]
ALL = [*REAL, *COMPLEX]

# Significant bits, smallest exponent of a normal number, largest exponent.
FORMATS = {"f16": (11, -14, 15), "bf16": (8, -126, 127), "f32": (24, -126, 127), "f64": (53, -1022, 1023)}
PART = {"complex64": "f32", "complex128": "f64"}


def eps(name):
    return 2.0 ** (1 - FORMATS[PART.get(name, name)][0])


def bounds(name):
    info = np.iinfo(DTYPES[name])
    return int(info.min), int(info.max)


def wrap(name, value):
    """A whole number modulo 2^n, as the integer dtype holds it."""
    low, high = bounds(name)
    return (value - low) % (high - low + 1) + low


def rounded(name, value):
    """A real number in a float dtype: once, to nearest even. `value` may be a whole number."""
    bits, least, most = FORMATS[name]
    if not isinstance(value, (int, Fraction)):
        value = np.longdouble(value)
        if np.isnan(value) or np.isinf(value) or value == 0:
            return DTYPES[name].type(float(value))
        value = Fraction(*value.as_integer_ratio())
    if value == 0:
        return DTYPES[name].type(0.0)
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length() if isinstance(size, Fraction) else size.bit_length()
    while Fraction(2) ** exponent > size:
        exponent -= 1
    while Fraction(2) ** (exponent + 1) <= size:
        exponent += 1
    quantum = Fraction(2) ** (max(exponent, least) - bits + 1)
    nearest = round(size / quantum) * quantum  # Python rounds fractions to even
    limit = Fraction(2) ** (most + 1)
    result = float("inf") if nearest >= limit else float(nearest)
    return DTYPES[name].type(-result if value < 0 else result)


def array(name, values, shape=None):
    """An array of a dtype, from Python or wider NumPy values: floats rounded once."""
    values = list(values)
    if name in FLOATS:
        values = [rounded(name, value) for value in values]
    elif name in COMPLEX:
        values = [to_complex(name, value) for value in values]
    out = np.array(values, dtype=DTYPES[name])
    return out if shape is None else out.reshape(shape)


def to_complex(name, value):
    part = PART[name]
    if isinstance(value, (int, Fraction)):
        real, imag = value, 0
    else:
        value = np.clongdouble(value)
        real, imag = value.real, value.imag
    out = np.zeros((), dtype=DTYPES[name])
    out.real, out.imag = rounded(part, real), rounded(part, imag)
    return out[()]


def wide(name, x):
    """An array in a type where one operation on it is exact or rounds far below its dtype."""
    if name in COMPLEX:
        return x.astype(np.clongdouble)
    if name in FLOATS:
        return x.astype(np.float64).astype(np.longdouble)
    return x.astype(object)


def narrow(name, x):
    x = np.asarray(x)
    return array(name, x.ravel().tolist() if x.dtype == object else list(x.ravel()), x.shape)


def int_div(name, a, b):
    """Truncates toward zero; x / 0 = 0; MIN / -1 wraps. (NumPy's // floors.)"""
    if b == 0:
        return 0
    size = abs(a) // abs(b)
    return wrap(name, size if (a < 0) == (b < 0) else -size)


def int_rem(name, a, b):
    """Follows the dividend; x % 0 = 0. (NumPy's % follows the divisor.)"""
    if b == 0:
        return 0
    return wrap(name, abs(a) % abs(b) * (-1 if a < 0 else 1))


def cast(from_name, to_name, x):
    """Float to integer saturates and NaN gives 0 (NumPy: undefined); int to int wraps; to bool is
    `!= 0`; complex to real takes the real part; one rounding."""
    x = np.asarray(x)
    flat = x.ravel()
    if to_name == "bool":
        out = [bool(value != 0) for value in flat]
    elif to_name in INTS:
        low, high = bounds(to_name)

        def whole(value):
            if from_name in COMPLEX:
                value = value.real
            if from_name in ("bool", *INTS):
                return wrap(to_name, int(value))
            value = float(value)
            if np.isnan(value):
                return 0
            if np.isinf(value):
                return high if value > 0 else low
            return min(max(int(value), low), high)

        out = [whole(value) for value in flat]
    elif to_name in COMPLEX and from_name in COMPLEX:
        return narrow(to_name, x.astype(np.clongdouble))
    else:
        target = PART.get(to_name, to_name)
        values = [value.real if from_name in COMPLEX else value for value in flat]
        exact = from_name in ("bool", *INTS)
        real = [rounded(target, int(value) if exact else float(value)) for value in values]
        out = np.zeros(len(real), dtype=DTYPES[to_name])
        if to_name in COMPLEX:
            out.real = np.array(real, dtype=DTYPES[target])
        else:
            out[:] = real
        return out.reshape(x.shape)
    return np.array(out, dtype=DTYPES[to_name]).reshape(x.shape)


def accumulated(name):
    """The dtype of a sum or product: i64 for bool and integers. (NumPy gives u64 for unsigned.)"""
    return name if name in FLOATS + COMPLEX else "i64"


PHILOX_M = (0xD2511F53, 0xCD9E8D57)
PHILOX_W = (0x9E3779B9, 0xBB67AE85)


def philox(counter, key):
    """Philox4x32-10 of Salmon et al. 2011, from the paper."""
    c, k = list(counter), list(key)
    for step in range(10):
        if step:
            k = [(k[0] + PHILOX_W[0]) & 0xFFFFFFFF, (k[1] + PHILOX_W[1]) & 0xFFFFFFFF]
        a, b = PHILOX_M[0] * c[0], PHILOX_M[1] * c[2]
        c = [(b >> 32) ^ c[1] ^ k[0], b & 0xFFFFFFFF, (a >> 32) ^ c[3] ^ k[1], a & 0xFFFFFFFF]
    return c


# Random123's known answers (kat_vectors, philox4x32 10).
assert philox([0] * 4, [0] * 2) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
assert philox([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]
assert philox(
    [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344], [0xA4093822, 0x299F31D0]
) == [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]
