//! What is right: the comparison of docs/results.md.

use crate::tensor::Number;
use crate::{Accepted, Answer, Case, Kind, Output, Tensor};

/// Codes of a mask: what is right besides what lies within the limits.
const NOT_FINITE: u8 = 1;
const ANYTHING: u8 = 2;
const NAN: u8 = 3;

/// Say whether an answer to a case is right: outputs, of which those after the first may be left out,
/// or the text of an error.
pub fn conforms(case: &Case, answer: &Answer) -> bool {
    case.accepted
        .iter()
        .any(|accepted| admits(accepted, answer))
}

fn admits(Accepted { kind, outputs, .. }: &Accepted, answer: &Answer) -> bool {
    match (kind, answer) {
        (Kind::Anything, _) | (Kind::Raises, Err(_)) => true,
        (Kind::Raises, Ok(_)) => false,
        (Kind::Values, Err(_)) => outputs
            .iter()
            .flat_map(|output| &output.mask)
            .any(|mask| mask.bytes.contains(&ANYTHING)),
        (Kind::Values, Ok(given)) => {
            (1..=outputs.len()).contains(&given.len())
                && outputs
                    .iter()
                    .zip(given)
                    .all(|(output, tensor)| fits(output, tensor))
        }
    }
}

fn fits(output: &Output, tensor: &Tensor) -> bool {
    let Output {
        expected,
        lower,
        upper,
        mask,
        ties,
    } = output;
    let form = |tensor: &Tensor| (tensor.dtype, tensor.shape.clone(), tensor.bytes.len());
    if form(tensor) != form(expected) {
        return false;
    }
    let (lower, upper) = (
        lower.as_ref().unwrap_or(expected),
        upper.as_ref().unwrap_or(expected),
    );
    let ties = ties
        .as_ref()
        .map_or(Vec::new(), |ties| ties.elements::<i64>());
    let tied = |place: usize, value| {
        ties.chunks_exact(2)
            .any(|tie| tie[0] == place as i64 && value == Number::Integer(tie[1].into()))
    };
    let limits = lower.numbers().zip(upper.numbers());
    tensor
        .numbers()
        .zip(limits)
        .enumerate()
        .all(|(place, (value, (lower, upper)))| {
            let code = mask.as_ref().map_or(0, |mask| mask.bytes[place]);
            lower <= value && value <= upper
                || lower.is_nan() && value.is_nan()
                || code == ANYTHING
                || code == NOT_FINITE && !value.is_finite()
                || code == NAN && value.is_nan()
                || tied(place, value)
        })
}
