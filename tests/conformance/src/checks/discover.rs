//! Finding and opening devices: only for a vendor that can be asked.

use crate::cx::Cx;
use crate::outcome::{Outcome, Stop, ensure, equal};
use gpu_seam::{Discover, Execute, GpuError};

/// Ordinals are `0..n`, and the answer is the same on every call.
pub(crate) fn discover_is_repeatable<V: Execute + Discover>(_: &Cx<V>) -> Outcome {
    let devices = V::devices()?;
    for (at, device) in devices.iter().enumerate() {
        equal("the ordinal", device.ordinal, at)?;
    }
    let again = V::devices()?;
    let ordinals = |list: &[gpu_seam::DeviceInfo]| -> Vec<_> {
        list.iter()
            .map(|device| (device.ordinal, device.name.clone(), device.uuid))
            .collect()
    };
    equal("the second answer", ordinals(&again), ordinals(&devices))?;
    ensure(!devices.is_empty(), || {
        String::from("a device is open, and none is listed")
    })
}

/// Two openings of one ordinal have different domains and know the same device.
pub(crate) fn open_is_a_new_domain<V: Execute + Discover>(cx: &Cx<V>) -> Outcome {
    let ordinal = cx.driver().device().ordinal;
    let (one, two) = (V::open(ordinal)?, V::open(ordinal)?);
    ensure(one.domain() != two.domain(), || {
        format!("both have {:?}", one.domain())
    })?;
    ensure(one.domain() != cx.driver().domain(), || {
        format!("{:?} is in use", one.domain())
    })?;
    equal("the ordinal", one.device().ordinal, ordinal)?;
    equal("the name", &one.device().name, &two.device().name)
}

/// An ordinal beyond the last is `Unavailable`, and the answer names how many there are.
pub(crate) fn open_out_of_range_is_unavailable<V: Execute + Discover>(_: &Cx<V>) -> Outcome {
    let count = V::devices()?.len();
    for ordinal in [count, count + 1, usize::MAX] {
        match V::open(ordinal).map(drop) {
            Err(GpuError::Unavailable { detail }) => {
                ensure(detail.contains(&count.to_string()), || {
                    format!("there are {count} devices, and the answer does not say so: {detail}")
                })?;
            }
            other => {
                let text = format!("open({ordinal}) of {count} devices answers {other:?}");
                return Err(Stop::Failed(text));
            }
        }
    }
    Ok(())
}
