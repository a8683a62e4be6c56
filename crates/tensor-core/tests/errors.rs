//! What errors say: the operation in the user's words, the tensors involved, what was asked and found.

#![expect(clippy::unwrap_used, reason = "tests")]

use tensor_core::{DType, Device, Error, ErrorKind, Tensor};

fn zeros(dims: &[usize], dtype: DType) -> Tensor {
    Tensor::zeros(dims, dtype, &Device::host().unwrap()).unwrap()
}

fn text<T>(result: Result<T, Error>) -> String {
    match result {
        Ok(_) => "no error".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn shapes_dtypes_and_axes() {
    let x = zeros(&[2, 3], DType::F32);
    insta::assert_snapshot!(text(x.add(&zeros(&[4], DType::F32))), @"add of f32[2, 3] on host:0, f32[4] on host:0: dims (2, 3) and (4) do not broadcast to one shape");
    insta::assert_snapshot!(text(x.maximum(&zeros(&[3], DType::F64))), @"maximum of f32[2, 3] on host:0, f64[3] on host:0: lhs is f32 and rhs is f64; cast one of them");
    insta::assert_snapshot!(text(x.matmul(&zeros(&[2, 3], DType::F32))), @"matmul of f32[2, 3] on host:0, f32[2, 3] on host:0: lhs has dims (2, 3) and rhs has dims (2, 3); the inner dims 3 and 2 must be equal");
    insta::assert_snapshot!(text(x.sum([0, 0])), @"sum of f32[2, 3] on host:0: axis 0 is named twice in [0, 0]");
    insta::assert_snapshot!(text(x.cumsum(2)), @"cumsum of f32[2, 3] on host:0: axis 2 is out of range for rank 2: from -2 to 1");
    insta::assert_snapshot!(text(Tensor::cat(&[&x, &zeros(&[2, 4], DType::F32)], 0)), @"cat of f32[2, 3] on host:0, f32[2, 4] on host:0: input 0 has dims (2, 3) and input 1 has dims (2, 4); they may differ only at axis 0");
    insta::assert_snapshot!(text(Tensor::stack(&[&x, &zeros(&[2, 4], DType::F32)], 0)), @"stack of f32[2, 3] on host:0, f32[2, 4] on host:0: tensor 1 has another shape than the first");
    insta::assert_snapshot!(text(Tensor::cat::<Tensor>(&[], 0)), @"cat: there are no tensors to join");
    insta::assert_snapshot!(text(x.gather(0, &x)), @"gather of f32[2, 3] on host:0, f32[2, 3] on host:0: the index is f32; it must be i64, i32, u32 or u8");
    insta::assert_snapshot!(text(x.view([7])), @"view of f32[2, 3] on host:0: 6 elements do not go into shape [7] of 7");
    insta::assert_snapshot!(text(x.t().unwrap().view([6])), @"view of f32[3, 2] on host:0: no strides give [6] from [1, 3]: reshape copies");
}

#[test]
fn operations_that_a_dtype_does_not_have() {
    let flags = zeros(&[2], DType::Bool);
    insta::assert_snapshot!(text(flags.sub(&flags)), @"sub of bool[2] on host:0, bool[2] on host:0: is not defined for bool, only for integers, floats and complex numbers");
    insta::assert_snapshot!(text(zeros(&[2], DType::I32).exp()), @"exp of i32[2] on host:0: is not defined for i32, only for floats and complex numbers");
    insta::assert_snapshot!(text(zeros(&[2], DType::Complex64).lt(0.0)), @"lt of complex64[2] on host:0: is not defined for complex64, only for types that have an order");
    insta::assert_snapshot!(text(zeros(&[2], DType::Complex64).max(..)), @"max of complex64[2] on host:0: is not defined for complex64, only for types that have an order");
    insta::assert_snapshot!(text(zeros(&[0], DType::F32).argmax(..)), @"argmax of f32[0] on host:0: has no identity: dims (0) leave nothing to reduce over axes (0)");
    insta::assert_snapshot!(text(zeros(&[2], DType::F32).where_cond(1, 2)), @"where_cond of f32[2] on host:0: two numbers have no dtype: give one branch as a tensor");
    insta::assert_snapshot!(text(Tensor::rand([2], DType::I64, 0, &Device::host().unwrap())), @"rand of i64[2] on host:0: is not defined for i64, only for floats and complex numbers");
}

#[test]
fn numbers_that_do_not_go_in() {
    let x = zeros(&[2], DType::I32);
    insta::assert_snapshot!(text(x.add(1.5)), @"add of i32[2] on host:0: the scalar 1.5 is of kind float and does not go into i32; nothing is promoted: cast the tensor, or give a value of its kind");
    insta::assert_snapshot!(text(x.mul(1i64 << 40)), @"mul of i32[2] on host:0: the scalar 1099511627776 is outside the range of i32");
    insta::assert_snapshot!(text(&x + 2.0), @"add of i32[2] on host:0: the scalar 2.0 is of kind float and does not go into i32; nothing is promoted: cast the tensor, or give a value of its kind");
    insta::assert_snapshot!(text(x.addmm(&x, &x, 1, 0.5)), @"addmm of i32[2] on host:0, i32[2] on host:0, i32[2] on host:0: the scalar 0.5 is of kind float and does not go into i32; nothing is promoted: cast the tensor, or give a value of its kind");
}

#[test]
fn reading_as_what_it_is_not() {
    let x = zeros(&[2], DType::I32);
    insta::assert_snapshot!(text(x.to_vec::<i64>()), @"to_vec of i32[2] on host:0: i32 elements are not read as i64: cast with to_dtype first");
    insta::assert_snapshot!(text(x.to_scalar::<i32>()), @"to_scalar of i32[2] on host:0: 2 elements are not one");
    let rejected = x.to_vec_pending_into(vec![0i32; 3]).unwrap_err();
    insta::assert_snapshot!(rejected, @"to_vec_pending_into of i32[2] on host:0: memory of 3 elements is not as long as the tensor, 2");
    assert_eq!(rejected.value, [0; 3], "the memory comes back");
    insta::assert_snapshot!(text(Tensor::from_vec(vec![1u8; 3], [2, 2], x.device())), @"from_vec: 3 values do not fill shape [2, 2] of 4");
}

#[test]
fn absurd_sizes_are_errors_and_nothing_is_lost() {
    let device = Device::open_new("host").unwrap();
    let kind = |result: Result<Tensor, Error>| result.unwrap_err().kind();
    let huge = 1usize << 40;
    for dims in [&[huge][..], &[1 << 31, 1 << 31], &[huge, 0, huge, 2]] {
        let made = Tensor::zeros(dims, DType::Complex128, &device);
        match dims.contains(&0) {
            true => assert_eq!(made.unwrap().elements(), 0),
            false => {
                let kind = kind(made);
                assert!(
                    matches!(kind, ErrorKind::OutOfMemory | ErrorKind::Invalid),
                    "{kind:?}"
                );
            }
        }
    }
    for dims in [&[usize::MAX][..], &[usize::MAX, 2], &[huge, huge], &[1; 65]] {
        assert_eq!(
            kind(Tensor::zeros(dims, DType::U8, &device)),
            ErrorKind::Invalid
        );
        assert_eq!(
            kind(Tensor::rand(dims, DType::F32, 1, &device)),
            ErrorKind::Invalid
        );
        assert_eq!(
            kind(Tensor::from_slice(&[1u8], dims, &device)),
            ErrorKind::Invalid
        );
    }
    let one = Tensor::ones([1], DType::F32, &device).unwrap();
    let wide = one.broadcast_to([huge]).unwrap();
    assert_eq!(kind(wide.exp()), ErrorKind::OutOfMemory);
    assert_eq!(
        wide.to_vec::<f32>().unwrap_err().kind(),
        ErrorKind::OutOfMemory
    );
    let pending = wide.to_vec_pending::<f32>().unwrap_err();
    assert_eq!(pending.kind(), ErrorKind::OutOfMemory);
    assert_eq!(kind(one.broadcast_to([huge, huge])), ErrorKind::Invalid);
    assert_eq!(
        kind(Tensor::arange(0i64, i64::MAX, &device)),
        ErrorKind::Invalid
    );
    assert_eq!(kind(Tensor::arange(0.0, 1e18, &device)), ErrorKind::Invalid);
    // Nothing was lost on the way: one small tensor is all there is.
    assert_eq!(one.to_vec::<f32>().unwrap(), [1.0]);
    drop(wide);
    assert_eq!(device.memory_report().in_use, 4);
}

#[test]
fn out_of_memory_says_where_the_memory_is() {
    let device = Device::open_new("host").unwrap();
    let error = Tensor::zeros([1usize << 40], DType::F32, &device).unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("zeros of f32[1099511627776] on host:0: GPU memory exhausted"),
        "{text}"
    );
    assert!(text.contains("bytes in use"), "{text}");
}

#[test]
fn debug_and_display_are_short_and_do_not_wait() {
    let x = zeros(&[2, 3], DType::BF16);
    insta::assert_snapshot!(format!("{x:?} {x}"), @"Tensor(bf16[2, 3] on host:0) bf16[2, 3] on host:0");
    insta::assert_snapshot!(format!("{:?}", x.to_vec::<u8>().unwrap_err()), @r#"Error { op: "to_vec", kind: Invalid, operands: [Described { dims: [2, 3], dtype: BF16, device: "host:0" }], detail: "bf16 elements are not read as u8: cast with to_dtype first" }"#);
}
