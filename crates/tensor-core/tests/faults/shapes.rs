//! Group 2, shapes, strides and views; and the indices of group 2.

use crate::{assert_close, counted, counted_f32, host, line, tensor, value, values};
use half::f16;
use rstest::rstest;
use tensor_core::{DType, ErrorKind, Slice, Tensor};

#[test]
fn g2_044_strides_of_unit_axes_do_not_count() {
    let m = counted_f32(&[13, 13]);
    let same = m.view([1, 1, 13, 13]).unwrap();
    assert!(same.is_contiguous());
    let half = |x: &Tensor| values::<f16>(&x.to_dtype(DType::F16).unwrap());
    let expected: Vec<f16> = (0..169u8).map(|i| f16::from_f32(i.into())).collect();
    assert_eq!(half(&same), expected);
    let twice = same.broadcast_to([2, 1, 13, 13]).unwrap();
    assert!(!twice.is_contiguous());
    assert_eq!(half(&twice), [expected.clone(), expected.clone()].concat());
    // A unit axis of a strided view, whose stride is whatever it was.
    let row = m.narrow(0, 5, 1).unwrap();
    assert!(row.is_contiguous());
    assert_eq!(half(&row), expected[65..78]);
    let column = m.narrow(1, 5, 1).unwrap();
    assert!(!column.is_contiguous());
    assert_eq!(half(&column)[..3], [5.0, 18.0, 31.0].map(f16::from_f32));
}

#[test]
fn g2_053_operations_on_nothing_give_nothing() {
    let x = Tensor::ones([2, 1, 1, 0], DType::F32, &host()).unwrap();
    let equal = x.eq(&x).unwrap();
    assert_eq!(
        (equal.dims(), equal.dtype()),
        ([2, 1, 1, 0].as_slice(), DType::Bool)
    );
    assert_eq!(values::<bool>(&equal), [false; 0]);
    for empty in [
        x.add(&x),
        x.exp(),
        x.copy(),
        x.flip(..),
        x.cumsum(3),
        x.clamp(0.0, 1.0),
    ] {
        assert_eq!(empty.unwrap().dims(), [2, 1, 1, 0]);
    }
    assert_eq!(x.to_dtype(DType::I64).unwrap().dims(), [2, 1, 1, 0]);
    assert_eq!(Tensor::cat(&[&x, &x], 0).unwrap().dims(), [4, 1, 1, 0]);
    let sum = x.sum(3).unwrap();
    assert_eq!(
        (sum.dims(), values::<f32>(&sum)),
        ([2, 1, 1].as_slice(), vec![0.0; 2])
    );
    assert_eq!(values::<f32>(&x.sum([0, 1]).unwrap()), [0.0; 0]);
}

#[test]
fn g2_056_only_an_empty_line_has_no_extreme() {
    let x = Tensor::zeros([0, 2], DType::F32, &host()).unwrap();
    let least = x.min(1).unwrap();
    assert_eq!(
        (least.dims(), values::<f32>(&least)),
        ([0].as_slice(), vec![])
    );
    for (op, found) in [
        ("min", x.min(0)),
        ("max", x.max(..)),
        ("argmin", x.argmin(0)),
        ("argmax_keepdim", x.argmax_keepdim(..)),
    ] {
        let error = found.unwrap_err();
        assert_eq!(
            (error.kind(), error.op()),
            (ErrorKind::Invalid, op),
            "{error}"
        );
    }
    let line = Tensor::zeros([0, 1], DType::F32, &host()).unwrap();
    assert_eq!(values::<i64>(&line.argmax(1).unwrap()), [0; 0]);
    let nothing = Tensor::zeros([0], DType::F32, &host()).unwrap();
    assert_eq!(value::<f32>(&nothing.sum(..).unwrap()), 0.0);
    assert_eq!(value::<f32>(&nothing.prod(..).unwrap()), 1.0);
    assert!(value::<f32>(&nothing.mean(..).unwrap()).is_nan());
    assert!(!value::<bool>(&nothing.any(..).unwrap()));
    assert!(value::<bool>(&nothing.all(..).unwrap()));
    let integers = nothing.to_dtype(DType::I32).unwrap();
    assert_eq!(value::<i64>(&integers.prod(..).unwrap()), 1);
    assert!(value::<f64>(&integers.mean(..).unwrap()).is_nan());
}

