//! Counted costs on the host vendor: what one submission allocates on the heap and asks the vendor.

#![expect(
    unsafe_code,
    reason = "a global allocator is an unsafe trait; it only forwards"
)]

use gpu_dispatch::{Call, Engine, Face, Storage};
use gpu_host::Host;
use gpu_seam::{BinaryOp, DType, Operand, UnaryOp, View};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, counting what this thread asks for.
struct Counting;

// SAFETY: every call is forwarded to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn counted(mut work: impl FnMut()) -> usize {
    // Warm: bins, records and thread-locals are made on first use.
    for _ in 0..8 {
        work();
    }
    let before = COUNT.with(Cell::get);
    for _ in 0..16 {
        work();
    }
    COUNT.with(Cell::get) - before
}

#[test]
fn a_submission_in_steady_state_allocates_nothing_on_the_heap() {
    let engine = Engine::new(Host::new()).unwrap();
    let lane = engine.lane();
    for n in [1usize, 16, 1000] {
        let bytes = vec![0; 4 * n];
        let a: Storage<Host> = lane.upload(&bytes).unwrap();
        let dims = [n];
        let view = Operand::View(View::new(DType::F32, 0, &dims, &[1]));
        let add = Call::Binary {
            op: BinaryOp::Add,
            lhs: view,
            rhs: view,
        };
        let neg = Call::Unary {
            op: UnaryOp::Neg,
            input: View::new(DType::F32, 0, &dims, &[1]),
        };
        let allocations = counted(|| {
            let sum = lane.submit(&add, &[&a, &a]).unwrap();
            let _ = lane.submit(&neg, &[&sum.storage]).unwrap();
        });
        assert_eq!(allocations, 0, "{n} elements");
    }
}

#[test]
fn nor_does_one_through_the_erased_face_below_rank_seven() {
    let engine = Engine::new(Host::new()).unwrap();
    let lane = engine.lane();
    let face: &dyn Face = &lane;
    let a = face.upload(&vec![0; 4 * 64]).unwrap();
    // Rank 6, transposed: nothing merges.
    let (dims, strides) = ([2usize; 6], [1isize, 2, 4, 8, 16, 32]);
    let view = View::new(DType::F32, 0, &dims, &strides);
    let row = View::new(DType::F32, 0, &[2, 2], &[2, 1]);
    let copy = Call::Copy {
        input: view,
        dtype: DType::F32,
    };
    let add = Call::Binary {
        op: BinaryOp::Add,
        lhs: Operand::View(view),
        rhs: Operand::View(row),
    };
    let allocations = counted(|| {
        let _ = face.submit(&copy, &[&a]).unwrap();
        let _ = face.submit(&add, &[&a, &a]).unwrap();
    });
    assert_eq!(allocations, 0);
}
