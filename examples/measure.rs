//! Attention measured from Rust, through the C interface (docs/c.md), without a crate:
//!
//!     eval rustc --edition 2021 measure.rs $(pkg-config --libs-only-L synergraph)
//!     ./measure
use std::ffi::{c_char, c_int, c_void, CStr, CString};
use std::ptr::{null, null_mut};

/// `sg_array`: an array of a result, which owns it.
#[repr(C)]
struct Array {
    name: *const c_char,
    axes: *const c_char,
    dtype: i32,
    rank: i32,
    shape: *const i64,
    data: *const c_void,
}

const FLOAT32: i32 = 2; // SG_FLOAT32
const FLOAT64: i32 = 3;

#[link(name = "synergraph")]
extern "C" {
    fn sg_error() -> *const c_char;
    fn sg_attention_create(options: *const c_char, attention: *mut *mut c_void) -> c_int;
    fn sg_attention_add(
        attention: *mut c_void,
        name: *const c_char,
        data: *const c_void,
        dtype: c_int,
        shape: *const i64,
        strides: *const i64,
    ) -> c_int;
    fn sg_attention_free(attention: *mut c_void);
    fn sg_measure(
        attention: *mut c_void,
        options: *const c_char,
        call: *const c_void,
        result: *mut *mut c_void,
    ) -> c_int;
    fn sg_result_find(result: *const c_void, name: *const c_char) -> *const Array;
    fn sg_result_free(result: *mut c_void);
}

/// The message of a call that failed.
fn checked(status: c_int) -> Result<(), String> {
    match status {
        0 => Ok(()),
        _ => Err(unsafe { CStr::from_ptr(sg_error()) }
            .to_string_lossy()
            .into_owned()),
    }
}

/// Attention in this memory, released with it.
struct Attention<'a>(*mut c_void, std::marker::PhantomData<&'a [f32]>);

impl<'a> Attention<'a> {
    /// One layer: (samples, heads, tokens, tokens).
    fn new(probabilities: &'a [f32], shape: [i64; 4]) -> Result<Self, String> {
        assert_eq!(probabilities.len() as i64, shape.iter().product());
        let mut made = null_mut();
        checked(unsafe { sg_attention_create(null(), &mut made) })?;
        let attention = Attention(made, std::marker::PhantomData);
        let data = probabilities.as_ptr().cast();
        checked(unsafe { sg_attention_add(made, null(), data, FLOAT32, shape.as_ptr(), null()) })?;
        Ok(attention)
    }

    /// A number of every sample, by its name in docs/formats.md.
    fn measure(&mut self, quantity: &str, options: &str) -> Result<Vec<f64>, String> {
        let (quantity, options) = (
            CString::new(quantity).unwrap(),
            CString::new(options).unwrap(),
        );
        let mut result = null_mut();
        checked(unsafe { sg_measure(self.0, options.as_ptr(), null(), &mut result) })?;
        let found = unsafe { sg_result_find(result, quantity.as_ptr()).as_ref() };
        let numbers = found
            .filter(|array| array.dtype == FLOAT64)
            .map(|array| unsafe {
                let shape = std::slice::from_raw_parts(array.shape, array.rank as usize);
                std::slice::from_raw_parts(
                    array.data.cast(),
                    shape.iter().product::<i64>() as usize,
                )
                .to_vec()
            });
        unsafe { sg_result_free(result) };
        numbers.ok_or_else(|| format!("{quantity:?} is no number that was measured"))
    }
}

impl Drop for Attention<'_> {
    fn drop(&mut self) {
        unsafe { sg_attention_free(self.0) }
    }
}

fn main() -> Result<(), String> {
    #[rustfmt::skip]
    let probabilities = [1.0, 0.0, 0.0,  0.0, 1.0, 0.0,  0.75, 0.25, 0.0,
                         1.0, 0.0, 0.0,  0.0, 1.0, 0.0,  0.25, 0.75, 0.0];
    let mut attention = Attention::new(&probabilities, [1, 2, 3, 3])?;
    println!(
        "minimax fidelity {:?}",
        attention.measure("minimax_fidelity", r#"{"per_head": true}"#)?
    );
    println!(
        "of each head {:?}",
        attention.measure("heads/minimax_fidelity", "")?
    );
    println!(
        "{}",
        attention
            .measure("synergy", r#"{"convention": "old"}"#)
            .unwrap_err()
    );
    Ok(())
}
