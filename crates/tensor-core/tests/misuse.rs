//! G6-161: every public operation, with whatever arguments: an answer or an error that names the
//! operation, never a panic. The arguments come from a seed.

#![expect(clippy::unwrap_used, reason = "tests")]

use half::{bf16, f16};
use num_complex::Complex;
use tensor_core::{
    Axes, DType, Device, Error, ErrorKind, Extents, Number, Shape, Slice, Tensor, dtype_from_name,
};

/// Steele, Lea and Flood's SplitMix64.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.roll() % end as u64).unwrap()
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    fn dtype(&mut self) -> DType {
        self.one(&DType::ALL)
    }

    /// Mostly an axis that may be there.
    fn axis(&mut self) -> isize {
        self.one(&[0, 1, 2, -1, -2, -3, 3, -4, 0, 1, -1, isize::MAX, isize::MIN])
    }

    fn axes(&mut self) -> Axes {
        match self.below(4) {
            0 => Axes::from(..),
            count => Axes::from((1..count).map(|_| self.axis()).collect::<Vec<_>>()),
        }
    }

    fn dims(&mut self) -> Vec<usize> {
        const SIZES: [usize; 14] = [
            0,
            1,
            1,
            2,
            2,
            3,
            3,
            4,
            5,
            6,
            7,
            1 << 40,
            usize::MAX,
            1 << 63,
        ];
        let rank = self.one(&[0, 1, 1, 2, 2, 2, 3, 3, 4, 65]);
        (0..rank).map(|_| self.one(&SIZES)).collect()
    }

    fn extents(&mut self) -> Extents {
        const SIZES: [isize; 10] = [-1, 1, 2, 3, 4, 6, 12, 0, -5, isize::MAX];
        let rank = self.below(4);
        Extents::from((0..rank).map(|_| self.one(&SIZES)).collect::<Vec<_>>())
    }

    fn position(&mut self) -> usize {
        self.one(&[0, 1, 2, 3, 4, usize::MAX])
    }

    fn slice(&mut self) -> Slice {
        let mut end = || self.one(&[None, Some(0), Some(1), Some(-1), Some(3), Some(isize::MIN)]);
        let (start, stop) = (end(), end());
        let step = self.one(&[1, 1, 2, -1, -3, 0, isize::MIN, isize::MAX]);
        Slice::new(start, stop, step)
    }

    fn number(&mut self) -> Number {
        match self.below(8) {
            0 => true.into(),
            1 => Number::from(-3),
            2 => Number::from(u64::MAX),
            3 => Number::from(1e300),
            4 => Number::from(f64::NAN),
            5 => Complex::new(1.0, -2.0).into(),
            6 => Number::from(2),
            _ => Number::from(0.5),
        }
    }
}

/// Tensors of all dtypes and several shapes, views among them, on two devices.
struct Stock {
    devices: [Device; 2],
    tensors: Vec<Tensor>,
}

impl Stock {
    fn new() -> Self {
        let devices = [Device::host().unwrap(), Device::open_new("host").unwrap()];
        let mut tensors = Vec::new();
        for (at, device) in devices.iter().enumerate() {
            for dtype in DType::ALL {
                for dims in [
                    &[][..],
                    &[3],
                    &[3, 4],
                    &[4, 3],
                    &[2, 3, 4],
                    &[0, 3],
                    &[1, 1],
                ] {
                    // Few on the second device, so that most operands meet on one.
                    if at == 1 && dims.len() != 2 {
                        continue;
                    }
                    let ones = Tensor::ones(dims, dtype, device).unwrap();
                    tensors.push(ones.flip(..).unwrap());
                    tensors.push(ones);
                }
                let line = Tensor::ones([3], dtype, device).unwrap();
                let wide = line.broadcast_to([5, 3]).unwrap();
                tensors.push(wide.transpose(0, 1).unwrap());
            }
        }
        Self { devices, tensors }
    }

    fn tensor(&self, dice: &mut Dice) -> &Tensor {
        &self.tensors[dice.below(self.tensors.len())]
    }

    /// Mostly a tensor that goes with `other`.
    fn partner(&self, dice: &mut Dice, other: &Tensor) -> &Tensor {
        let close =
            |tensor: &&Tensor| tensor.dtype() == other.dtype() && tensor.device() == other.device();
        for _ in 0..dice.below(60) {
            let tensor = self.tensor(dice);
            if close(&tensor) {
                return tensor;
            }
        }
        self.tensor(dice)
    }

