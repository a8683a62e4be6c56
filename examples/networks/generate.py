"""Writes this folder's networks: a matrix chain, an MPS inner product and a hyper-edge case.

Format: that of the einsum-benchmark files. Both paths are the best there are, found by dynamic
programming over subsets of operands. Run it in this folder; the output is checked in.
"""

import json
import math


def terms(spec):
    left, output = spec.split("->")
    return left.split(","), output


def best(spec, sizes, goal):
    """The pairwise path of the smallest cost: summed operations, or the largest intermediate."""
    inputs, output = terms(spec)
    n = len(inputs)
    full = (1 << n) - 1

    def kept(mask):
        inside = set("".join(inputs[i] for i in range(n) if mask >> i & 1))
        outside = set(output).union(*(inputs[i] for i in range(n) if not mask >> i & 1))
        return frozenset(inside & outside)

    def product(indices):
        return math.prod(sizes[i] for i in indices)

    keep = {mask: kept(mask) for mask in range(1, full + 1)}
    table = {1 << i: (0, 0, None) for i in range(n)}
    for mask in sorted(range(1, full + 1), key=lambda m: bin(m).count("1")):
        if mask in table:
            continue
        choices = []
        part = (mask - 1) & mask
        while part:
            rest = mask ^ part
            if part > rest:
                union = set(keep_of(part, inputs, keep)) | set(keep_of(rest, inputs, keep))
                flops = product(union) * (2 if union - keep[mask] else 1)
                total = table[part][0] + table[rest][0] + flops
                size = max(table[part][1], table[rest][1], product(keep[mask]))
                choices.append(((total, size) if goal == "flops" else (size, total), part, rest))
            part = (part - 1) & mask
        (first, second), part, rest = min(choices)
        total, size = (first, second) if goal == "flops" else (second, first)
        table[mask] = (total, size, (part, rest))

    current = [1 << i for i in range(n)]
    path = []

    def walk(mask):
        if table[mask][2] is None:
            return
        part, rest = table[mask][2]
        walk(part)
        walk(rest)
        at = sorted((current.index(part), current.index(rest)))
        path.append(at)
        for position in reversed(at):
            current.pop(position)
        current.append(mask)

    walk(full)
    total, size, _ = table[full]
    return {
        "path": path,
        "log2_size": round(math.log2(size), 4),
        "log10_flops": round(math.log10(total), 4),
    }


def keep_of(mask, inputs, keep):
    """An operand keeps all its indices; an intermediate those that are still needed."""
    if bin(mask).count("1") == 1:
        return inputs[mask.bit_length() - 1]
    return keep[mask]


def write(name, spec, sizes, dtype):
    inputs, _ = terms(spec)
    network = {
        "name": name,
        "format_string": spec,
        "shapes": [[sizes[i] for i in term] for term in inputs],
        "dtype": dtype,
        "num_tensors": len(inputs),
        "paths": {
            "opt_size": best(spec, sizes, "size"),
            "opt_flops": best(spec, sizes, "flops"),
        },
    }
    with open(f"{name}.json", "w", encoding="utf-8") as file:
        json.dump(network, file, ensure_ascii=False)
        file.write("\n")


def main():
    chain = "abcdefghijk"
    spec = ",".join(chain[i : i + 2] for i in range(10)) + "->ak"
    write("matrix_chain_10", spec, dict(zip(chain, [30, 35, 15, 5, 10, 20, 25, 40, 8, 60, 12])), "float64")

    # Two chains of five sites: bonds a.. above and A.. below, physical indices v..z.
    above, below, sites = "abcd", "ABCD", "vwxyz"
    def chain_of(bonds):
        ends = [bonds[0] + sites[0]]
        ends += [bonds[i] + sites[i + 1] + bonds[i + 1] for i in range(3)]
        return ends + [bonds[3] + sites[4]]
    spec = ",".join(chain_of(above) + chain_of(below)) + "->"
    sizes = {bond: 12 for bond in above + below} | {site: 3 for site in sites}
    write("mps_inner_product_5", spec, sizes, "complex128")

    # h is in four operands, and kept; t is in three, and summed.
    write("hyper_edge_6", "hab,hbt,hct,td,dch,ae->he", dict(h=7, a=6, b=5, c=4, d=8, t=9, e=3), "float32")


main()
