//! Group 1: numerics of operations.

use crate::{assert_close, host, line, tensor, value, values};
use half::{bf16, f16};
use num_complex::{Complex, Complex32};
use rstest::rstest;
use tensor_core::{DType, Element, Tensor};

const NAN: f32 = f32::NAN;
const INF: f32 = f32::INFINITY;

/// Numbers, and one kind of float to hold them.
fn floats(dtype: DType, values: &[f32]) -> Tensor {
    line(values).to_dtype(dtype).unwrap()
}

#[rstest]
fn g1_001_nan_propagates_and_is_the_position(
    #[values(DType::F16, DType::BF16, DType::F32, DType::F64)] dtype: DType,
) {
    let x = floats(dtype, &[1.0, NAN, 3.0]);
    assert!(value::<bool>(&x.max(..).unwrap().is_nan().unwrap()));
    assert!(value::<bool>(&x.min(..).unwrap().is_nan().unwrap()));
    assert_eq!(value::<i64>(&x.argmax(..).unwrap()), 1);
    assert_eq!(value::<i64>(&x.argmin(..).unwrap()), 1);
    let y = floats(dtype, &[1.0, NAN, 5.0]);
    for running in [y.cummax(0), y.cummin(0)] {
        let nan = values::<bool>(&running.unwrap().is_nan().unwrap());
        assert_eq!(nan, [false, true, true]);
    }
    let other = floats(dtype, &[NAN, 1.0, 1.0]);
    for either in [x.maximum(&other), x.minimum(&other), other.maximum(&x)] {
        assert_eq!(
            values::<bool>(&either.unwrap().is_nan().unwrap()),
            [true, true, false]
        );
    }
}

#[rstest]
fn g1_002_the_place_of_a_nan_does_not_matter(
    #[values(DType::F16, DType::BF16, DType::F32, DType::F64)] dtype: DType,
) {
    let check = |x: &Tensor, at: i64| {
        for found in [x.max(..), x.min(..), x.sum(..)] {
            assert!(value::<bool>(&found.unwrap().is_nan().unwrap()));
        }
        assert_eq!(value::<i64>(&x.argmax(..).unwrap()), at);
        assert_eq!(value::<i64>(&x.argmin(..).unwrap()), at);
    };
    check(&floats(dtype, &[3.0, 1.0, 7.0, NAN]), 3);
    check(&floats(dtype, &[NAN, 3.0, 1.0, 7.0]), 0);
    check(&floats(dtype, &[3.0, NAN, 1.0, 7.0]), 1);
    check(&floats(dtype, &[NAN, NAN]), 0);
    for at in [0, 1, 4_999, 8_191, 9_999] {
        let mut many: Vec<f32> = (0..10_000).map(|i| (i % 97) as f32 - 48.0).collect();
        many[at] = NAN;
        let x = floats(dtype, &many);
        check(&x, i64::try_from(at).unwrap());
        // The same elements down a column, and backwards.
        let column = x.reshape([100, 100]).unwrap().t().unwrap();
        assert!(value::<bool>(&column.max(..).unwrap().is_nan().unwrap()));
        check(&x.flip(0).unwrap(), 9_999 - i64::try_from(at).unwrap());
    }
}

#[test]
fn g1_004_subnormals_are_numbers_and_zeros_are_equal() {
    let x = line(&[-1.0f32, -0.0, 1.4e-45]);
    assert_eq!(value::<i64>(&x.argmax(..).unwrap()), 2);
    assert_eq!(value::<i64>(&x.neg().unwrap().argmin(..).unwrap()), 2);
    assert_eq!(value::<f32>(&x.max(..).unwrap()), 1.4e-45);
    let y = line(&[-1.0f64, -0.0, 5e-324]);
    assert_eq!(value::<i64>(&y.argmax(..).unwrap()), 2);
    for zeros in [[-0.0f32, 0.0], [0.0, -0.0]] {
        assert_eq!(value::<i64>(&line(&zeros).argmax(..).unwrap()), 0);
        assert_eq!(value::<i64>(&line(&zeros).argmin(..).unwrap()), 0);
    }
    let subnormals = host().info().capabilities.subnormals;
    assert_eq!(
        subnormals,
        gpu_seam::Subnormals::Kept,
        "what the report says"
    );
}

