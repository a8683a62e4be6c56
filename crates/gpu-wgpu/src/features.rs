//! The optional features of an adapter that kernels use.
//!
//! Promises that a kernel's text depends on these and on nothing else of the adapter, so that the
//! cache of pipelines may be keyed by them.

/// Which optional features a device was opened with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Features {
    /// Arithmetic of f64, and of complex128: `SHADER_F64`, with `SHADER_INT64` to reach the bits.
    pub(crate) f64: bool,
    /// Whether a workgroup's invocations run side by side and share memory that is nearer than the
    /// device's: not so on a processor, where each barrier is a change of context.
    pub(crate) tiles: bool,
}

impl Features {
    /// What WebGPU itself cannot be asked for.
    const F64: wgpu::Features = wgpu::Features::SHADER_F64.union(wgpu::Features::SHADER_INT64);

    /// Those of an adapter.
    pub(crate) fn of(adapter: &wgpu::Adapter) -> Self {
        Self {
            f64: adapter.features().contains(Self::F64),
            tiles: adapter.get_info().device_type != wgpu::DeviceType::Cpu,
        }
    }

    /// What must be asked of the device.
    pub(crate) fn required(self) -> wgpu::Features {
        if self.f64 {
            Self::F64
        } else {
            wgpu::Features::empty()
        }
    }

    /// Their names, as wgpu has them.
    pub(crate) fn names(self) -> Vec<&'static str> {
        if self.f64 {
            vec!["SHADER_F64", "SHADER_INT64"]
        } else {
            Vec::new()
        }
    }
}
