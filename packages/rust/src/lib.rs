#![doc = include_str!("../README.md")]

mod comparison;
mod read;
mod results;
mod safetensors;
mod tensor;

pub use comparison::conforms;
pub use read::read;
pub use results::Results;
pub use serde_json::{Map, Value};
pub use tensor::{Dtype, Element, Tensor};

use std::fmt;
use std::sync::Arc;

/// What a kernel answers: its outputs, or the text of an error.
pub type Answer = Result<Vec<Tensor>, String>;

/// Why a file cannot be read, in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(String);

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

/// What is asked of a kernel, and all that is right.
#[derive(Clone, Debug)]
pub struct Case {
    pub id: String,
    pub operator: String,
    /// By name, as the document of the operator types them.
    pub attributes: Map<String, Value>,
    /// The data first.
    pub inputs: Vec<Arc<Tensor>>,
    pub accepted: Vec<Accepted>,
    /// All that the file says of the case, in JSON: `tier`, `clauses`, `source`, `tags` and so on.
    pub about: Value,
    /// In a file of verdicts: answers, and whether each conforms.
    pub answers: Vec<(Answer, bool)>,
}

/// An answer that is right, and the readings of clauses under which it is.
#[derive(Clone, Debug)]
pub struct Accepted {
    pub kind: Kind,
    /// Each from clause to reading.
    pub readings: Vec<Map<String, Value>>,
    /// Of `Kind::Values` alone: as many as the operator has.
    pub outputs: Vec<Output>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Outputs are right.
    Values,
    /// An error is right.
    Raises,
    /// Nothing is defined.
    Anything,
}

/// What is right of one output; an absent limit is `expected`.
#[derive(Clone, Debug)]
pub struct Output {
    /// The exact result, rounded once.
    pub expected: Arc<Tensor>,
    pub lower: Option<Arc<Tensor>>,
    pub upper: Option<Arc<Tensor>>,
    /// For each element, 0 or what is right besides: 1 not finite, 2 anything, 3 NaN.
    pub mask: Option<Arc<Tensor>>,
    /// Pairs of a place in the flat output and an index that is right there as well.
    pub ties: Option<Arc<Tensor>>,
}

/// Return the cases of the smoke tier, which are in this crate.
#[cfg(feature = "smoke")]
pub fn smoke() -> Vec<Case> {
    read(include_bytes!("../smoke.safetensors.gz")).expect("the crate has a sound file")
}