#[test]
fn g1_005_an_axis_of_length_one_has_its_extreme_at_zero() {
    let x = tensor(&[1i32, 2, 3], &[1, 3]);
    assert_eq!(values::<i64>(&x.argmax(0).unwrap()), [0, 0, 0]);
    assert_eq!(values::<i64>(&x.argmax(1).unwrap()), [2]);
    let column = x.t().unwrap();
    assert_eq!(values::<i64>(&column.argmin(1).unwrap()), [0, 0, 0]);
    let middle = x.reshape([3, 1, 1]).unwrap();
    assert_eq!(values::<i64>(&middle.argmax([1, 2]).unwrap()), [0, 0, 0]);
}

#[test]
fn g1_007_nan_is_found_by_its_bits() {
    let x = line(&[1.0, NAN, -INF, INF, 0.0]);
    let is_nan = x.is_nan().unwrap();
    assert_eq!(values::<bool>(&is_nan), [false, true, false, false, false]);
    assert!(value::<bool>(&is_nan.any(..).unwrap()));
    for dtype in [
        DType::F16,
        DType::BF16,
        DType::F64,
        DType::Complex64,
        DType::Complex128,
    ] {
        let is_nan = x.to_dtype(dtype).unwrap().is_nan().unwrap();
        assert_eq!(values::<bool>(&is_nan), [false, true, false, false, false]);
    }
    let parts = line(&[Complex::new(0.0, NAN), Complex::new(INF, 0.0)]);
    assert_eq!(values::<bool>(&parts.is_nan().unwrap()), [true, false]);
    // Every payload, quiet or signalling, and either sign.
    let payloads: Vec<f32> = [
        0x7f80_0001,
        0x7fc0_0000,
        0x7fff_ffff,
        0xff80_0001,
        0xffc0_0000,
    ]
    .map(f32::from_bits)
    .to_vec();
    assert_eq!(
        values::<bool>(&line(&payloads).is_nan().unwrap()),
        [true; 5]
    );
    assert!(!value::<bool>(
        &line(&[1i32, 2]).is_nan().unwrap().any(..).unwrap()
    ));
}

#[test]
fn g1_010_rows_of_any_width_have_their_own_maximum() {
    for width in [1, 2, 3, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 1000] {
        let mut row = vec![-200.0f32; width];
        row[0] = -199.0;
        let rows = line(&row).broadcast_to([3, width]).unwrap();
        let most = rows.max_keepdim(1).unwrap();
        assert_eq!(values::<f32>(&most), [-199.0; 3], "width {width}");
        let powers = rows.sub(&most).unwrap().exp().unwrap();
        let shares = powers.div(&powers.sum_keepdim(1).unwrap()).unwrap();
        assert!(!value::<bool>(&shares.is_nan().unwrap().any(..).unwrap()));
        assert_close(&values(&shares.sum(1).unwrap()), &[1.0; 3], 1e-5);
        if width == 2 {
            assert_close(
                &values::<f32>(&shares)[..2],
                &[0.731_058_6, 0.268_941_4],
                1e-6,
            );
        }
    }
}

#[test]
fn g1_013_long_sums_are_rounded_once() {
    let sum = |x: Tensor, count: usize| x.broadcast_to([count]).unwrap().sum(..).unwrap();
    let (one16, one_b) = (line(&[f16::ONE]), line(&[bf16::ONE]));
    assert_eq!(
        value::<f16>(&sum(one16.clone(), 20_000)),
        f16::from_f32(20_000.0)
    );
    assert_eq!(
        value::<bf16>(&sum(one_b.clone(), 70_000)),
        bf16::from_f32(70_144.0)
    );
    assert_eq!(value::<f16>(&sum(one16.clone(), 70_000)), f16::INFINITY);
    let mean = one_b.broadcast_to([70_000]).unwrap().mean(..).unwrap();
    assert_eq!(value::<bf16>(&mean), bf16::ONE);
    // Along either axis of a matrix, and running.
    let matrix = one16
        .broadcast_to([4_000, 3])
        .unwrap()
        .contiguous()
        .unwrap();
    assert_eq!(
        values::<f16>(&matrix.sum(0).unwrap()),
        [f16::from_f32(4_000.0); 3]
    );
    let running = one16.broadcast_to([4_000]).unwrap().cumsum(0).unwrap();
    let last = running.narrow(0, 3_999, 1).unwrap();
    assert_eq!(value::<f16>(&last), f16::from_f32(4_000.0));
    // A product's inner dimension is a sum too.
    let row = one16.broadcast_to([1, 4_000]).unwrap();
    let product = row.matmul(&row.t().unwrap()).unwrap();
    assert_eq!(value::<f16>(&product), f16::from_f32(4_000.0));
}

