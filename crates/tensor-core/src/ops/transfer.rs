//! To the host and to other devices: blocking, or pending.

use crate::device::Device;
use crate::dtype::{Element, ElementBytes};
use crate::error::{Described, Error};
use crate::tensor::Tensor;
use gpu_dispatch::{HostBox, Instant, TransferReport};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

impl Tensor {
    /// The elements in row-major order. Waits for the device; one allocation on the host.
    ///
    /// # Errors
    /// `T` is not this tensor's dtype, what failed on the way to this tensor, out of memory, a
    /// failed transfer.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>, Error> {
        const OP: &str = "to_vec";
        self.is_of::<T>(OP)?;
        let source = self.packed(OP)?;
        let mut memory = self.host_memory::<T>(OP)?;
        source.read_into(OP, bytemuck::cast_slice_mut(&mut memory))?;
        Ok(T::from_memory(memory))
    }

    /// The one element there is. Waits for the device.
    ///
    /// # Errors
    /// As for [`to_vec`](Self::to_vec), and another number of elements than one.
    #[doc(alias = "item")]
    pub fn to_scalar<T: Element>(&self) -> Result<T, Error> {
        const OP: &str = "to_scalar";
        self.is_of::<T>(OP)?;
        if self.elements() != 1 {
            let detail = format!("{} elements are not one", self.elements());
            return Err(self.refused(OP, detail));
        }
        // The largest element has 16 bytes.
        let mut bytes = [0u8; 16];
        let bytes = &mut bytes[..T::DTYPE.size()];
        self.read_into(OP, bytes)?;
        let mut bits = [0u8; 16];
        bits[..bytes.len()].copy_from_slice(bytes);
        let scalar = gpu_seam::Scalar::from_bits(T::DTYPE, u128::from_le_bytes(bits));
        T::from_scalar(scalar).ok_or_else(|| self.refused(OP, "the element is not of its dtype"))
    }

    /// Starts to bring the elements to the host, and returns. They can be polled, waited for or
    /// awaited; dropping or forgetting the pending transfer is harmless.
    ///
    /// # Errors
    /// As for [`to_vec`](Self::to_vec), as far as it is known by now.
    pub fn to_vec_pending<T: Element>(&self) -> Result<Pending<Vec<T>>, Error> {
        const OP: &str = "to_vec_pending";
        self.is_of::<T>(OP)?;
        // First what the device may refuse: a view may stand for more than any host could hold.
        let source = self.packed(OP)?;
        let memory = self.host_memory::<T>(OP)?;
        source
            .download(OP, T::from_memory(memory))
            .map_err(Error::from)
    }

    /// As [`to_vec_pending`](Self::to_vec_pending), into memory of the caller's, which is as long
    /// as this tensor and comes back with the outcome, whichever it is.
    ///
    /// # Errors
    /// As there, with the memory.
    pub fn to_vec_pending_into<T: Element>(
        &self,
        memory: Vec<T>,
    ) -> Result<Pending<Vec<T>>, Rejected<Vec<T>>> {
        const OP: &str = "to_vec_pending_into";
        let fits = self.is_of::<T>(OP).and_then(|()| {
            if memory.len() == self.elements() {
                return Ok(());
            }
            let detail = format!(
                "memory of {} elements is not as long as the tensor, {}",
                memory.len(),
                self.elements()
            );
            Err(self.refused(OP, detail))
        });
        match fits {
            Ok(()) => self.download(OP, memory),
            Err(cause) => Err(Rejected {
                value: memory,
                cause,
            }),
        }
    }

    /// Waits until the device has computed this tensor.
    ///
    /// # Errors
    /// What failed on the way to it.
    pub fn wait(&self) -> Result<(), Error> {
        let done = self.storage().wait();
        done.map_err(|cause| Error::engine("wait", cause).with_operands([self.describe()]))
    }

    /// Whether the device has computed this tensor. Does not wait.
    ///
    /// # Errors
    /// What failed on the way to it.
    pub fn is_ready(&self) -> Result<bool, Error> {
        let done = self.storage().poll();
        done.map_err(|cause| Error::engine("is_ready", cause).with_operands([self.describe()]))
    }

    /// This tensor's readiness, to be polled, waited for or awaited: after
    /// [`from_slice`](Self::from_slice) it is the pending upload.
    ///
    /// # Errors
    /// `Closed` or `Broken`.
    pub fn ready(&self) -> Result<Pending<()>, Error> {
        const OP: &str = "ready";
        match self.device().face().ready(self.storage()) {
            Ok(inner) => Ok(Pending {
                inner,
                op: OP,
                of: self.describe(),
            }),
            Err(cause) => Err(Error::engine(OP, cause).with_operands([self.describe()])),
        }
    }

    /// This tensor on another device, or on another lane of its own: then nothing is copied, and
    /// operations on the result go to that lane.
    ///
    /// # Errors
    /// What failed on the way to this tensor, out of memory, a failed transfer.
    #[doc(alias = "to")]
    pub fn to_device(&self, device: &Device) -> Result<Self, Error> {
        self.transfer("to_device", device).map(|(tensor, _)| tensor)
    }

    /// As [`to_device`](Self::to_device), with the route that was taken and why.
    ///
    /// # Errors
    /// As there.
    pub fn to_device_reported(&self, device: &Device) -> Result<(Self, TransferReport), Error> {
        self.transfer("to_device_reported", device)
    }

    fn transfer(&self, op: &'static str, device: &Device) -> Result<(Self, TransferReport), Error> {
        let here = self.device().same_engine(device);
        // Another device gets the elements and not what else is in the storage.
        let source = match !here && self.bytes() != self.storage().len() {
            true => self.copied(op, self.dtype())?,
            false if here => self.clone(),
            false => self.packed(op)?,
        };
        let received = device
            .face()
            .receive(source.device().face(), source.storage());
        match received {
            Ok((storage, report)) => {
                let (dtype, layout) = (self.dtype(), source.layout().clone());
                let tensor = Self::from_parts(device.clone(), storage, dtype, layout);
                Ok((tensor, report))
            }
            Err(cause) => {
                let mut there = self.describe();
                device.name().clone_into(&mut there.device);
                Err(Error::engine(op, cause).with_operands([self.describe(), there]))
            }
        }
    }

    /// The elements one after the other: this tensor, or a copy.
    fn packed(&self, op: &'static str) -> Result<Self, Error> {
        match self.is_contiguous() {
            true => Ok(self.clone()),
            false => self.copied(op, self.dtype()),
        }
    }

    /// The bytes of the elements alone. The engine has checked that they are addressable wherever
    /// they are stored apart.
    fn bytes(&self) -> usize {
        self.elements().saturating_mul(self.dtype().size())
    }

    /// Host memory for all elements.
    fn host_memory<T: Element>(&self, op: &'static str) -> Result<Vec<T::Bytes>, Error> {
        <T::Bytes as ElementBytes>::zeros(self.elements()).ok_or_else(|| {
            let detail = format!("the host has no memory for {} elements", self.elements());
            self.refused(op, detail)
        })
    }

    /// Reads elements from the first on; they lie one after the other.
    fn read_into(&self, op: &'static str, into: &mut [u8]) -> Result<(), Error> {
        let at = self.layout().offset() * self.dtype().size();
        let done = self.device().face().read(self.storage(), at, into);
        done.map_err(|cause| Error::engine(op, cause).with_operands([self.describe()]))
    }

    fn download<T: Element>(
        &self,
        op: &'static str,
        memory: Vec<T>,
    ) -> Result<Pending<Vec<T>>, Rejected<Vec<T>>> {
        let source = match self.packed(op) {
            Ok(source) => source,
            Err(cause) => {
                return Err(Rejected {
                    value: memory,
                    cause,
                });
            }
        };
        let at = source.layout().offset() * self.dtype().size();
        let memory: HostBox = Box::new(T::into_memory(memory));
        let of = self.describe();
        match source
            .device()
            .face()
            .download(source.storage(), at, memory)
        {
            Ok(inner) => Ok(Pending { inner, op, of }),
            Err(rejected) => Err(rejection(op, of, rejected)),
        }
    }

    fn is_of<T: Element>(&self, op: &'static str) -> Result<(), Error> {
        if T::DTYPE == self.dtype() {
            return Ok(());
        }
        let detail = format!(
            "{} elements are not read as {}: cast with to_dtype first",
            self.dtype(),
            T::DTYPE
        );
        Err(self.refused(op, detail))
    }

    fn refused(&self, op: &'static str, detail: impl Into<String>) -> Error {
        Error::invalid(op, detail).with_operands([self.describe()])
    }
}

