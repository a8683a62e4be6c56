//! Indices from memory: how they are read, checked, and noted when they are bad.
//!
//! Promises that no index is used before it was compared with the dimension, and that the first bad
//! one that any invocation finds is noted whole. Knows nothing of what is looked up.

use super::text::{Text, param};
use gpu_seam::DType;

/// Whether indices may be of `dtype`.
pub(crate) const fn is_index(dtype: DType) -> bool {
    matches!(dtype, DType::I64 | DType::I32 | DType::U32 | DType::U8)
}

/// Adds `index_at(i)`, the index at position i of binding `bound` as low and high word, and
/// `good(index, size)`.
pub(crate) fn functions(text: &mut Text, bound: usize, dtype: DType) {
    let wide = match dtype {
        DType::I64 => format!("return load{bound}(i);"),
        DType::I32 => {
            format!("let low = load{bound}(i);\n    return vec2<u32>(low, 0u - (low >> 31u));")
        }
        _ => format!("return vec2<u32>(load{bound}(i), 0u);"),
    };
    text.line(&format!(
        "fn index_at(i: u32) -> vec2<u32> {{\n    {wide}\n}}\n\
         fn good(index: vec2<u32>, size: u32) -> bool {{\n    \
         return index.y == 0u && index.x < size;\n}}"
    ));
}

/// Adds `note(index)`: notes a bad index in the fault slot, which binding `bound` is, unless one is
/// noted already.
pub(crate) fn note(text: &mut Text, bound: usize, base: usize) {
    let base = param(base);
    text.line(&format!(
        "fn note(index: vec2<u32>) {{\n    \
         // An exchange may fail for no reason, but then the word is still 0.\n    \
         for (var tries = 0u; tries < 1024u; tries++) {{\n        \
         let result = atomicCompareExchangeWeak(&b{bound}[{base}], 0u, 1u);\n        \
         if result.exchanged {{\n            \
         atomicStore(&b{bound}[{base} + 1u], index.x);\n            \
         atomicStore(&b{bound}[{base} + 2u], index.y);\n            \
         return;\n        }}\n        \
         if result.old_value != 0u {{\n            return;\n        }}\n    \
         }}\n}}"
    ));
}