#[test]
fn g1_014_a_mean_does_not_overflow_on_the_way() {
    let mean = |value: f32, count: usize| {
        let x = line(&[f16::from_f32(value)]).broadcast_to([count]).unwrap();
        crate::value::<f16>(&x.mean(..).unwrap()).to_f32()
    };
    assert_eq!(mean(1.0, 100_000), 1.0);
    assert_eq!(mean(500.0, 300), 500.0);
    assert_eq!(mean(65_504.0, 7), 65_504.0);
}

#[test]
fn g1_016_a_mean_of_integers_does_not_wrap() {
    let mean = |x: Tensor| value::<f64>(&x.mean(..).unwrap());
    assert_eq!(mean(line(&[i32::MAX; 2])), 2_147_483_647.0);
    assert_eq!(mean(line(&[1i64 << 62; 2])), 4_611_686_018_427_387_904.0);
    assert_eq!(mean(line(&[250u8; 3])), 250.0);
    assert_eq!(mean(line(&[i32::MIN; 5])), -2_147_483_648.0);
    assert_eq!(mean(line(&[true, false])), 0.5);
}

#[test]
fn g1_017_true_values_are_counted_in_i64() {
    let x = crate::counted(&[5_000]);
    let equal = x.eq(&x).unwrap();
    assert_eq!(value::<i64>(&equal.sum(..).unwrap()), 5_000);
    let bytes = equal.to_dtype(DType::U8).unwrap();
    assert_eq!(value::<i64>(&bytes.sum(..).unwrap()), 5_000);
    assert_eq!(
        value::<i64>(&line(&[200u8; 5_000]).sum(..).unwrap()),
        1_000_000
    );
    let running = equal.cumsum(0).unwrap().narrow(0, 4_999, 1).unwrap();
    assert_eq!(value::<i64>(&running), 5_000);
}

#[test]
fn g1_019_integer_division_never_traps() {
    let x = line(&[1i32, -7]);
    let zero = line(&[0i32]);
    for divided in [x.div(&zero), x.rem(&zero), x.div(0), x.rem(0)] {
        assert_eq!(values::<i32>(&divided.unwrap()), [0, 0]);
    }
    let least = line(&[i32::MIN]);
    assert_eq!(values::<i32>(&least.div(-1).unwrap()), [i32::MIN]);
    assert_eq!(values::<i32>(&least.rem(-1).unwrap()), [0]);
    let wide = line(&[0i64, i64::MIN]);
    assert_eq!(values::<i64>(&wide.div(0).unwrap()), [0, 0]);
    assert_eq!(values::<i64>(&wide.div(-1).unwrap()), [0, i64::MIN]);
    assert_eq!(values::<i8>(&line(&[i8::MIN]).div(-1).unwrap()), [i8::MIN]);
    assert_eq!(values::<u8>(&line(&[9u8]).div(0u8).unwrap()), [0]);
    assert_eq!(values::<u32>(&line(&[9u32]).rem(0u32).unwrap()), [0]);
}