/// Something that is not there yet: `Vec<T>` on its way to the host, or the readiness of a tensor.
///
/// Dropping or forgetting it loses the result and nothing else.
#[must_use = "a pending result is seen by polling, waiting or awaiting it"]
pub struct Pending<T: Landing> {
    inner: gpu_dispatch::Pending<T::Raw>,
    op: &'static str,
    of: Described,
}

/// What a [`Pending`] becomes: `Vec` of an [`Element`], or nothing but readiness.
pub trait Landing: Sized + sealed::Sealed {
    /// What the engine hands over.
    type Raw: 'static;

    /// The value in it.
    fn land(raw: Self::Raw) -> Self;
}

mod sealed {
    #[expect(unnameable_types, reason = "sealed: nobody outside may implement it")]
    pub trait Sealed {}
    impl Sealed for () {}
    impl<T: crate::Element> Sealed for Vec<T> {}
}

impl Landing for () {
    type Raw = ();

    fn land((): ()) {}
}

impl<T: Element> Landing for Vec<T> {
    type Raw = HostBox;

    fn land(raw: HostBox) -> Self {
        // The engine hands back what it was given, which is of this type.
        let memory = raw.into_any().downcast::<Vec<T::Bytes>>();
        T::from_memory(memory.map(|memory| *memory).unwrap_or_default())
    }
}

