"""Writes golden.json: what every operation of tensor-core must give, by NumPy and by our rules.

    python3 -m venv venv && venv/bin/pip install -r requirements.txt
    venv/bin/python script/generate.py          # writes golden.json
    venv/bin/python script/generate.py --check  # fails if it would change

NumPy computes where its answer is ours. Where docs/semantics.md differs (integer division, casts
from floats, sums of unsigned integers, what is refused), reference.py writes our rule out. Floats
are computed in long double or in fractions and rounded once, so that the file holds the right
answer and not NumPy's.
"""

import pathlib
import sys
import warnings

import numpy as np

import elementwise
import reductions
import structure
from book import Book


def main():
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    if np.finfo(np.longdouble).nmant != 63:
        sys.exit("needs x86 long double: elsewhere the reference is no wider than f64")
    book = Book()
    for part in (elementwise, reductions, structure):
        part.write(book)
    text = book.dump()
    path = pathlib.Path(__file__).parent.parent / "golden.json"
    if "--check" in sys.argv[1:]:
        if path.read_text() != text:
            sys.exit(f"{path} is stale: run script/generate.py")
    else:
        path.write_text(text)
    print(f"{len(book.cases)} cases, {len(book.arrays)} arrays, {len(text)} bytes")


if __name__ == "__main__":
    main()
