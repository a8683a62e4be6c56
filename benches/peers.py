"""The peers that live in Python, for gpu-seam-benches.

Reads one JSON question a line and answers with one line: about, prepare, time, forget. What it
prepares is what the Rust side prepares: the same numbers, and a fingerprint of the result.
"""

import json
import sys
import time

import jax
import numpy as np
import opt_einsum

jax.config.update("jax_enable_x64", True)


def values(count, n):
    """Element `at` of operand `n`, in [-0.5, 0.5): as in case.rs."""
    at = np.arange(1, count + 1, dtype=np.uint64)
    hashed = (at * np.uint64(2654435761) + np.uint64(n * 40503)) % np.uint64(1 << 32)
    return hashed.astype(np.float64) / float(1 << 32) - 0.5


def fingerprint(result):
    flat = np.asarray(result, dtype=np.float64).ravel()
    return float(np.dot(flat, (np.arange(flat.size) % 7 + 1).astype(np.float64)))


def case(what):
    count = int(np.prod(what["dims"]))
    return [values(count, n).astype(np.float32).reshape(what["dims"]) for n in (0, 1)]


def numpy_run(what):
    if "case" not in what:
        return None
    a, b = case(what)
    return {
        "add": lambda: a + b,
        "exp": lambda: np.exp(a),
        "sum": lambda: a.sum(),
        "transpose": lambda: np.ascontiguousarray(a.T),
        "matmul": lambda: a @ b,
    }[what["case"]]


def numpy_out_run(what):
    """Into an array that is there already: what a pool gives without asking."""
    if "case" not in what or what["case"] == "sum":
        return None
    a, b = case(what)
    out = np.empty(what["dims"], dtype=np.float32)

    def transpose():
        np.copyto(out, a.T)
        return out

    return {
        "add": lambda: np.add(a, b, out=out),
        "exp": lambda: np.exp(a, out=out),
        "transpose": transpose,
        "matmul": lambda: np.matmul(a, b, out=out),
    }[what["case"]]


def network(what):
    with open(what["network"], encoding="utf-8") as file:
        described = json.load(file)
    operands = [
        values(int(np.prod(shape)), n).astype(described["dtype"]).reshape(shape)
        for n, shape in enumerate(described["shapes"])
    ]
    path = [tuple(step) for step in described["paths"]["opt_flops"]["path"]]
    return described["format_string"], operands, path


def opt_einsum_run(what):
    if "network" not in what:
        return None
    spec, operands, path = network(what)
    expression = opt_einsum.contract_expression(
        spec, *[operand.shape for operand in operands], optimize=path
    )
    return lambda: expression(*operands, backend="numpy")


def jax_run(what):
    if "network" not in what:
        return None
    spec, operands, path = network(what)
    placed = [jax.device_put(operand) for operand in operands]
    expression = opt_einsum.contract_expression(
        spec, *[operand.shape for operand in operands], optimize=path
    )
    compiled = jax.jit(lambda *given: expression(*given, backend="jax"))
    return lambda: compiled(*placed).block_until_ready()


PEERS = {
    "numpy": numpy_run,
    "numpy_out": numpy_out_run,
    "opt_einsum": opt_einsum_run,
    "jax": jax_run,
}


def about():
    from threadpoolctl import threadpool_info

    pools = [
        f"{pool['internal_api']} {pool.get('architecture', '')} ({pool['num_threads']} threads)"
        for pool in threadpool_info()
    ]
    return (
        f"NumPy {np.__version__} with {', '.join(pools) or 'no BLAS that says so'}, "
        f"opt_einsum {opt_einsum.__version__}, JAX {jax.__version__} on {jax.default_backend()}"
    )


def answer(question, prepared):
    if question["do"] == "about":
        return {"about": about()}
    peer = question["peer"]
    if question["do"] == "prepare":
        run = PEERS[peer](question["what"])
        if run is None:
            return {"missing": True}
        prepared[peer] = run
        return {"fingerprint": fingerprint(run())}
    if question["do"] == "time":
        run = prepared[peer]
        start = time.perf_counter()
        for _ in range(question["runs"]):
            run()
        return {"seconds": time.perf_counter() - start}
    if question["do"] == "forget":
        prepared.pop(peer, None)
        return {}
    raise ValueError(f"not understood: {question}")


def main():
    prepared = {}
    for line in sys.stdin:
        try:
            said = answer(json.loads(line), prepared)
        except Exception as error:  # whatever it is, the other side must hear of it
            said = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
