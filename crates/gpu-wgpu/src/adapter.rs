//! Which adapters there are: every one that can compute is an ordinal.
//!
//! Promises one order on every call (discrete, integrated, virtual, software, other), software
//! labelled as software, and, where there is none, an error that says what was looked for and what
//! helps. Honours `WGPU_BACKEND` and `WGPU_ADAPTER_NAME`. Opens no device.

use crate::features::Features;
use crate::health::ready;
use crate::lower;
use crate::memory::total_memory;
use gpu_seam::{Capabilities, DeviceInfo, DeviceKind, GpuError, Subnormals};
use std::sync::OnceLock;

/// The vendor's name, as its Cargo feature spells it.
pub(crate) const VENDOR: &str = "wgpu";
/// Arguments start at multiples of at least this, in bytes: the size of the largest element.
const LEAST_ALIGNMENT: u32 = 16;
/// No adapter may ask for a wider alignment: what WebGPU guarantees.
const WIDEST_ALIGNMENT: u32 = 256;
/// The highest rank that the strided kernels take. Contractions of many short indices permute
/// tensors of such ranks; beyond it a copy goes in passes, through memory of its own size.
pub(crate) const STRIDED_RANK: usize = 16;
/// Storage buffers that one kernel binds at most.
pub(crate) const BINDINGS: u32 = 5;
/// Invocations of a workgroup.
pub(crate) const GROUP: u32 = 256;
/// Bytes of workgroup memory that a kernel uses at most: what WebGPU guarantees.
pub(crate) const GROUP_MEMORY: u32 = 16_384;
/// Positions in a binding are 32 bits wide, those of bytes included, with room above the last for
/// the invocations that a grid has in excess.
const ADDRESSABLE: u64 = (1 << 32) - (1 << 20);

/// What one adapter is and can do, beyond [`DeviceInfo`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AdapterDetails {
    /// What every vendor tells.
    pub info: DeviceInfo,
    /// The interface it is reached through: `vulkan`, `metal` or `dx12`.
    pub backend: String,
    /// The optional features that its kernels use.
    pub features: Vec<&'static str>,
    /// The limits that its kernels are planned by.
    pub limits: Vec<(&'static str, u64)>,
}

/// The adapters that can compute, by ordinal.
///
/// # Errors
/// `Unavailable` when there is none, saying what was looked for and what helps.
pub fn adapters() -> Result<Vec<AdapterDetails>, GpuError> {
    let adapters = enumerate()?;
    Ok(adapters
        .iter()
        .enumerate()
        .map(|(ordinal, adapter)| details(ordinal, adapter))
        .collect())
}

/// The adapter of that ordinal and what it is.
pub(crate) fn find(ordinal: usize) -> Result<(wgpu::Adapter, DeviceInfo), GpuError> {
    let mut adapters = enumerate()?;
    if ordinal >= adapters.len() {
        let found = match adapters.len() {
            1 => "1 adapter".to_owned(),
            count => format!("{count} adapters"),
        };
        return Err(GpuError::Unavailable {
            detail: format!(
                "wgpu has no adapter {ordinal}: it finds {found}, counted from 0{}",
                chosen()
            ),
        });
    }
    let adapter = adapters.swap_remove(ordinal);
    let info = describe(ordinal, &adapter);
    Ok((adapter, info))
}

fn enumerate() -> Result<Vec<wgpu::Adapter>, GpuError> {
    static INSTANCE: OnceLock<wgpu::Instance> = OnceLock::new();
    let instance = INSTANCE.get_or_init(|| {
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        // Validation layers change timings and print; `WGPU_VALIDATION=1` asks for them.
        descriptor.flags = wgpu::InstanceFlags::empty();
        wgpu::Instance::new(descriptor.with_env())
    });
    let all = ready(instance.enumerate_adapters(wgpu::Backends::all()));
    let seen = all.len();
    let wanted = wanted_name();
    let mut adapters: Vec<_> = all
        .into_iter()
        .filter(|adapter| refusal(adapter).is_none())
        .filter(|adapter| match &wanted {
            Some(name) => adapter.get_info().name.to_lowercase().contains(name),
            None => true,
        })
        .collect();
    // Stable: adapters of one kind stay in the order of their interface.
    adapters.sort_by_key(|adapter| rank(adapter.get_info().device_type));
    if adapters.is_empty() {
        return Err(GpuError::Unavailable {
            detail: unavailable(seen),
        });
    }
    Ok(adapters)
}

fn wanted_name() -> Option<String> {
    let name = std::env::var("WGPU_ADAPTER_NAME").ok()?;
    (!name.is_empty()).then(|| name.to_lowercase())
}

/// How the environment narrows the choice, for messages.
fn chosen() -> String {
    let mut text = String::new();
    for name in ["WGPU_BACKEND", "WGPU_ADAPTER_NAME"] {
        if let Ok(value) = std::env::var(name) {
            text.push_str(&format!("; {name} is `{value}`"));
        }
    }
    text
}

fn unavailable(seen: usize) -> String {
    let interfaces = if cfg!(target_vendor = "apple") {
        "Metal"
    } else if cfg!(windows) {
        "Vulkan (vulkan-1.dll) and DX12"
    } else {
        "Vulkan (libvulkan.so.1)"
    };
    let found = match seen {
        0 => "no adapter".to_owned(),
        count => format!("{count} adapters, none of which can compute or was asked for"),
    };
    let help = if cfg!(target_os = "linux") {
        "; a driver of the GPU is needed, or on Debian `apt-get install mesa-vulkan-drivers \
         libvulkan1`, which brings a software device"
    } else {
        "; a driver of the GPU is needed"
    };
    format!(
        "wgpu looked for {interfaces} and found {found}{}{help}",
        chosen()
    )
}