#[test]
fn g2_058_a_scalar_is_one_element() {
    let x = Tensor::ones([2, 3], DType::F32, &host()).unwrap();
    let total = x.sum(..).unwrap();
    assert_eq!((total.rank(), total.elements()), (0, 1));
    assert_eq!(values::<f32>(&total), [6.0]);
    assert_eq!(values::<f32>(&x.add(&total).unwrap()), [7.0; 6]);
    assert_eq!(value::<f32>(&total.sum(..).unwrap()), 6.0);
    assert_eq!(
        value::<f32>(&total.exp().unwrap().log().unwrap().add(&total).unwrap()),
        12.0
    );
    assert_eq!(value::<i64>(&total.argmax(..).unwrap()), 0);
    assert_eq!(total.broadcast_to([2, 2]).unwrap().dims(), [2, 2]);
    let error = Tensor::cat(&[&total, &total], 0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert_eq!(Tensor::stack(&[&total, &total], 0).unwrap().dims(), [2]);
}

#[test]
fn g2_061_a_permuted_view_of_odd_sizes_is_whole() {
    let x = counted(&[27, 31, 31]).permute([1, 2, 0]).unwrap();
    for found in [values::<i64>(&x), values::<i64>(&x.add(0).unwrap())] {
        assert_eq!((found[0], found[25_946]), (0, 25_946));
        let mut sorted = found;
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..25_947));
    }
}

#[test]
fn g2_062_reductions_along_a_swapped_axis() {
    #[rustfmt::skip]
    let x = tensor(&[
        0.033_651_47f32, 0.647_344_47, 0.741_928_76, 0.064_688_03,
        0.395_522_83, 0.553_830_15, 0.425_305_6, 0.839_672_6,
    ], &[1, 2, 4]);
    let swapped = x.transpose(1, 2).unwrap();
    let mean = swapped.mean_keepdim(2).unwrap();
    assert_close(
        &values(&mean),
        &[0.214_587_2, 0.600_587_3, 0.583_617_2, 0.452_180_3],
        1e-6,
    );
    let away = swapped.sub(&mean).unwrap();
    let variance = away.mul(&away).unwrap().mean(2).unwrap();
    let expected = [0.032_737_7, 0.002_186_2, 0.025_062_6, 0.150_150_3];
    assert_close(&values(&variance), &expected, 1e-4);
    assert_eq!(values::<i64>(&swapped.argmax(2).unwrap()), [1, 0, 0, 1]);
}

#[test]
fn g2_065_a_block_of_a_cube_is_copied_by_its_strides() {
    let cube = counted(&[4, 4, 4]).add(2).unwrap();
    let plane = cube.narrow(0, 1, 1).unwrap().squeeze(0).unwrap();
    let block = plane.narrow(0, 0, 3).unwrap().narrow(1, 1, 3).unwrap();
    let expected = [19, 20, 21, 23, 24, 25, 27, 28, 29];
    assert_eq!(values::<i64>(&block), expected);
    assert_eq!(values::<i64>(&block.copy().unwrap()), expected);
    assert_eq!(values::<i64>(&block.reshape([9]).unwrap()), expected);
}

#[test]
fn g2_068_reductions_of_views_take_their_elements() {
    let x = counted(&[33, 256]);
    for dtype in [DType::F64, DType::F32] {
        let permuted = x.to_dtype(dtype).unwrap().t().unwrap();
        let total = permuted.sum(..).unwrap().to_dtype(DType::F64).unwrap();
        let error = (value::<f64>(&total) / 35_680_128.0 - 1.0).abs();
        assert!(error <= if dtype == DType::F64 { 0.0 } else { 1e-6 });
    }
    let slice = x.narrow(1, 17, 200).unwrap();
    let copied = slice.contiguous().unwrap();
    for axes in [vec![0isize], vec![1], vec![0, 1]] {
        let (of_view, of_copy) = (slice.sum(axes.clone()).unwrap(), copied.sum(axes).unwrap());
        assert_eq!(values::<i64>(&of_view), values::<i64>(&of_copy));
    }
    let every_third = x.slice(1, Slice::full().step(-3)).unwrap();
    let copied = every_third.copy().unwrap();
    for (of_view, of_copy) in [
        (every_third.max(1), copied.max(1)),
        (every_third.argmin(0), copied.argmin(0)),
        (every_third.cumsum(1), copied.cumsum(1)),
    ] {
        assert_eq!(
            values::<i64>(&of_view.unwrap()),
            values::<i64>(&of_copy.unwrap())
        );
    }
}

#[test]
fn g2_070_repeated_operands_and_a_last_axis_of_one() {
    let x = tensor(&[1i64, 2, 3, 4, 5, 6], &[3, 2]);
    let two = line(&[2i64]).broadcast_to([3, 2]).unwrap();
    assert_eq!(
        values::<i64>(&x.mul(&two).unwrap().sum(1).unwrap()),
        [6, 14, 22]
    );
    let column = tensor(&[1i64, 2, 3], &[3, 1]);
    let squares = column.mul(&column).unwrap();
    assert_eq!(values::<i64>(&squares.sum(0).unwrap()), [14]);
    let long = counted(&[1000, 1]);
    assert_eq!(values::<i64>(&long.sum(0).unwrap()), [499_500]);
    assert_eq!(values::<i64>(&long.max(0).unwrap()), [999]);
}

#[test]
fn g2_079_more_elements_than_small_grids_reach() {
    let x = Tensor::arange(0u32, 4_194_305, &host()).unwrap();
    let next = values::<u32>(&x.add(1).unwrap());
    assert!(next.into_iter().eq(1..=4_194_305));
    let many = Tensor::full([20_000_000], 7u8, &host()).unwrap();
    let copied = many.copy().unwrap();
    assert_eq!(value::<i64>(&copied.sum(..).unwrap()), 140_000_000);
}

