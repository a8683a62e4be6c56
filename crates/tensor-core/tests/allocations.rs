//! What an operation costs in heap allocations, on the running engine: after a warm-up, nothing below
//! rank 7; a download, the vector it gives.
//!
//! A binary of its own, because the counter is the process's allocator. It counts by thread.

use allocation_counter::measure;
use tensor_core::{DType, Device, Error, Tensor};

/// Heap allocations of `runs` calls after as many to warm up.
fn allocations(runs: u64, mut call: impl FnMut()) -> u64 {
    for _ in 0..runs {
        call();
    }
    let counted = measure(|| {
        for _ in 0..runs {
            call();
        }
    });
    counted.count_total
}

/// How often each is called.
const RUNS: u64 = 50;

type Operation = fn(&Tensor, &Tensor) -> Result<Tensor, Error>;

/// Operations on tensors of 64 elements.
const OPERATIONS: [(&str, Operation); 20] = [
    ("add", |a, b| a.add(b)),
    ("add a number", |a, _| a.add(1.5)),
    ("+", |a, b| a + b),
    ("div", |a, b| a.div(b)),
    ("exp", |a, _| a.exp()),
    ("neg", |a, _| a.neg()),
    ("lt", |a, b| a.lt(b)),
    ("clamp", |a, _| a.clamp(-1.0, 1.0)),
    ("where_cond", |a, b| a.lt(b)?.where_cond(a, 0.0)),
    ("to_dtype", |a, _| a.to_dtype(DType::F64)),
    ("copy", |a, _| a.copy()),
    ("sum", |a, _| a.sum(..)),
    ("mean", |a, _| a.mean(..)),
    ("max_keepdim", |a, _| a.max_keepdim(-1)),
    ("argmax", |a, _| a.argmax(-1)),
    ("cumsum", |a, _| a.cumsum(-1)),
    ("flip", |a, _| a.flip(..)),
    ("add flipped", |a, b| a.flip(..)?.add(b)),
    ("permute and reshape", |a, _| {
        a.transpose(0, -1)?.reshape(-1)
    }),
    ("zeros", |a, _| {
        Tensor::zeros([4, 4], DType::F32, a.device())
    }),
];

#[test]
fn an_operation_allocates_nothing_after_warm_up() {
    let device = Device::open_new("host").unwrap();
    let dims: [&[usize]; 6] = [
        &[64],
        &[8, 8],
        &[4, 4, 4],
        &[2, 4, 2, 4],
        &[2, 2, 4, 2, 2],
        &[2; 6],
    ];
    for dims in dims {
        let a = Tensor::rand(dims, DType::F32, 1, &device).unwrap();
        let b = Tensor::rand(dims, DType::F32, 2, &device).unwrap();
        for (name, operation) in OPERATIONS {
            let count = allocations(RUNS, || drop(operation(&a, &b).unwrap()));
            assert_eq!(count, 0, "{name} of rank {}", dims.len());
        }
    }
}

/// What still allocates, a call, and where: to be brought down, never up.
#[test]
fn a_few_operations_allocate_a_known_number_of_times() {
    let device = Device::open_new("host").unwrap();
    let a = Tensor::rand([8, 8], DType::F32, 1, &device).unwrap();
    let index = Tensor::from_slice(&[3i64, 0, 7], [3], &device).unwrap();
    // The engine's list of steps is inline for one step, and a join is a step for each part.
    let joined = allocations(RUNS, || drop(Tensor::cat(&[&a, &a], 0).unwrap()));
    assert!(joined <= RUNS, "cat: {joined}");
    let stacked = allocations(RUNS, || drop(Tensor::stack(&[&a, &a], 0).unwrap()));
    assert!(stacked <= RUNS, "stack: {stacked}");
    // The matrix library packs into memory that it allocates.
    let product = allocations(RUNS, || drop(a.matmul(&a).unwrap()));
    assert!(product <= RUNS, "matmul: {product}");
    // A ticket for the fault ring, and the wait that reads it.
    let selected = allocations(RUNS, || a.index_select(0, &index).unwrap().wait().unwrap());
    assert!(selected <= 7 * RUNS, "index_select: {selected}");
}

#[test]
fn a_download_allocates_what_it_gives() {
    let device = Device::open_new("host").unwrap();
    let a = Tensor::rand([64], DType::F32, 1, &device).unwrap();
    assert_eq!(allocations(RUNS, || drop(a.to_vec::<f32>().unwrap())), RUNS);
    let flags = a.gt(0.5).unwrap();
    assert_eq!(
        allocations(RUNS, || drop(flags.to_vec::<bool>().unwrap())),
        RUNS
    );
    let total = a.sum(..).unwrap();
    assert_eq!(
        allocations(RUNS, || assert!(total.to_scalar::<f32>().is_ok())),
        0
    );
}
