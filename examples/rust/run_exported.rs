//! Runs vectors that `conformance export safetensors` wrote: AdaptiveAvgPool-8 of float32.
//!
//!     cargo run --release --manifest-path examples/rust/Cargo.toml EXPORT.safetensors RESULTS.safetensors
//!
//! Replace `compute` by a call of your own kernel.

use safetensors::tensor::{serialize, TensorView};
use safetensors::{Dtype, SafeTensors};
use serde_json::{json, Map, Value};
use std::collections::HashMap;
use std::{env, error::Error, fs};

type Output = (Vec<usize>, Vec<u8>); // shape and bytes

fn compute(inputs: &[TensorView]) -> Result<Output, String> {
    let (data, sizes) = (&inputs[0], &inputs[1]);
    let axes = data.shape().len().saturating_sub(2);
    let width = if sizes.dtype() == Dtype::I32 { 4 } else { 8 };
    let integers = matches!(sizes.dtype(), Dtype::I32 | Dtype::I64);
    if !(1..=3).contains(&axes) || !integers || sizes.shape() != [axes] {
        return Err(format!("sizes of shape {:?} for {axes} axes", sizes.shape()));
    }
    let (mut d, mut o) = ([1; 3], [1; 3]); // extents of data and output, one axis as three
    for (axis, bytes) in sizes.data().chunks_exact(width).enumerate() {
        let negative = bytes[width - 1] >= 128;
        d[3 - axes + axis] = data.shape()[2 + axis];
        o[3 - axes + axis] = bytes.iter().rev().fold(0, |n, &byte| n << 8 | usize::from(byte));
        if negative || o[3 - axes + axis] > 1 << 20 {
            return Err("a size is negative or too large".into());
        }
    }
    let cells: Vec<f32> =
        data.data().chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
    let block = |i: usize, axis: usize| i * d[axis] / o[axis]..((i + 1) * d[axis]).div_ceil(o[axis]);
    let mut result = Vec::new();
    for plane in 0..data.shape()[0] * data.shape()[1] {
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
                    result.extend(((sum / count) as f32).to_le_bytes());
                }
            }
        }
    }
    Ok(([&data.shape()[..2], &o[3 - axes..]].concat(), result))
}

fn main() -> Result<(), Box<dyn Error>> {
    let paths: Vec<String> = env::args().collect();
    let bytes = fs::read(paths.get(1).ok_or("give EXPORT.safetensors RESULTS.safetensors")?)?;
    let file = SafeTensors::deserialize(&bytes)?;
    let (_, header) = SafeTensors::read_metadata(&bytes)?;
    let about = header.metadata().as_ref().and_then(|texts| texts.get("pooling-conformance vectors"));
    let about: Value = serde_json::from_str(about.ok_or("no vectors in this file")?)?;
    let (mut ids, mut outputs) = (Vec::new(), Vec::new());
    let (mut raised, mut unsupported) = (Map::new(), Map::new());
    for case in about["cases"].as_array().ok_or("no cases")? {
        let id = case["id"].as_str().ok_or("a case without id")?;
        let names = case["inputs"].as_array().ok_or("a case without inputs")?;
        let inputs: Result<Vec<_>, _> =
            names.iter().map(|name| file.tensor(name.as_str().unwrap_or_default())).collect();
        let inputs = inputs?;
        ids.push(id);
        if case["operator"] != "AdaptiveAvgPool-8" || inputs[0].dtype() != Dtype::F32 {
            let what = format!("{} of {:?}", case["operator"], inputs[0].dtype());
            unsupported.insert(id.into(), what.into());
            continue;
        }
        match compute(&inputs) {
            Ok(output) => outputs.push((id, output)),
            Err(why) => drop(raised.insert(id.into(), why.into())),
        }
    }
    println!("{} outputs, {} raised, {} unsupported", outputs.len(), raised.len(), unsupported.len());
    let about = json!({"version": 1, "ids": ids, "raised": raised, "unsupported": unsupported});
    let texts = HashMap::from([("pooling-conformance results".to_string(), about.to_string())]);
    let views: Result<Vec<_>, _> = outputs
        .iter()
        .map(|(id, (shape, data))| Ok((*id, TensorView::new(Dtype::F32, shape.clone(), data)?)))
        .collect();
    let views = views.map_err(|error: safetensors::SafeTensorError| error)?;
    fs::write(paths.get(2).ok_or("give RESULTS.safetensors")?, serialize(views, Some(texts))?)?;
    Ok(())
}
