//! Compiled kernels, made when first used and kept.
//!
//! Promises that a kernel is compiled once for a device, without holding a lock that others need
//! meanwhile. The cache is the device's own, so the features that it was opened with are part of
//! the key without being written in it. Knows nothing of arguments.
//!
//! # Safety
//!
//! Kernels are compiled without the bounds checks and loop bounds that wgpu can add. Every position
//! that a kernel computes lies in its argument, since gpu-dispatch has checked the views, indices
//! from memory are compared with the dimension before they are used, and every loop counts to a
//! number that does not change.

#![expect(
    unsafe_code,
    reason = "compiles kernels without run-time checks; see # Safety"
)]

use crate::bindings::Bindings;
use crate::kernels::Kernel;
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

/// The compiled kernels of a device.
#[derive(Default)]
pub(crate) struct Pipelines {
    made: RwLock<HashMap<Kernel, wgpu::ComputePipeline>>,
}

impl Pipelines {
    /// The pipeline of `kernel`, which has that many storage buffers.
    pub(crate) fn get(
        &self,
        device: &wgpu::Device,
        bindings: &Bindings,
        kernel: &Kernel,
        buffers: usize,
    ) -> wgpu::ComputePipeline {
        if let Some(pipeline) = self
            .made
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(kernel)
        {
            return pipeline.clone();
        }
        // Two threads may compile one kernel at once; the first to finish wins.
        let pipeline = compile(device, bindings, kernel, buffers);
        self.made
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .entry(*kernel)
            .or_insert(pipeline)
            .clone()
    }
}

fn compile(
    device: &wgpu::Device,
    bindings: &Bindings,
    kernel: &Kernel,
    buffers: usize,
) -> wgpu::ComputePipeline {
    // What an error says which kernel it was.
    let label = format!("{kernel:?}");
    let descriptor = wgpu::ShaderModuleDescriptor {
        label: Some(&label),
        source: wgpu::ShaderSource::Wgsl(kernel.source().into()),
    };
    let checks = wgpu::ShaderRuntimeChecks::unchecked();
    // SAFETY: wgpu 30 asks that the shader reaches nothing out of bounds and has no endless loop:
    // see the module's # Safety.
    let module = unsafe { device.create_shader_module_trusted(descriptor, checks) };
    device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(&label),
        layout: Some(bindings.pipeline(buffers)),
        module: &module,
        entry_point: Some("main"),
        compilation_options: wgpu::PipelineCompilationOptions {
            // Kernels write their workgroup memory before they read it.
            zero_initialize_workgroup_memory: false,
            ..Default::default()
        },
        cache: None,
    })
}
