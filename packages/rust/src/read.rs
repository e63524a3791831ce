//! Reads what `conformance export` wrote: safetensors whose header says which tensors make a case.

use crate::{safetensors, Accepted, Answer, Case, Dtype, Error, Kind, Output, Tensor};
use serde_json::Value;
use std::sync::Arc;

/// Read the cases of an exported file, `.safetensors` or `.safetensors.gz`, that is in memory.
///
/// Sizes are compared with those of the file before memory is allocated.
pub fn read(content: &[u8]) -> Result<Vec<Case>, Error> {
    let file = safetensors::read(content)?;
    let text = file.texts["pooling-conformance vectors"].as_str();
    let text = text.ok_or_else(|| Error("there are no vectors in the file".into()))?;
    let mut about: Value =
        serde_json::from_str(text).map_err(|error| Error(format!("vectors: {error}")))?;
    if about["version"] != 1 {
        return Err(Error(format!(
            "vectors of version {}: this reads version 1",
            about["version"]
        )));
    }
    let Value::Array(cases) = about["cases"].take() else {
        return Err(Error("vectors: there are no cases".into()));
    };
    let cases = cases.into_iter().enumerate().map(|(number, about)| {
        file.case(about)
            .ok_or_else(|| Error(format!("vectors: case {number} is not sound")))
    });
    cases.collect()
}

impl safetensors::File {
    fn case(&self, about: Value) -> Option<Case> {
        Some(Case {
            id: about["id"].as_str()?.into(),
            operator: about["operator"].as_str()?.into(),
            attributes: about["attributes"].as_object()?.clone(),
            inputs: self.tensors(&about["inputs"])?,
            accepted: all(&about["accepted"], |accepted| self.accepted(accepted))?,
            answers: match &about["answers"] {
                Value::Null => Vec::new(),
                answers => all(answers, |answer| self.answer(answer))?,
            },
            about,
        })
    }

    fn accepted(&self, about: &Value) -> Option<Accepted> {
        let (kind, outputs) = match about["kind"].as_str()? {
            "values" => (
                Kind::Values,
                all(&about["outputs"], |output| self.output(output))?,
            ),
            "raises" => (Kind::Raises, Vec::new()),
            "anything" => (Kind::Anything, Vec::new()),
            _ => return None,
        };
        let readings = all(&about["readings"], |readings| readings.as_object().cloned())?;
        Some(Accepted {
            kind,
            readings,
            outputs,
        })
    }

    fn output(&self, about: &Value) -> Option<Output> {
        let expected = self.tensor(&about["expected"])?;
        let optional = |key: &str, is_sound: &dyn Fn(&Tensor) -> bool| match about.get(key) {
            None => Some(None),
            Some(name) => self
                .tensor(name)
                .filter(|tensor| is_sound(tensor))
                .map(Some),
        };
        let alike =
            |tensor: &Tensor| (tensor.dtype, &tensor.shape) == (expected.dtype, &expected.shape);
        Some(Output {
            lower: optional("lower", &alike)?,
            upper: optional("upper", &alike)?,
            mask: optional("mask", &|mask| {
                (mask.dtype, &mask.shape) == (Dtype::U8, &expected.shape)
            })?,
            ties: optional("ties", &|ties| {
                ties.dtype == Dtype::I64 && ties.shape.get(1..) == Some(&[2])
            })?,
            expected,
        })
    }

    fn answer(&self, about: &Value) -> Option<(Answer, bool)> {
        let answer = match &about["outputs"] {
            Value::Null => Err(String::new()),
            names => Ok(self
                .tensors(names)?
                .iter()
                .map(|each| Tensor::clone(each))
                .collect()),
        };
        Some((answer, about["conforms"].as_bool()?))
    }

    fn tensors(&self, names: &Value) -> Option<Vec<Arc<Tensor>>> {
        all(names, |name| self.tensor(name))
    }

    fn tensor(&self, name: &Value) -> Option<Arc<Tensor>> {
        self.tensors.get(name.as_str()?).cloned()
    }
}

fn all<T>(list: &Value, read: impl Fn(&Value) -> Option<T>) -> Option<Vec<T>> {
    list.as_array()?.iter().map(read).collect()
}
