//! gpu-dispatch names no vendor, in code, comments or manifest.

use super::Problem;

/// Words that name a vendor, its runtime, its library or its interface.
const WORDS: &[&str] = &[
    "amd", "apple", "cublas", "cuda", "cust", "d3d12", "directx", "dx12", "hip", "hipblas",
    "hiprtc", "intel", "lavapipe", "metal", "nvidia", "nvrtc", "opencl", "ptx", "rocblas", "rocm",
    "spirv", "vulkan", "webgpu", "wgpu", "wgsl",
];

/// Names of vendor crates; "host" by itself is the memory on this side and is meant so.
const CRATES: &[&str] = &["gpu-host", "gpu_host"];

/// No vendor's name stands in gpu-dispatch.
pub(super) fn vendor_words(path: &str, text: &str) -> Vec<Problem> {
    if !path.starts_with("crates/gpu-dispatch/") {
        return Vec::new();
    }
    let mut problems = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let pieces = pieces(line);
        let word = pieces
            .iter()
            .map(String::as_str)
            .find(|piece| WORDS.contains(piece));
        let named = CRATES.iter().copied().find(|name| line.contains(name));
        if let Some(name) = word.or(named) {
            let what =
                format!("names a vendor (`{name}`): say what the capability is, not whose it is");
            problems.push(Problem::new(path, at + 1, what));
        }
    }
    problems
}

/// The words of a line in lower case; humps of camel case are words.
fn pieces(line: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut piece = String::new();
    let mut previous_is_lower = false;
    for character in line.chars() {
        let starts_hump = character.is_uppercase() && previous_is_lower;
        if (!character.is_alphanumeric() || starts_hump) && !piece.is_empty() {
            pieces.push(std::mem::take(&mut piece));
        }
        if character.is_alphanumeric() {
            piece.extend(character.to_lowercase());
        }
        previous_is_lower = character.is_lowercase();
    }
    if !piece.is_empty() {
        pieces.push(piece);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::vendor_words;

    #[test]
    fn a_vendor_is_found_in_whatever_dress() {
        for line in [
            "// as on CUDA",
            "fn hip_free()",
            "struct WgpuQueue;",
            "gpu-host.workspace = true",
        ] {
            assert_eq!(
                vendor_words("crates/gpu-dispatch/src/a.rs", line).len(),
                1,
                "{line}"
            );
        }
        for line in [
            "// in host memory",
            "ship the chip",
            "metallic",
            "fn custom()",
        ] {
            assert!(
                vendor_words("crates/gpu-dispatch/src/a.rs", line).is_empty(),
                "{line}"
            );
        }
        assert!(vendor_words("crates/gpu-host/src/a.rs", "// as on CUDA").is_empty());
    }
}