    fn index(&self, dice: &mut Dice) -> Tensor {
        let values = [dice.axis() as i64, 1, 0];
        let index = Tensor::from_slice(&values, [3], &self.devices[0]).unwrap();
        match dice.below(4) {
            0 => self.tensor(dice).clone(),
            1 => index.reshape([1, 3]).unwrap(),
            2 => index.to_dtype(dice.dtype()).unwrap(),
            _ => index,
        }
    }

    fn device(&self, dice: &mut Dice) -> &Device {
        &self.devices[dice.below(2)]
    }
}

/// What is made small is looked at; what would be huge is left alone.
fn look(tensor: &Tensor) -> Result<(), Error> {
    tensor.wait()?;
    if tensor.elements() > 1 << 16 {
        return Ok(());
    }
    match tensor.dtype() {
        DType::Bool => tensor.to_vec::<bool>().map(drop),
        DType::F32 => tensor.to_vec::<f32>().map(drop),
        DType::I64 => tensor
            .to_vec_pending::<i64>()?
            .wait()
            .map(drop)
            .map_err(Error::from),
        DType::F16 => tensor.to_vec::<f16>().map(drop),
        DType::BF16 => tensor.to_vec::<bf16>().map(drop),
        _ => tensor.copy()?.wait(),
    }
}

type Play = fn(&Stock, &mut Dice) -> Result<(), Error>;

macro_rules! plays {
    ($($name:ident: |$stock:ident, $dice:ident, $x:ident| $call:expr;)+) => {
        &[$((stringify!($name), |$stock, $dice| {
            let $x = $stock.tensor($dice);
            look(&$call?)
        }),)+]
    };
}

