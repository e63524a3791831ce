//! The comparison says of every answer what the file of verdicts says of it.

use pooling_conformance::{conforms, read, Accepted, Case, Dtype, Kind, Output, Results, Tensor};

fn verdicts() -> Vec<u8> {
    std::fs::read(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/verdicts.safetensors.gz"
    ))
    .unwrap()
}

#[test]
fn every_answer_gets_its_verdict() {
    let mut answers = 0;
    for case in read(&verdicts()).unwrap() {
        for (number, (answer, expected)) in case.answers.iter().enumerate() {
            assert_eq!(
                conforms(&case, answer),
                *expected,
                "{}, answer {number}",
                case.id
            );
            answers += 1;
        }
    }
    assert!(answers > 1000);
}

#[test]
fn an_output_has_its_form_and_a_nan_is_right_where_a_sum_overflows() {
    let floats = |values: &[f32]| Tensor::new(Dtype::F32, &[1], values);
    let mask = Tensor::new(Dtype::U8, &[1], &[3u8]);
    let output = Output {
        expected: floats(&[f32::INFINITY]).into(),
        lower: None,
        upper: None,
        mask: Some(mask.into()),
        ties: None,
    };
    let accepted = Accepted {
        kind: Kind::Values,
        readings: vec![],
        outputs: vec![output],
    };
    let case = Case {
        accepted: vec![accepted],
        ..read(&verdicts()).unwrap().remove(0)
    };
    let is_right = |values: &[f32]| conforms(&case, &Ok(vec![floats(values)]));
    assert!(is_right(&[f32::INFINITY]) && is_right(&[f32::NAN]));
    assert!(!is_right(&[f32::NEG_INFINITY]) && !is_right(&[1.0]));
    assert!(!is_right(&[]) && !is_right(&[f32::INFINITY, 1.0]) && !conforms(&case, &Ok(vec![])));
}

#[test]
fn an_answer_whose_elements_do_not_fill_its_shape_leaves_the_others_sound() {
    let cases = read(&verdicts()).unwrap();
    let mut results = Results::default();
    for (case, shape) in cases.iter().zip([vec![3], vec![usize::MAX, 8], vec![2]]) {
        results.add(
            case,
            Ok(vec![Tensor::new(Dtype::F32, &shape, &[1.0f32, 2.0])]),
        );
    }
    let bytes = results.to_bytes();
    let text = String::from_utf8_lossy(&bytes);
    assert_eq!(text.matches("data_offsets").count(), 1);
    assert!(text.contains(r#""data_offsets":[0,8]"#));
}

#[test]
fn the_text_of_an_error_is_cut() {
    let cases = read(&verdicts()).unwrap();
    let mut results = Results::default();
    results.add(&cases[0], Err("no".repeat(1 << 20)));
    results.unsupported(&cases[1], &"\u{e9}".repeat(1 << 20));
    assert!(results.to_bytes().len() < 4000);
}

#[test]
fn a_damaged_file_is_an_error_in_one_line() {
    let sound = verdicts();
    let header = |text: &str| [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat();
    let huge =
        r#"{"0": {"dtype": "F32", "shape": [4294967296, 4294967296], "data_offsets": [0, 4]}}"#;
    let version = r#"{"__metadata__": {"pooling-conformance vectors": "{\"version\": 2}"}}"#;
    for content in [
        &sound[..sound.len() / 2],
        b"",
        &[255; 9],
        &header(huge),
        &header(version),
        &header("{}"),
    ] {
        let why = read(content).unwrap_err().to_string();
        assert!(!why.is_empty() && !why.contains('\n'), "{why}");
    }
}
