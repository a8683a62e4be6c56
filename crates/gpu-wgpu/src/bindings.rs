//! Groups of bindings: which buffers a kernel sees, and through which window.
//!
//! A buffer that one binding can cover is bound whole, and kernels are told where their argument
//! begins: steady work then finds its group in a cache. A larger buffer is bound by the argument's
//! own range. Every binding is read and written, since wgpu refuses one buffer bound both ways in
//! one dispatch, and arguments of one operation are often ranges of one buffer. Promises that no
//! group outlives a buffer it names once that was freed. Knows nothing of kernels.

use crate::driver::Wgpu;
use gpu_seam::Arg;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The most groups that are kept; beyond it all are forgotten, which costs time and nothing else.
const KEPT: usize = 1024;

/// The most bindings of one kernel.
pub(crate) const MOST: usize = crate::adapter::BINDINGS as usize;

/// What one binding covers of which buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Window {
    /// The allocation's number; 0 for no binding.
    id: u64,
    /// First byte.
    pub(crate) start: u64,
    len: u64,
}

impl Window {
    /// The window through which `arg` is seen.
    pub(crate) fn of(arg: &Arg<'_, Wgpu>, reach: Reach) -> Self {
        let allocation = arg.buffer.allocation();
        let size = allocation.buffer().size();
        if size <= reach.limit as u64 {
            return Self {
                id: allocation.id(),
                start: 0,
                len: size,
            };
        }
        // The arguments of operations begin at multiples of the alignment; copies need not.
        let start = (arg.offset - arg.offset % reach.alignment) as u64;
        let end = (arg.offset as u64 + arg.len as u64).next_multiple_of(16);
        Self {
            id: allocation.id(),
            start,
            // Buffers are multiples of 16 bytes.
            len: end.min(size) - start,
        }
    }
}

/// What one binding can cover.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reach {
    /// The most bytes.
    pub(crate) limit: usize,
    /// What it begins at a multiple of, in bytes.
    pub(crate) alignment: usize,
}

/// The windows of one kernel's bindings, and so the name of a group.
pub(crate) type Windows = [Window; MOST];

/// The layouts of groups and the groups in use.
pub(crate) struct Bindings {
    /// The layouts of 1, 2, … storage buffers.
    buffers: Vec<wgpu::BindGroupLayout>,
    params: wgpu::BindGroupLayout,
    pipelines: Vec<wgpu::PipelineLayout>,
    groups: Mutex<HashMap<Windows, wgpu::BindGroup>>,
}

impl Bindings {
    pub(crate) fn new(device: &wgpu::Device) -> Self {
        let params = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("parameters"),
            entries: &[entry(0, wgpu::BufferBindingType::Uniform, true)],
        });
        let storage = wgpu::BufferBindingType::Storage { read_only: false };
        let buffers: Vec<_> = (1..=crate::adapter::BINDINGS)
            .map(|count| {
                let entries: Vec<_> = (0..count).map(|at| entry(at, storage, false)).collect();
                device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                    label: Some("arguments"),
                    entries: &entries,
                })
            })
            .collect();
        let pipelines = buffers
            .iter()
            .map(|buffers| {
                device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                    label: Some("arguments and parameters"),
                    bind_group_layouts: &[Some(buffers), Some(&params)],
                    immediate_size: 0,
                })
            })
            .collect();
        Self {
            buffers,
            params,
            pipelines,
            groups: Mutex::default(),
        }
    }

    /// The layout of the parameters' group.
    pub(crate) const fn params(&self) -> &wgpu::BindGroupLayout {
        &self.params
    }

    /// The layout of a pipeline with that many storage buffers, 1 at least.
    pub(crate) fn pipeline(&self, buffers: usize) -> &wgpu::PipelineLayout {
        &self.pipelines[buffers - 1]
    }

    /// The group in which `args` are seen through `windows`.
    pub(crate) fn group(
        &self,
        device: &wgpu::Device,
        windows: &Windows,
        args: &[Arg<'_, Wgpu>],
    ) -> wgpu::BindGroup {
        let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(group) = groups.get(windows) {
            return group.clone();
        }
        if groups.len() >= KEPT {
            groups.clear();
        }
        let entries: Vec<_> = (0u32..)
            .zip(args)
            .zip(windows)
            .map(|((binding, arg), window)| wgpu::BindGroupEntry {
                binding,
                resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                    buffer: arg.buffer.allocation().buffer(),
                    offset: window.start,
                    size: wgpu::BufferSize::new(window.len),
                }),
            })
            .collect();
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("arguments"),
            layout: &self.buffers[args.len() - 1],
            entries: &entries,
        });
        groups.insert(*windows, group.clone());
        group
    }

    /// Forgets every group that names the allocation.
    pub(crate) fn forget(&self, id: u64) {
        self.groups
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|windows, _| windows.iter().all(|window| window.id != id));
    }
}

fn entry(
    binding: u32,
    ty: wgpu::BufferBindingType,
    has_dynamic_offset: bool,
) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty,
            has_dynamic_offset,
            min_binding_size: None,
        },
        count: None,
    }
}