/// Every operation that gives a tensor.
const PLAYS: &[(&str, Play)] = plays! {
    neg: |stock, dice, x| x.neg();
    abs: |stock, dice, x| x.abs();
    exp: |stock, dice, x| x.exp();
    log: |stock, dice, x| x.log();
    sqrt: |stock, dice, x| x.sqrt();
    tanh: |stock, dice, x| x.tanh();
    recip: |stock, dice, x| x.recip();
    conj: |stock, dice, x| x.conj();
    is_nan: |stock, dice, x| x.is_nan();
    not: |stock, dice, x| x.not();
    add: |stock, dice, x| x.add(stock.partner(dice, x));
    sub: |stock, dice, x| x.sub(stock.partner(dice, x));
    mul: |stock, dice, x| x.mul(dice.number());
    div: |stock, dice, x| x.div(stock.partner(dice, x));
    rem: |stock, dice, x| x.rem(stock.partner(dice, x));
    minimum: |stock, dice, x| x.minimum(dice.number());
    maximum: |stock, dice, x| x.maximum(stock.partner(dice, x));
    eq: |stock, dice, x| x.eq(stock.partner(dice, x));
    ne: |stock, dice, x| x.ne(dice.number());
    lt: |stock, dice, x| x.lt(stock.partner(dice, x));
    le: |stock, dice, x| x.le(stock.partner(dice, x));
    gt: |stock, dice, x| x.gt(dice.number());
    ge: |stock, dice, x| x.ge(stock.partner(dice, x));
    where_cond: |stock, dice, x| {
        let other = stock.partner(dice, x);
        match dice.below(3) {
            0 => x.where_cond(dice.number(), dice.number()),
            1 => x.where_cond(dice.number(), other),
            _ => other.is_nan()?.where_cond(x, other),
        }
    };
    clamp: |stock, dice, x| x.clamp(dice.number(), dice.number());
    to_dtype: |stock, dice, x| x.to_dtype(dice.dtype());
    contiguous: |stock, dice, x| x.contiguous();
    copy: |stock, dice, x| x.copy();
    reshape: |stock, dice, x| x.reshape(dice.extents());
    view: |stock, dice, x| x.view(dice.extents());
    flatten: |stock, dice, x| x.flatten(dice.axis(), dice.axis());
    permute: |stock, dice, x| x.permute(dice.axes());
    transpose: |stock, dice, x| x.transpose(dice.axis(), dice.axis());
    t: |stock, dice, x| x.t();
    narrow: |stock, dice, x| x.narrow(dice.axis(), dice.position(), dice.position());
    slice: |stock, dice, x| x.slice(dice.axis(), dice.slice());
    broadcast_to: |stock, dice, x| x.broadcast_to(dice.dims());
    expand: |stock, dice, x| x.expand(dice.extents());
    squeeze: |stock, dice, x| x.squeeze(dice.axes());
    unsqueeze: |stock, dice, x| x.unsqueeze(dice.axis());
    flip: |stock, dice, x| x.flip(dice.axes());
    diagonal: |stock, dice, x| x.diagonal(dice.axis(), dice.axis(), dice.axis());
    sum: |stock, dice, x| x.sum(dice.axes());
    sum_keepdim: |stock, dice, x| x.sum_keepdim(dice.axes());
    prod: |stock, dice, x| x.prod(dice.axes());
    prod_keepdim: |stock, dice, x| x.prod_keepdim(dice.axes());
    mean: |stock, dice, x| x.mean(dice.axes());
    mean_keepdim: |stock, dice, x| x.mean_keepdim(dice.axes());
    min: |stock, dice, x| x.min(dice.axes());
    min_keepdim: |stock, dice, x| x.min_keepdim(dice.axes());
    max: |stock, dice, x| x.max(dice.axes());
    max_keepdim: |stock, dice, x| x.max_keepdim(dice.axes());
    any: |stock, dice, x| x.any(dice.axes());
    any_keepdim: |stock, dice, x| x.any_keepdim(dice.axes());
    all: |stock, dice, x| x.all(dice.axes());
    all_keepdim: |stock, dice, x| x.all_keepdim(dice.axes());
    argmin: |stock, dice, x| x.argmin(dice.axes());
    argmin_keepdim: |stock, dice, x| x.argmin_keepdim(dice.axes());
    argmax: |stock, dice, x| x.argmax(dice.axes());
    argmax_keepdim: |stock, dice, x| x.argmax_keepdim(dice.axes());
    cumsum: |stock, dice, x| x.cumsum(dice.axis());
    cumprod: |stock, dice, x| x.cumprod(dice.axis());
    cummin: |stock, dice, x| x.cummin(dice.axis());
    cummax: |stock, dice, x| x.cummax(dice.axis());
    matmul: |stock, dice, x| x.matmul(stock.partner(dice, x));
    addmm: |stock, dice, x| {
        let (a, b) = (stock.partner(dice, x), stock.partner(dice, x));
        x.addmm(a, b, dice.number(), dice.number())
    };
    cat: |stock, dice, x| {
        let parts = [x, stock.partner(dice, x), stock.partner(dice, x)];
        Tensor::cat(&parts[..dice.below(4)], dice.axis())
    };
    stack: |stock, dice, x| {
        let parts = [x, stock.partner(dice, x), x];
        Tensor::stack(&parts[..dice.below(4)], dice.axis())
    };
    index_select: |stock, dice, x| x.index_select(dice.axis(), &stock.index(dice));
    gather: |stock, dice, x| x.gather(dice.axis(), &stock.index(dice));
    scatter: |stock, dice, x| {
        let index = stock.index(dice);
        let src = Tensor::ones(index.dims(), x.dtype(), &stock.devices[0])?;
        let other = stock.partner(dice, x);
        let src = dice.one(&[&src, &src, other]);
        x.scatter(dice.axis(), &index, src)
    };
    scatter_add: |stock, dice, x| {
        let index = stock.index(dice);
        let src = Tensor::ones(index.dims(), x.dtype(), &stock.devices[0])?;
        x.scatter_add(dice.axis(), &index, &src)
    };
    zeros: |stock, dice, _x| Tensor::zeros(dice.dims(), dice.dtype(), stock.device(dice));
    ones: |stock, dice, _x| Tensor::ones(dice.dims(), dice.dtype(), stock.device(dice));
    full: |stock, dice, _x| Tensor::full(dice.dims(), 2.5f32, stock.device(dice));
    scalar: |stock, dice, _x| Tensor::scalar(7i8, stock.device(dice));
    rand: |stock, dice, _x| {
        let (dims, dtype) = (dice.dims(), dice.dtype());
        Tensor::rand(dims, dtype, dice.roll(), stock.device(dice))
    };
    randn: |stock, dice, _x| {
        let (dims, dtype) = (dice.dims(), dice.dtype());
        Tensor::randn(dims, dtype, dice.roll(), stock.device(dice))
    };
    from_slice: |stock, dice, _x| {
        Tensor::from_slice(&[true; 6], Shape::from(dice.dims()), stock.device(dice))
    };
    from_vec: |stock, dice, _x| Tensor::from_vec(vec![1u32; 6], dice.dims(), stock.device(dice));
    arange: |stock, dice, _x| {
        let stop = dice.one(&[0.0, 5.0, -5.0, 1e15, f64::NAN, f64::INFINITY]);
        Tensor::arange(0.0, stop, stock.device(dice))
    };
    arange_step: |stock, dice, _x| {
        let number = |dice: &mut Dice| dice.one(&[0, 1, -2, 9, i64::MAX, i64::MIN]);
        let (start, stop, step) = (number(dice), number(dice), number(dice));
        Tensor::arange_step(start, stop, step, stock.device(dice))
    };
    to_device: |stock, dice, x| x.to_device(stock.device(dice));
    to_device_reported: |stock, dice, x| {
        x.to_device_reported(stock.device(dice)).map(|(tensor, _)| tensor)
    };
    to_vec: |stock, dice, x| x.to_vec::<i32>().map(|_| x.clone());
    to_scalar: |stock, dice, x| x.to_scalar::<f64>().map(|_| x.clone());
    to_vec_pending: |stock, dice, x| {
        x.to_vec_pending::<u8>()?.wait().map(|_| x.clone()).map_err(Error::from)
    };
    to_vec_pending_into: |stock, dice, x| {
        let memory = vec![false; dice.position().min(12)];
        x.to_vec_pending_into(memory)?.wait().map(|_| x.clone()).map_err(Error::from)
    };
    ready: |stock, dice, x| x.ready()?.wait().map(|()| x.clone()).map_err(Error::from);
    is_ready: |stock, dice, x| x.is_ready().map(|_| x.clone());
    dim: |stock, dice, x| x.dim(dice.axis()).map(|_| x.clone());
    dtype_from_name: |stock, dice, x| {
        dtype_from_name(dice.one(&["f32", "float", "", "∞"])).map(|_| x.clone())
    };
    open: |stock, dice, x| {
        Device::open(dice.one(&["host", "host:1", "host:x", ":", "", "cuda:0", "∞:-1"]))
            .map(|_| x.clone())
    };
    operators: |stock, dice, x| {
        let other = stock.partner(dice, x);
        ((x + other)? * 2.0)?.neg()
    };
};

