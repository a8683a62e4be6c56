//! How much memory a Vulkan device has, which wgpu does not say.
//!
//! Promises the sum of the heaps that are the device's own, or nothing where the adapter is not
//! Vulkan's. Not built where there is no Vulkan.
//!
//! # Safety
//!
//! The heaps are asked for through wgpu's own handle to the physical device, which is only read.

#![expect(
    unsafe_code,
    reason = "asks Vulkan for the sizes of its heaps; see # Safety"
)]

/// Bytes of device memory.
pub(crate) fn heaps(adapter: &wgpu::Adapter) -> Option<u64> {
    /// `VK_MEMORY_HEAP_DEVICE_LOCAL_BIT`.
    const DEVICE_LOCAL: u32 = 1;
    // SAFETY: the guard's adapter is read only, and neither destroyed nor kept.
    let vulkan = unsafe { adapter.as_hal::<wgpu::hal::api::Vulkan>() }?;
    let instance = vulkan.shared_instance().raw_instance();
    let device = vulkan.raw_physical_device();
    // SAFETY: vkGetPhysicalDeviceMemoryProperties (Vulkan 1.0) has no precondition but that the
    // physical device belongs to the instance; both come from one adapter, which the guard holds.
    let memory = unsafe { instance.get_physical_device_memory_properties(device) };
    let count = usize::try_from(memory.memory_heap_count).unwrap_or(0);
    let local: u64 = memory
        .memory_heaps
        .iter()
        .take(count)
        .filter(|heap| heap.flags.as_raw() & DEVICE_LOCAL != 0)
        .map(|heap| heap.size)
        .sum();
    (local > 0).then_some(local)
}