#[test]
fn g1_020_floats_saturate_as_integers() {
    fn cast<T: Element>(x: &Tensor) -> Vec<T> {
        values(&x.to_dtype(T::DTYPE).unwrap())
    }
    let x = line(&[-1.0f32, -266.0, 256.0, 259_999.0, 3.0, 4.0]);
    assert_eq!(cast::<u8>(&x), [0, 0, 255, 255, 3, 4]);
    assert_eq!(cast::<u32>(&line(&[-1.0f32])), [0]);
    let edges = [NAN, INF, -INF, 1e20, -1e20];
    assert_eq!(cast::<i8>(&line(&edges)), [0, 127, -128, 127, -128]);
    assert_eq!(
        cast::<i32>(&line(&edges)),
        [0, i32::MAX, i32::MIN, i32::MAX, i32::MIN]
    );
    assert_eq!(
        cast::<i64>(&line(&edges)),
        [0, i64::MAX, i64::MIN, i64::MAX, i64::MIN]
    );
    for dtype in [DType::F64, DType::F16, DType::BF16] {
        let x = floats(dtype, &[NAN, INF, -INF, -3.9]);
        assert_eq!(cast::<u8>(&x), [0, 255, 0, 0], "{dtype}");
    }
}

#[test]
fn g1_022_wide_floats_truncate_to_wide_integers() {
    let x = line(&[
        1.9427f64,
        -1.9427,
        4_000_000_000.7,
        9.007_199_254_740_993e15,
    ]);
    let wide = x.to_dtype(DType::I64).unwrap();
    assert_eq!(
        values::<i64>(&wide),
        [1, -1, 4_000_000_000, 9_007_199_254_740_992]
    );
}

#[test]
fn g1_023_integers_wrap_as_integers() {
    let narrow = line(&[-1i8, -128]);
    assert_eq!(
        values::<u8>(&narrow.to_dtype(DType::U8).unwrap()),
        [255, 128]
    );
    assert_eq!(
        values::<u32>(&narrow.to_dtype(DType::U32).unwrap()),
        [u32::MAX, u32::MAX - 127]
    );
    let wide = line(&[300i64, -1, 8_589_934_597]);
    assert_eq!(
        values::<u8>(&wide.to_dtype(DType::U8).unwrap()),
        [44, 255, 5]
    );
    assert_eq!(
        values::<i32>(&wide.to_dtype(DType::I32).unwrap()),
        [300, -1, 5]
    );
    assert_eq!(
        values::<i8>(&wide.to_dtype(DType::I8).unwrap()),
        [44, -1, 5]
    );
}