#[test]
fn g6_161_every_operation_answers_whatever_it_is_given() {
    let stock = Stock::new();
    let mut dice = Dice(161);
    let mut tally = vec![(0u32, 0u32); PLAYS.len()];
    let mut kinds = Vec::new();
    for round in 0..10_000 {
        let at = round % PLAYS.len();
        let (name, play) = PLAYS[at];
        match play(&stock, &mut dice) {
            Ok(()) => tally[at].0 += 1,
            Err(error) => {
                tally[at].1 += 1;
                kinds.push(error.kind());
                let text = error.to_string();
                let (op, detail) = text.split_once(": ").unwrap_or_default();
                assert!(
                    op.starts_with(error.op()) && !detail.is_empty(),
                    "{name}: {text}"
                );
                assert!(
                    text.len() < 2000,
                    "{name}: an error of {} bytes",
                    text.len()
                );
            }
        }
    }
    for ((name, _), (done, refused)) in PLAYS.iter().zip(&tally) {
        assert!(
            *done > 0,
            "{name} was never served: the arguments test nothing"
        );
        // These take nothing that could be wrong.
        let total = [
            "contiguous",
            "copy",
            "scalar",
            "ready",
            "is_ready",
            "conj",
            "is_nan",
        ];
        let cast = ["abs", "to_dtype", "to_device", "to_device_reported"];
        let serves_all = total.contains(name) || cast.contains(name);
        assert_eq!(*refused == 0, serves_all, "{name}: {refused} refusals");
    }
    for kind in [
        ErrorKind::Invalid,
        ErrorKind::Index,
        ErrorKind::ForeignDomain,
        ErrorKind::OutOfMemory,
        ErrorKind::Unavailable,
    ] {
        assert!(kinds.contains(&kind), "no error was of kind {kind:?}");
    }
    // Both devices are as good as before.
    for device in &stock.devices {
        let sum = Tensor::ones([1000], DType::F32, device)
            .unwrap()
            .sum(..)
            .unwrap();
        assert_eq!(sum.to_scalar::<f32>().unwrap(), 1000.0);
    }
}
