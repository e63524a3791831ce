//! Writes what a kernel answered, for `conformance check results:PATH`.

use crate::{safetensors, Answer, Case, Tensor};
use serde_json::{json, Map, Value};
use std::fmt;

/// Characters of the text of an error at most.
const LONGEST: usize = 400;

/// Answers to cases, to be checked by the command line: it says more than whether each is right.
#[derive(Debug, Default)]
pub struct Results {
    ids: Vec<String>,
    outputs: Vec<(String, Tensor)>,
    raised: Map<String, Value>,
    unsupported: Map<String, Value>,
}

impl Results {
    /// Add the answer to a case that has none yet. One whose elements do not fill its shape is
    /// stored as none, which is a mismatch, too: the file would be unsound.
    pub fn add(&mut self, case: &Case, answer: Answer) {
        self.ids.push(case.id.clone());
        match answer {
            Ok(outputs) if !outputs.iter().all(Tensor::is_filled) => {}
            Ok(outputs) => {
                let names = (0..).map(|number| match number {
                    0 => case.id.clone(),
                    _ => format!("{}:{number}", case.id),
                });
                self.outputs.extend(names.zip(outputs));
            }
            Err(why) => drop(self.raised.insert(case.id.clone(), cut(&why).into())),
        }
    }

    /// Say that a kernel does not do what a case asks for, which is neither right nor wrong.
    pub fn unsupported(&mut self, case: &Case, why: &str) {
        self.ids.push(case.id.clone());
        self.unsupported.insert(case.id.clone(), cut(why).into());
    }

    /// Return the bytes of a file of safetensors.
    pub fn to_bytes(&self) -> Vec<u8> {
        let Results {
            ids,
            outputs,
            raised,
            unsupported,
        } = self;
        let about =
            json!({ "version": 1, "ids": ids, "raised": raised, "unsupported": unsupported });
        safetensors::write(outputs, "pooling-conformance results", &about.to_string())
    }
}

/// Return the start of a text: more than this of a reason is not read.
fn cut(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}

impl fmt::Display for Results {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let (raised, unsupported) = (self.raised.len(), self.unsupported.len());
        let outputs = self.ids.len() - raised - unsupported;
        write!(
            formatter,
            "{outputs} outputs, {raised} raised, {unsupported} unsupported"
        )
    }
}