/// A refusal or failure that hands back what was given.
#[derive(thiserror::Error)]
#[error("{cause}")]
pub struct Rejected<T> {
    /// What was given.
    pub value: T,
    /// Why it failed.
    #[source]
    pub cause: Error,
}

impl<T: Landing> Pending<T> {
    /// Whether the outcome is there, so that [`wait`](Self::wait) would not block.
    #[must_use]
    pub fn poll(&self) -> bool {
        self.inner.poll()
    }

    /// Waits for the outcome.
    ///
    /// # Errors
    /// What failed, with the memory.
    pub fn wait(self) -> Result<T, Rejected<T>> {
        let Self { inner, op, of } = self;
        landed(op, of, inner.wait())
    }

    /// Waits for the outcome until `deadline`; then the pending result comes back as it is.
    ///
    /// # Errors
    /// The pending result itself, when the deadline passed first.
    pub fn wait_until(self, deadline: Instant) -> Result<Result<T, Rejected<T>>, Self> {
        let Self { inner, op, of } = self;
        match inner.wait_until(deadline) {
            Ok(outcome) => Ok(landed(op, of, outcome)),
            Err(inner) => Err(Self { inner, op, of }),
        }
    }
}

impl<T: Landing> Future for Pending<T> {
    type Output = Result<T, Rejected<T>>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let outcome = Pin::new(&mut this.inner).poll(context);
        outcome.map(|outcome| landed(this.op, this.of.clone(), outcome))
    }
}

fn landed<T: Landing>(
    op: &'static str,
    of: Described,
    outcome: gpu_dispatch::Outcome<T::Raw>,
) -> Result<T, Rejected<T>> {
    match outcome {
        Ok(raw) => Ok(T::land(raw)),
        Err(rejected) => Err(rejection(op, of, rejected)),
    }
}

fn rejection<T: Landing>(
    op: &'static str,
    of: Described,
    rejected: gpu_dispatch::Rejected<T::Raw>,
) -> Rejected<T> {
    Rejected {
        value: T::land(rejected.value),
        cause: Error::engine(op, rejected.cause).with_operands([of]),
    }
}

impl<T> From<Rejected<T>> for Error {
    fn from(rejected: Rejected<T>) -> Self {
        rejected.cause
    }
}

impl<T> fmt::Debug for Rejected<T> {
    /// The cause; what was given may be gigabytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rejected")
            .field("cause", &self.cause)
            .finish_non_exhaustive()
    }
}

impl<T: Landing> fmt::Debug for Pending<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pending({} of {})", self.op, self.of)
    }
}