/// Why an adapter cannot be used, if so.
fn refusal(adapter: &wgpu::Adapter) -> Option<&'static str> {
    let limits = adapter.limits();
    let compute = adapter
        .get_downlevel_capabilities()
        .flags
        .contains(wgpu::DownlevelFlags::COMPUTE_SHADERS);
    if !compute {
        Some("it has no compute shaders")
    } else if limits.max_storage_buffers_per_shader_stage < BINDINGS {
        Some("a kernel may bind too few buffers")
    } else if limits.max_compute_invocations_per_workgroup < GROUP
        || limits.max_compute_workgroup_size_x < GROUP
        || limits.max_compute_workgroup_storage_size < GROUP_MEMORY
    {
        Some("its workgroups are too small")
    } else if limits.min_storage_buffer_offset_alignment > WIDEST_ALIGNMENT {
        Some("its bindings are aligned too widely")
    } else {
        None
    }
}

const fn rank(kind: wgpu::DeviceType) -> u8 {
    match kind {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Cpu => 3,
        wgpu::DeviceType::Other => 4,
    }
}

const fn kind(kind: wgpu::DeviceType) -> DeviceKind {
    match kind {
        wgpu::DeviceType::DiscreteGpu => DeviceKind::Discrete,
        wgpu::DeviceType::IntegratedGpu => DeviceKind::Integrated,
        wgpu::DeviceType::Cpu => DeviceKind::Software,
        wgpu::DeviceType::VirtualGpu | wgpu::DeviceType::Other => DeviceKind::Other,
    }
}

fn details(ordinal: usize, adapter: &wgpu::Adapter) -> AdapterDetails {
    let limits = adapter.limits();
    AdapterDetails {
        info: describe(ordinal, adapter),
        backend: adapter.get_info().backend.to_str().to_owned(),
        features: Features::of(adapter).names(),
        limits: vec![
            ("max_buffer_size", limits.max_buffer_size),
            (
                "max_storage_buffer_binding_size",
                limits.max_storage_buffer_binding_size,
            ),
            (
                "min_storage_buffer_offset_alignment",
                limits.min_storage_buffer_offset_alignment.into(),
            ),
            (
                "max_compute_workgroups_per_dimension",
                limits.max_compute_workgroups_per_dimension.into(),
            ),
            (
                "max_compute_workgroup_storage_size",
                limits.max_compute_workgroup_storage_size.into(),
            ),
        ],
    }
}

fn describe(ordinal: usize, adapter: &wgpu::Adapter) -> DeviceInfo {
    let wgpu_info = adapter.get_info();
    let limits = adapter.limits();
    let mut info = DeviceInfo::new(VENDOR, ordinal, wgpu_info.name, kind(wgpu_info.device_type));
    info.driver = format!(
        "{}: {} {}",
        wgpu_info.backend, wgpu_info.driver, wgpu_info.driver_info
    )
    .trim_end()
    .to_owned();
    info.memory_bytes = total_memory(adapter);
    info.capabilities = capabilities(&limits, Features::of(adapter), info.memory_bytes);
    info
}

fn capabilities(limits: &wgpu::Limits, features: Features, memory: usize) -> Capabilities {
    let bytes = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
    let mut capabilities = Capabilities::default();
    capabilities.support = lower::table(features);
    capabilities.host_visible = false;
    capabilities.strided_rank = STRIDED_RANK;
    capabilities.max_operand_bytes = operand_limit(limits);
    capabilities.max_allocation_bytes = bytes(limits.max_buffer_size).min(memory) & !0xff;
    capabilities.offset_alignment = bytes(
        limits
            .min_storage_buffer_offset_alignment
            .max(LEAST_ALIGNMENT)
            .into(),
    );
    capabilities.copy_granularity = bytes(wgpu::COPY_BUFFER_ALIGNMENT);
    // WGSL lets every implementation flush, and none can be asked whether it does.
    capabilities.subnormals = Subnormals::Flushed;
    capabilities
}

/// The most bytes of a buffer that one binding may cover.
pub(crate) fn operand_limit(limits: &wgpu::Limits) -> usize {
    let bytes = limits.max_storage_buffer_binding_size.min(ADDRESSABLE);
    usize::try_from(bytes).unwrap_or(usize::MAX) & !0xff
}

#[cfg(test)]
mod tests {
    use super::{capabilities, unavailable};
    use crate::features::Features;

    #[test]
    fn no_adapter_says_what_was_looked_for_and_what_helps() {
        let text = unavailable(0);
        assert!(text.contains("found no adapter"), "{text}");
        if cfg!(target_os = "linux") {
            assert!(text.contains("libvulkan.so.1") && text.contains("mesa-vulkan-drivers"));
        }
    }

    #[test]
    fn limits_are_addressable_and_aligned() {
        let limits = wgpu::Limits {
            max_storage_buffer_binding_size: u64::MAX,
            max_buffer_size: u64::MAX,
            ..wgpu::Limits::default()
        };
        let capabilities = capabilities(&limits, Features::default(), 1 << 34);
        assert!(u32::try_from(capabilities.max_operand_bytes).is_ok());
        assert_eq!(capabilities.max_operand_bytes % 256, 0);
        assert_eq!(capabilities.max_allocation_bytes, 1 << 34);
        assert!(!capabilities.host_visible);
    }
}
