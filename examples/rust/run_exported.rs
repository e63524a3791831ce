//! Runs vectors that `conformance export safetensors` wrote: AdaptiveAvgPool-8 of float32.
//!
//!     cargo run --release --manifest-path examples/rust/Cargo.toml EXPORT.safetensors RESULTS.safetensors
//!
//! Replace `compute` by a call of your own kernel.

use pooling_conformance::{read, Answer, Dtype, Results, Tensor};
use std::{env, error::Error, fs};

fn compute(data: &Tensor, sizes: &Tensor) -> Answer {
    let axes = data.shape.len().saturating_sub(2);
    let given: Vec<i64> = match sizes.dtype {
        Dtype::I32 => sizes.elements::<i32>().into_iter().map(i64::from).collect(),
        Dtype::I64 => sizes.elements(),
        other => return Err(format!("sizes of {other:?}")),
    };
    if !(1..=3).contains(&axes) || sizes.shape != [axes] {
        return Err(format!("sizes of shape {:?} for {axes} axes", sizes.shape));
    }
    let (mut d, mut o) = ([1; 3], [1; 3]); // extents of data and output, one axis as three
    for (axis, &size) in given.iter().enumerate() {
        if !(0..=1 << 20).contains(&size) {
            return Err("a size is negative or too large".into());
        }
        (d[3 - axes + axis], o[3 - axes + axis]) = (data.shape[2 + axis], size as usize);
    }
    let cells = data.elements::<f32>();
    let block =
        |i: usize, axis: usize| i * d[axis] / o[axis]..((i + 1) * d[axis]).div_ceil(o[axis]);
    let mut result = Vec::new();
    for plane in 0..data.shape[0] * data.shape[1] {
        for i in 0..o[0] {
            for j in 0..o[1] {
                for k in 0..o[2] {
                    let (mut sum, mut count) = (0.0f64, 0.0);
                    for x in block(i, 0) {
                        for y in block(j, 1) {
                            for z in block(k, 2) {
                                sum += f64::from(cells[((plane * d[0] + x) * d[1] + y) * d[2] + z]);
                                count += 1.0;
                            }
                        }
                    }
                    result.push((sum / count) as f32);
                }
            }
        }
    }
    Ok(vec![Tensor::new(
        Dtype::F32,
        &[&data.shape[..2], &o[3 - axes..]].concat(),
        &result,
    )])
}

fn main() -> Result<(), Box<dyn Error>> {
    let [_, vectors, path] = &env::args().collect::<Vec<_>>()[..] else {
        return Err("give EXPORT.safetensors RESULTS.safetensors".into());
    };
    let mut results = Results::default();
    for case in read(&fs::read(vectors)?)? {
        let data = &case.inputs[0];
        if case.operator != "AdaptiveAvgPool-8" || data.dtype != Dtype::F32 {
            results.unsupported(&case, &format!("{} of {:?}", case.operator, data.dtype));
        } else {
            results.add(&case, compute(data, &case.inputs[1]));
        }
    }
    fs::write(path, results.to_bytes())?;
    println!("{results}");
    Ok(())
}