#[test]
fn g2_080_more_rows_than_small_grids_reach() {
    let x = counted(&[70_000, 3]);
    let index = Tensor::arange(0i64, 70_000, &host()).unwrap();
    let rows = x.index_select(0, &index).unwrap();
    assert!(values::<i64>(&rows).into_iter().eq(0..210_000));
    let backwards = x.index_select(0, &index.flip(0).unwrap()).unwrap();
    assert_eq!(values::<i64>(&backwards)[..3], [209_997, 209_998, 209_999]);
    let filled = Tensor::full([8192, 16384], 1u8, &host()).unwrap();
    assert_eq!(value::<i64>(&filled.sum(..).unwrap()), 134_217_728);
}

#[test]
fn g2_082_a_permuted_tensor_of_rank_twenty() {
    let x = counted(&[1 << 20]).reshape(vec![2usize; 20]).unwrap();
    let order: Vec<usize> = (0..20).map(|axis| (axis * 7 + 3) % 20).collect();
    let permuted = x.permute(order.clone()).unwrap();
    // The host's answer, index by index.
    let weight = |axis: usize| 1i64 << (19 - axis);
    let expected = (0..1i64 << 20).map(|at| {
        let bits = (0..20).map(|axis| at / weight(axis) % 2 * weight(order[axis]));
        bits.sum::<i64>()
    });
    let found = values::<i64>(&permuted);
    assert!(found.iter().copied().eq(expected));
    let added = values::<i64>(&permuted.add(&permuted).unwrap());
    assert!(
        added
            .iter()
            .zip(&found)
            .all(|(twice, once)| *twice == 2 * once)
    );
}

#[rstest]
#[case(line(&[0i64, 3]), "3")]
#[case(line(&[-1i64, 0]), "-1")]
#[case(line(&[u32::MAX]), "4294967295")]
#[case(line(&[i64::MIN]), "-9223372036854775808")]
#[case(line(&[0u8, 200]), "200")]
fn g2_083_an_index_out_of_range_is_named(#[case] index: Tensor, #[case] named: &str) {
    let x = line(&[10.0f32, 20.0, 30.0]);
    let src = Tensor::zeros(index.dims(), DType::F32, &host()).unwrap();
    for (op, result) in [
        ("gather", x.gather(0, &index)),
        ("index_select", x.index_select(0, &index)),
        ("scatter", x.scatter(0, &index, &src)),
        ("scatter_add", x.scatter_add(0, &index, &src)),
    ] {
        // Told at once, or to whoever waits: for the result, or for what was made of it.
        let failed = result.and_then(|bad| {
            let made = bad.add(1.0)?;
            let error = bad.to_vec::<f32>().unwrap_err();
            assert_eq!(made.to_vec::<f32>().unwrap_err().kind(), ErrorKind::Index);
            Err::<Tensor, _>(error)
        });
        let error = failed.unwrap_err();
        let text = error.to_string();
        assert_eq!(error.kind(), ErrorKind::Index, "{text}");
        assert!(
            text.contains(named) && text.contains("size 3"),
            "{op}: {text}"
        );
        assert!(
            error.engine_error().unwrap().to_string().contains(op),
            "{op}: {text}"
        );
        assert_eq!(values::<f32>(&x.add(1.0).unwrap()), [11.0, 21.0, 31.0]);
    }
}

#[test]
fn g2_085_rows_are_written_whole() {
    let x = counted(&[4, 500]);
    let index = tensor(&[0i64, 1, 1, 1], &[4, 1])
        .broadcast_to([4, 500])
        .unwrap();
    let target = Tensor::zeros([2, 500], DType::I64, &host()).unwrap();
    let written = values::<i64>(&target.scatter(0, &index, &x).unwrap());
    assert!(written[..500].iter().copied().eq(0..500));
    let first = written[500];
    assert!([500, 1000, 1500].contains(&first));
    assert!(written[500..].iter().copied().eq(first..first + 500));
    let summed = values::<i64>(&target.scatter_add(0, &index, &x).unwrap());
    assert!(
        summed[500..]
            .iter()
            .copied()
            .eq((0..500).map(|at| 3000 + 3 * at))
    );
}

#[test]
fn g2_064_a_block_of_columns_is_written_by_its_strides() {
    let grid = Tensor::zeros([4, 4], DType::I64, &host()).unwrap();
    let block = counted(&[4, 2]).add(1).unwrap();
    let columns = line(&[1i64, 2]).broadcast_to([4, 2]).unwrap();
    let written = grid.scatter(1, &columns, &block).unwrap();
    let expected = [0, 1, 2, 0, 0, 3, 4, 0, 0, 5, 6, 0, 0, 7, 8, 0];
    assert_eq!(values::<i64>(&written), expected);
    assert_eq!(values::<i64>(&grid), [0; 16], "the operand is as it was");
}