#[test]
fn g1_025_true_is_one_as_a_number() {
    let x = tensor(&[1.0f32, 0.0, 3.0, 0.0, 0.0, 900.0], &[2, 3]);
    let positive = x.gt(0.0).unwrap();
    assert_eq!(
        values::<i32>(&positive.to_dtype(DType::I32).unwrap()),
        [1, 0, 1, 0, 0, 1]
    );
    let floats = positive.to_dtype(DType::F32).unwrap();
    assert_eq!(values::<f32>(&floats), [1.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
    for made in [positive.not(), positive.add(true), positive.mul(&positive)] {
        let bytes = values::<u8>(&made.unwrap().to_dtype(DType::U8).unwrap());
        assert!(bytes.iter().all(|byte| *byte <= 1));
    }
}

#[test]
fn g1_026_whatever_is_not_zero_is_true() {
    let stored = |x: Tensor| -> Vec<u8> {
        let flags = x.to_dtype(DType::Bool).unwrap();
        // The very bytes on the device, not what a host type would make of them.
        let mut bytes = vec![9; flags.elements()];
        let lane = flags.device().lane::<gpu_host::Host>().unwrap();
        let storage = flags.storage().typed().unwrap();
        lane.read(&storage, 0, &mut bytes).unwrap();
        bytes
    };
    assert_eq!(
        stored(line(&[-1.0f32, 0.5, NAN, 0.0, -0.0])),
        [1, 1, 1, 0, 0]
    );
    assert_eq!(stored(line(&[-1i32, 256, 0])), [1, 1, 0]);
    assert_eq!(stored(line(&[1i64 << 32, 0])), [1, 0]);
    assert_eq!(
        stored(line(&[Complex32::new(0.0, 2.0), Complex32::new(-0.0, 0.0)])),
        [1, 0]
    );
    assert_eq!(stored(line(&[f16::from_bits(1), f16::NEG_ZERO])), [1, 0]);
}

#[test]
fn g1_028_a_nan_stays_one_in_a_narrower_type() {
    let x = [0x7f80_0001, 0xffc0_0000, 0x7f7f_ffff, 0x7f80_0000].map(f32::from_bits);
    let narrow = values::<bf16>(&line(&x).to_dtype(DType::BF16).unwrap());
    assert!(narrow[0].is_nan() && narrow[1].is_nan());
    assert_eq!([narrow[2].to_bits(), narrow[3].to_bits()], [0x7f80, 0x7f80]);
    let half = values::<f16>(&line(&x).to_dtype(DType::F16).unwrap());
    assert!(half[0].is_nan() && half[1].is_nan());
    assert_eq!([half[2], half[3]], [f16::INFINITY; 2]);
    let wide = line(&[f64::from_bits(0x7ff0_0000_0000_0001)]);
    for dtype in [DType::F32, DType::F16, DType::BF16] {
        let narrow = wide.to_dtype(dtype).unwrap();
        assert_eq!(values::<bool>(&narrow.is_nan().unwrap()), [true], "{dtype}");
    }
}

#[test]
fn g1_029_tanh_is_never_nan_for_a_number() {
    let x = [40.0, 43.9, 44.4, 100.0, 1000.0, -1000.0, INF, -INF, NAN];
    let expected = [1.0, 1.0, 1.0, 1.0, 1.0, -1.0, 1.0, -1.0, NAN];
    assert_close(&values(&line(&x).tanh().unwrap()), &expected, 0.0);
    for dtype in [DType::F16, DType::BF16, DType::F64] {
        let tanh = floats(dtype, &x).tanh().unwrap();
        assert_close(&values(&tanh.to_dtype(DType::F32).unwrap()), &expected, 0.0);
    }
    // Large real parts of complex numbers too.
    let z = line(&[Complex32::new(1000.0, 1.0), Complex32::new(-500.0, 2.0)]);
    let tanh = values::<Complex32>(&z.tanh().unwrap());
    assert_eq!([tanh[0].re, tanh[1].re], [1.0, -1.0]);
    assert!(tanh.iter().all(|z| z.im.abs() < 1e-30));
}

#[test]
fn g1_034_complex_division_is_scaled() {
    let divide = |a: Complex32, b: Complex32| values::<Complex32>(&line(&[a]).div(b).unwrap())[0];
    let c = Complex32::new;
    assert_eq!(divide(c(0.0, 0.0), c(1e-36, 0.0)), c(0.0, 0.0));
    assert_eq!(divide(c(1e20, 1e20), c(1e20, 1e20)), c(1.0, 0.0));
    let z = line(&[c(-501.0, -1e20)]);
    let modulus = z.abs().unwrap().to_dtype(DType::Complex64).unwrap();
    let unit = values::<Complex32>(&z.div(&modulus).unwrap())[0];
    assert_close(&[unit.re, unit.im], &[-5.01e-18, -1.0], 1e-6);
    let recip = values::<Complex32>(&line(&[c(3e-30, 4e-30)]).recip().unwrap())[0];
    assert_close(&[recip.re, recip.im], &[1.2e29, -1.6e29], 1e-6);
    let wide = |re, im| Complex::new(re, im);
    let (big, small) = (wide(1e300, 1e300), wide(1e-300, -1e-300));
    let same = line(&[big, small]).div(&line(&[big, small])).unwrap();
    for one in values::<Complex<f64>>(&same) {
        assert!((one - wide(1.0, 0.0)).norm() < 1e-15, "{one}");
    }
}

#[test]
fn g1_035_a_modulus_does_not_overflow_on_the_way() {
    let x = line(&[Complex32::new(1e20, 1e20), Complex32::new(2.5e-20, -3e-20)]);
    assert_close(
        &values(&x.abs().unwrap()),
        &[2f32.sqrt() * 1e20, 3.905_125e-20],
        1e-6,
    );
    let wide = line(&[Complex::new(1.0, 1.797e308), Complex::new(3e-300, 4e-300)]);
    let abs = values::<f64>(&wide.abs().unwrap());
    assert_eq!(abs[0], 1.797e308);
    assert!((abs[1] / 5e-300 - 1.0).abs() < 1e-15);
}
