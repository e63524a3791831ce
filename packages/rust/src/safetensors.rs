//! Files of safetensors: a length, a header of JSON, and the elements of named tensors.

use crate::{Dtype, Error, Tensor};
use flate2::read::GzDecoder;
use serde_json::{json, Map, Value};
use std::collections::HashMap;
use std::io::Read;
use std::sync::Arc;

/// Bytes of a file at most, decompressed.
const MOST: usize = 1 << 30;

/// What a file holds: the texts of its header, and tensors by name.
pub(crate) struct File {
    pub(crate) texts: Value,
    pub(crate) tensors: HashMap<String, Arc<Tensor>>,
}

/// Read a file, which gzip may have compressed.
pub(crate) fn read(content: &[u8]) -> Result<File, Error> {
    let mut decompressed = Vec::new();
    let mut bytes = content;
    if content.starts_with(&[0x1f, 0x8b]) {
        let mut decoder = GzDecoder::new(content).take(MOST as u64 + 1);
        decoder
            .read_to_end(&mut decompressed)
            .map_err(|_| Error("gzip: the file is damaged".into()))?;
        bytes = &decompressed;
    }
    if bytes.len() > MOST {
        return Err(Error(format!("the file has more than {MOST} bytes")));
    }
    parse(bytes).ok_or_else(|| Error("not a sound file of safetensors".into()))
}

fn parse(bytes: &[u8]) -> Option<File> {
    let length = u64::from_le_bytes(bytes.get(..8)?.try_into().ok()?);
    let (header, elements) = bytes[8..].split_at_checked(usize::try_from(length).ok()?)?;
    let mut header: Map<String, Value> = serde_json::from_slice(header).ok()?;
    let texts = header.remove("__metadata__").unwrap_or_default();
    let mut tensors = HashMap::new();
    let mut left = elements.len(); // so that tensors which overlap take no more than the file
    for (name, about) in header {
        let dtype = Dtype::named(about["dtype"].as_str()?)?;
        let shape = sizes(&about["shape"])?;
        let [begin, end] = sizes(&about["data_offsets"])?[..] else {
            return None;
        };
        let size = shape
            .iter()
            .try_fold(dtype.size(), |size, &extent| size.checked_mul(extent))?;
        let bytes = elements
            .get(begin..end)
            .filter(|bytes| bytes.len() == size)?;
        left = left.checked_sub(size)?;
        tensors.insert(
            name,
            Arc::new(Tensor {
                dtype,
                shape,
                bytes: bytes.to_vec(),
            }),
        );
    }
    Some(File { texts, tensors })
}

fn sizes(value: &Value) -> Option<Vec<usize>> {
    value
        .as_array()?
        .iter()
        .map(|size| usize::try_from(size.as_u64()?).ok())
        .collect()
}

/// Return the bytes of a file with tensors and one text.
pub(crate) fn write(tensors: &[(String, Tensor)], key: &str, text: &str) -> Vec<u8> {
    let mut header = Map::new();
    header.insert("__metadata__".into(), json!({ key: text }));
    let mut end = 0;
    for (
        name,
        Tensor {
            dtype,
            shape,
            bytes,
        },
    ) in tensors
    {
        let begin = end;
        end += bytes.len();
        let about =
            json!({ "dtype": format!("{dtype:?}"), "shape": shape, "data_offsets": [begin, end] });
        header.insert(name.clone(), about);
    }
    let header = Value::from(header).to_string();
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend_from_slice(header.as_bytes());
    tensors
        .iter()
        .for_each(|(_, tensor)| file.extend_from_slice(&tensor.bytes));
    file
}
