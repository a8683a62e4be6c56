//! Group 2, matrix products: strides, leading dimensions and sizes that a product must honour.

use crate::{assert_close, counted_f32, host, line, tensor, value, values};
use half::f16;
use num_complex::Complex32;
use rstest::rstest;
use tensor_core::{DType, Device, ErrorKind, Tensor};

fn ones(dims: &[usize]) -> Tensor {
    Tensor::ones(dims, DType::F32, &host()).unwrap()
}

#[test]
fn g2_037_a_repeated_batch_fills_every_output() {
    let left = ones(&[1, 32, 32]).broadcast_to([32, 32, 32]).unwrap();
    let right = ones(&[32, 32, 32]);
    for product in [left.matmul(&right), right.matmul(&left), left.matmul(&left)] {
        assert_eq!(values::<f32>(&product.unwrap()), [32.0; 32_768]);
    }
}

#[test]
fn g2_038_a_single_matrix_serves_every_batch() {
    let mut a = vec![0.0f32; 60];
    for batch in 0..10 {
        a[batch * 6] = 1.0;
    }
    let a = tensor(&a, &[10, 2, 3]);
    // The right matrix lies in front of sevens, in the same storage.
    let storage = line(&[[0.0f32; 12], [7.0; 12]].concat());
    let counts = counted_f32(&[12])
        .add(&storage.narrow(0, 0, 12).unwrap())
        .unwrap();
    let joined = Tensor::cat(&[&counts, &storage.narrow(0, 12, 12).unwrap()], 0).unwrap();
    let b = joined.narrow(0, 0, 12).unwrap().view([3, 4]).unwrap();
    let c = a.matmul(&b).unwrap();
    assert_eq!(c.dims(), [10, 2, 4]);
    let expected = [0.0, 1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.0].repeat(10);
    assert_eq!(values::<f32>(&c), expected);
    let wide = ones(&[2, 3]).matmul(&ones(&[10, 3, 4])).unwrap();
    assert_eq!(
        (wide.dims(), values::<f32>(&wide)),
        ([10, 2, 4].as_slice(), vec![3.0; 80])
    );
}

#[test]
fn g2_040_a_transposed_left_factor() {
    let a = tensor(&[0.7f32, -1.3, 2.1, -0.4, 1.9, -3.2], &[2, 3]);
    let product = a.t().unwrap().matmul(&ones(&[2, 2])).unwrap();
    assert_close(&values(&product), &[0.3, 0.3, 0.6, 0.6, -1.1, -1.1], 1e-6);
    let both = a.t().unwrap().matmul(&a).unwrap();
    let copied = a.t().unwrap().contiguous().unwrap().matmul(&a).unwrap();
    assert_close(&values(&both), &values::<f32>(&copied), 1e-6);
}

#[test]
fn g2_041_one_row_may_have_any_stride() {
    let a = counted_f32(&[1, 8, 4]);
    let x = a.slice(1, 7..8).unwrap().squeeze(1).unwrap();
    assert_eq!(x.dims(), [1, 4]);
    let product = x.matmul(&ones(&[3, 4]).t().unwrap()).unwrap();
    assert_eq!(values::<f32>(&product), [118.0; 3]);
    // One column, far from anything.
    let column = counted_f32(&[4, 9]).narrow(1, 8, 1).unwrap();
    let product = ones(&[2, 4]).matmul(&column).unwrap();
    assert_eq!(values::<f32>(&product), [86.0, 86.0]);
}

#[test]
fn g2_043_factors_that_repeat_one_element() {
    let one = ones(&[]);
    let product = one
        .broadcast_to([1, 2])
        .unwrap()
        .matmul(&one.broadcast_to([2, 2]).unwrap());
    assert_eq!(values::<f32>(&product.unwrap()), [2.0, 2.0]);
    let column = tensor(&[1.0f32, 2.0], &[2, 1])
        .broadcast_to([2, 2])
        .unwrap();
    assert_eq!(
        values::<f32>(&ones(&[1, 2]).matmul(&column).unwrap()),
        [3.0, 3.0]
    );
    let cube = one.broadcast_to([3, 4, 5]).unwrap();
    let product = cube.matmul(&one.broadcast_to([5, 2]).unwrap()).unwrap();
    assert_eq!(values::<f32>(&product), [5.0; 24]);
}

#[test]
fn g2_046_reversed_and_repeated_rows() {
    let x = tensor(&[1.0f32, 2.0, 3.0, 4.0], &[2, 2]);
    let shear = tensor(&[1.0f32, 1.0, 0.0, 1.0], &[2, 2]);
    let reversed = x.flip(0).unwrap().matmul(&shear).unwrap();
    assert_eq!(values::<f32>(&reversed), [3.0, 7.0, 1.0, 3.0]);
    let row = line(&[1.0f32, 2.0]).broadcast_to([2, 2]).unwrap();
    assert_eq!(
        values::<f32>(&row.matmul(&shear).unwrap()),
        [1.0, 3.0, 1.0, 3.0]
    );
    let all = x.flip(..).unwrap().matmul(&x.flip(1).unwrap()).unwrap();
    assert_eq!(values::<f32>(&all), [20.0, 13.0, 8.0, 5.0]);
}

#[test]
fn g2_047_a_block_times_a_column_of_one_matrix() {
    #[rustfmt::skip]
    let m = tensor(&[
        0.943_755f32, 0.162_902, -0.287_733, -0.241_071,
        0.066_987_6, -0.946_367, -0.316_074, 0.150_359,
        -0.323_79, 0.279_022, -0.904_05, -0.540_78,
        0.0, 0.0, 0.0, 1.0,
    ], &[4, 4]);
    let rows = m.narrow(0, 0, 3).unwrap();
    let block = rows.narrow(1, 0, 3).unwrap();
    let product = block.matmul(&rows.narrow(1, 3, 1).unwrap()).unwrap();
    assert_close(
        &values(&product),
        &[-0.047_417_9, 0.012_482_9, 0.608_902],
        1e-5,
    );
}

#[rstest]
fn g2_049_many_small_products(#[values(65_535, 65_536, 70_000)] batch: usize) {
    let product = ones(&[batch, 3, 4]).matmul(&ones(&[batch, 4, 1])).unwrap();
    let found = values::<f32>(&product);
    assert_eq!(found.len(), batch * 3);
    assert!(found.iter().all(|value| *value == 4.0));
}

#[test]
fn g2_050_a_product_over_nothing_is_zero() {
    let product = ones(&[10, 1, 0]).matmul(&ones(&[10, 0, 5])).unwrap();
    assert_eq!(
        (product.dims(), values::<f32>(&product)),
        ([10, 1, 5].as_slice(), vec![0.0; 50])
    );
    let seven = tensor(&[7.0f32], &[1]);
    let (a, b) = (ones(&[10, 1, 0]), ones(&[10, 0, 5]));
    assert_eq!(
        values::<f32>(&seven.addmm(&a, &b, 0, 1).unwrap()),
        [0.0; 50]
    );
    assert_eq!(
        values::<f32>(&seven.addmm(&a, &b, 2, 1).unwrap()),
        [14.0; 50]
    );
}

#[test]
fn g2_052_an_empty_product_is_checked_all_the_same() {
    let nothing = ones(&[0, 3]);
    let kind = |result: Result<Tensor, tensor_core::Error>| result.unwrap_err().kind();
    assert_eq!(kind(nothing.matmul(&ones(&[4, 5]))), ErrorKind::Invalid);
    let wide = Tensor::ones([3, 5], DType::F64, &host()).unwrap();
    assert_eq!(kind(nothing.matmul(&wide)), ErrorKind::Invalid);
    let elsewhere = Device::open_new("host").unwrap();
    let foreign = Tensor::ones([3, 5], DType::F32, &elsewhere).unwrap();
    assert_eq!(kind(nothing.matmul(&foreign)), ErrorKind::ForeignDomain);
    assert_eq!(nothing.matmul(&ones(&[3, 5])).unwrap().dims(), [0, 5]);
}

#[test]
fn g2_073_conjugate_and_transpose_of_any_shape() {
    for dims in [[97, 2], [2, 97], [16, 96], [15, 97], [1, 1], [64, 64]] {
        let z = Tensor::full(dims, Complex32::new(0.0, 1.0), &host()).unwrap();
        let adjoint = z.conj().unwrap().t().unwrap();
        assert_eq!(adjoint.dims(), [dims[1], dims[0]]);
        let expected = vec![Complex32::new(0.0, -1.0); dims[0] * dims[1]];
        assert_eq!(values::<Complex32>(&adjoint), expected);
        // And as a factor: each element of z† z is the number of rows.
        let gram = adjoint.matmul(&z).unwrap();
        let rows = f32::from(u16::try_from(dims[0]).unwrap());
        let expected = vec![Complex32::new(rows, 0.0); dims[1] * dims[1]];
        assert_eq!(values::<Complex32>(&gram), expected);
    }
}

#[test]
fn g2_074_with_beta_zero_nothing_of_the_bias_passes() {
    for [m, k, n] in [[5, 3, 7], [4, 3, 4], [65, 3, 65], [1, 3, 1]] {
        let mut stale = vec![f32::NAN; m * n];
        stale[m * n - 1] = f32::INFINITY;
        let bias = tensor(&stale, &[m, n]);
        let product = bias.addmm(&ones(&[m, k]), &ones(&[k, n]), 0, 1).unwrap();
        assert_eq!(values::<f32>(&product), vec![3.0; m * n]);
    }
}

#[test]
fn g2_076_half_products_with_odd_sizes() {
    let half = |dims: &[usize]| counted_f32(dims).to_dtype(DType::F16).unwrap();
    // Column-major, so that the factors are transposed views.
    let a = half(&[3, 2]).t().unwrap();
    let b = half(&[4, 3]).t().unwrap();
    let expected = [10.0, 28.0, 46.0, 64.0, 13.0, 40.0, 67.0, 94.0].map(f16::from_f32);
    assert_eq!(values::<f16>(&a.matmul(&b).unwrap()), expected);
    for [m, k, n] in [[1, 1, 1], [3, 5, 7], [9, 15, 17], [33, 31, 1]] {
        let ones = |dims: [usize; 2]| Tensor::ones(dims, DType::F16, &host()).unwrap();
        let product = ones([m, k]).matmul(&ones([k, n])).unwrap();
        let sum = f16::from_f32(f32::from(u16::try_from(k).unwrap()));
        assert_eq!(values::<f16>(&product), vec![sum; m * n]);
    }
    assert_eq!(
        value::<f16>(&half(&[3]).matmul(&half(&[3])).unwrap()),
        f16::from_f32(5.0)
    );
}
