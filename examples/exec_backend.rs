//! AvgPool-1 and MaxPool-1 of float32 for `exec:`: see docs/protocol.md. Rust, no crate.
//!
//!     rustc -O examples/exec_backend.rs -o exec_backend
//!     conformance check exec:./exec_backend
//!
//! Replace `pool` by a call of your own kernel.

use std::io::{self, BufRead, Read, Write};

const LARGEST: i64 = 1 << 30; // of an attribute, and of the bytes of a tensor
const DEEPEST: usize = 16; // of nested JSON

// JSON -------------------------------------------------------------------------------------------

#[derive(Debug, PartialEq)]
enum Json {
    Integer(i64),
    Text(String),
    Bool(bool),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
    Other, // null, and numbers that are no 64-bit integers
}

impl Json {
    fn member(&self, name: &str) -> Option<&Json> {
        match self {
            Json::Object(members) => members.iter().find(|(key, _)| key == name).map(|(_, v)| v),
            _ => None,
        }
    }

    fn text(&self) -> Option<&str> {
        if let Json::Text(text) = self { Some(text) } else { None }
    }

    fn list(&self) -> Option<&[Json]> {
        if let Json::List(list) = self { Some(list) } else { None }
    }

    /// Returns a list of integers from `least` to LARGEST; None if it is anything else.
    fn integers(&self, least: i64) -> Option<Vec<i64>> {
        let valid = |item: &Json| match item {
            Json::Integer(n) if (least..=LARGEST).contains(n) => Some(*n),
            _ => None,
        };
        self.list()?.iter().map(valid).collect()
    }
}

struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn peek(&mut self) -> Option<u8> {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
        self.bytes.get(self.at).copied()
    }

    fn take(&mut self, wanted: u8) -> Option<()> {
        let found = self.peek() == Some(wanted);
        self.at += found as usize;
        found.then_some(())
    }

    fn value(&mut self, depth: usize) -> Option<Json> {
        match self.peek()? {
            _ if depth > DEEPEST => None,
            b'"' => self.string().map(Json::Text),
            b'[' => self.items(b']', |p| p.value(depth + 1)).map(Json::List),
            b'{' => self
                .items(b'}', |p| {
                    let key = p.peek().filter(|b| *b == b'"').and_then(|_| p.string())?;
                    p.take(b':')?;
                    Some((key, p.value(depth + 1)?))
                })
                .map(Json::Object),
            _ => self.word(),
        }
    }

    fn items<T>(&mut self, close: u8, item: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut found = Vec::new();
        self.at += 1; // the bracket
        if self.take(close).is_some() {
            return Some(found);
        }
        loop {
            found.push(item(self)?);
            if self.take(close).is_some() {
                return Some(found);
            }
            self.take(b',')?;
        }
    }

    /// Reads a string; an escape stays as it is, since no name of the protocol has one.
    fn string(&mut self) -> Option<String> {
        self.at += 1; // the quote
        let start = self.at;
        loop {
            match self.bytes.get(self.at)? {
                b'"' => break,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        let text = self.bytes.get(start..self.at - 1)?;
        Some(String::from_utf8_lossy(text).into_owned())
    }

    fn word(&mut self) -> Option<Json> {
        let rest = &self.bytes[self.at..];
        let is_end = |b: &u8| b",:[]{}\" \t\r\n".contains(b);
        let length = rest.iter().position(is_end).unwrap_or(rest.len());
        self.at += length;
        match std::str::from_utf8(&rest[..length]).ok()? {
            "" => None,
            "true" => Some(Json::Bool(true)),
            "false" => Some(Json::Bool(false)),
            number => Some(number.parse().map_or(Json::Other, Json::Integer)),
        }
    }
}

fn parsed(line: &[u8]) -> Option<Json> {
    let mut parser = Parser { bytes: line, at: 0 };
    let value = parser.value(0)?;
    (parser.peek().is_none() && matches!(value, Json::Object(_))).then_some(value)
}

// The kernel -------------------------------------------------------------------------------------

/// An axis: its cells, kernel, stride, pads, and how many windows it has.
#[derive(Clone, Copy)]
struct Axis {
    size: i64,
    kernel: i64,
    stride: i64,
    begin: i64,
    end: i64,
    count: i64,
}

const ONE_CELL: Axis = Axis { size: 1, kernel: 1, stride: 1, begin: 0, end: 0, count: 1 };

fn axis_of(
    size: i64, kernel: i64, stride: i64, pads: (i64, i64), mode: &str, ceil: bool,
) -> Result<Axis, String> {
    let (mut begin, mut end) = if mode == "valid" { (0, 0) } else { pads };
    let divided_up = |a: i64| (a + stride - 1) / stride;
    let count = if mode.starts_with("same") {
        let count = divided_up(size);
        let total = ((count - 1) * stride + kernel - size).max(0);
        begin = if mode == "same_upper" { total / 2 } else { total - total / 2 };
        end = total - begin;
        count
    } else {
        let room = size + begin + end - kernel;
        if room < 0 {
            return Err("the kernel is longer than the padded axis".into());
        }
        (if ceil { divided_up(room) } else { room / stride }) + 1
    };
    if count > LARGEST / 4 {
        return Err("the output is too large".into());
    }
    Ok(Axis { size, kernel, stride, begin, end, count })
}

/// Reads attributes: the axes, and whether padding counts.
fn axes_of(
    attributes: &Json, sizes: &[i64], average: bool,
) -> Result<(Vec<Axis>, bool), String> {
    let Json::Object(members) = attributes else { return Err("attributes: an object".into()) };
    if !(1..=3).contains(&sizes.len()) {
        return Err("the input must have 3 to 5 dimensions".into());
    }
    let list = |name: &str, least| {
        let numbers = attributes.member(name).and_then(|value| value.integers(least));
        numbers.filter(|n| n.len() == sizes.len()).ok_or(format!("{name}: integers from {least}"))
    };
    let (kernel, strides) = (list("kernel", 1)?, list("strides", 1)?);
    let (begins, ends) = (list("pads_begin", 0)?, list("pads_end", 0)?);
    let choice = |name: &str, words: &[&'static str]| match attributes.member(name) {
        None => Ok(words[0]),
        Some(value) => {
            let found = words.iter().find(|word| value.text() == Some(**word)).copied();
            found.ok_or(format!("{name}: {words:?}").replace('"', ""))
        }
    };
    let mode = choice("auto_pad", &["explicit", "same_upper", "same_lower", "valid"])?;
    let ceil = choice("rounding_type", &["floor", "ceil"])? == "ceil";
    let excludes = match attributes.member("exclude_pad") {
        Some(Json::Bool(value)) if average => *value,
        None if !average => true,
        _ => return Err("exclude_pad: true or false, for averages".into()),
    };
    let known = [
        "kernel", "strides", "pads_begin", "pads_end", "auto_pad", "rounding_type", "exclude_pad",
    ];
    if members.iter().any(|(name, _)| !known.contains(&name.as_str())) {
        return Err("there is an attribute that the operator does not have".into());
    }
    let axis = |j: usize| {
        axis_of(sizes[j], kernel[j], strides[j], (begins[j], ends[j]), mode, ceil)
    };
    let axes: Result<_, _> = (0..sizes.len()).map(axis).collect();
    Ok((axes?, !excludes))
}

/// The cells lo..hi that a window reads along an axis, and how many it has in input and padding.
struct Window {
    lo: usize,
    hi: usize,
    padded: i64,
}

/// Lays the windows of an axis out.
fn windows_of(axis: Axis) -> Vec<Window> {
    let window = |i: i64| {
        let start = i * axis.stride - axis.begin;
        let stop = start + axis.kernel;
        let lo = start.clamp(0, axis.size);
        let hi = stop.min(axis.size).max(lo);
        // Cells beyond the end padding, which only ceil makes, do not exist.
        let padded = (stop.min(axis.size + axis.end) - start).max(0);
        Window { lo: lo as usize, hi: hi as usize, padded }
    };
    (0..axis.count).map(window).collect()
}

/// Computes every output in C order; a window without a cell gives NaN or -infinity. With fewer
/// axes than three, the first ones have one cell.
fn pool(data: &[f32], three: [Axis; 3], average: bool, counts_pads: bool) -> Vec<f32> {
    let [depth, height, width] = three.map(|axis| axis.size as usize);
    let axes = three.map(windows_of);
    let mut output = Vec::new();
    for plane in data.chunks_exact((depth * height * width).max(1)) {
        for z in &axes[0] {
            for y in &axes[1] {
                for x in &axes[2] {
                    let (mut sum, mut most) = (0.0f64, f32::NEG_INFINITY);
                    for i in z.lo..z.hi {
                        for j in y.lo..y.hi {
                            let row = (i * height + j) * width;
                            for &cell in &plane[row + x.lo..row + x.hi] {
                                sum += cell as f64;
                                if cell > most || cell.is_nan() {
                                    most = cell; // NaN stays: nothing is larger
                                }
                            }
                        }
                    }
                    let cells = ((z.hi - z.lo) * (y.hi - y.lo) * (x.hi - x.lo)) as f64;
                    let padded = z.padded as f64 * y.padded as f64 * x.padded as f64;
                    let divisor = if counts_pads { padded } else { cells };
                    output.push(if average { (sum / divisor) as f32 } else { most });
                }
            }
        }
    }
    output
}

// Messages ---------------------------------------------------------------------------------------

/// What the harness sent breaks the protocol: nothing sensible can be answered.
fn give_up(why: &str) -> ! {
    eprintln!("exec_backend: {why}");
    std::process::exit(2)
}

fn read_line(input: &mut impl BufRead) -> Option<Json> {
    let mut line = Vec::new();
    if input.take(1 << 20).read_until(b'\n', &mut line).is_err() || line.is_empty() {
        return None;
    }
    if line.last() != Some(&b'\n') {
        give_up("a line is cut off or too long");
    }
    Some(parsed(&line).unwrap_or_else(|| give_up("a line is no JSON object")))
}

struct Input {
    dtype: String,
    shape: Vec<i64>,
    bytes: Vec<u8>,
}

/// Reads an input that a call describes, and the bytes that follow.
fn read_input(described: &Json, input: &mut impl Read) -> Option<Input> {
    let dtype = described.member("dtype")?.text()?.to_owned();
    let shape = described.member("shape")?.integers(0)?;
    // The first number in a name is the element's bits: float32, bfloat16, float8_e5m2.
    let bits: i64 = dtype.split(|c: char| !c.is_ascii_digit()).find(|n| !n.is_empty())?.parse().ok()?;
    let size = shape.iter().try_fold(bits / 8, |n, d| n.checked_mul(*d).filter(|n| *n <= LARGEST))?;
    let mut bytes = vec![0; size as usize];
    input.read_exact(&mut bytes).ok()?;
    Some(Input { dtype, shape, bytes })
}

/// Returns the shape and the elements of the output; why there is none, with the key to say it.
fn compute(
    operator: &str, attributes: &Json, inputs: &[Input],
) -> Result<(Vec<i64>, Vec<f32>), (&'static str, String)> {
    let average = operator == "AvgPool-1";
    if !average && operator != "MaxPool-1" {
        return Err(("unsupported", "AvgPool-1 and MaxPool-1 only".into()));
    }
    let [Input { dtype, shape, bytes }] = inputs else { return Err(("error", "one input".into())) };
    if dtype != "float32" {
        return Err(("unsupported", "float32 only".into()));
    }
    let sizes = shape.get(2..).ok_or(("error", "no spatial axes".to_owned()))?;
    let (axes, counts_pads) = axes_of(attributes, sizes, average).map_err(|why| ("error", why))?;
    let extents: Vec<i64> =
        shape[..2].iter().copied().chain(axes.iter().map(|axis| axis.count)).collect();
    let fits = |n: i64, d: &i64| n.checked_mul(*d).filter(|n| *n <= LARGEST / 4);
    if extents.iter().try_fold(1, fits).is_none() {
        return Err(("error", "the output is too large".into()));
    }
    let data: Vec<f32> =
        bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    let mut three = [ONE_CELL; 3];
    three[3 - axes.len()..].copy_from_slice(&axes);
    Ok((extents, pool(&data, three, average, counts_pads)))
}

/// Answers one call: reads its bytes first, whatever the answer will be.
fn serve(call: &Json, input: &mut impl Read, output: &mut impl Write) -> io::Result<()> {
    let Some(Json::Integer(number)) = call.member("call") else { give_up("a call has no number") };
    let operator = call.member("operator").and_then(Json::text);
    let operator = operator.unwrap_or_else(|| give_up("a call has no operator"));
    let described = call.member("inputs").and_then(Json::list);
    let described = described.unwrap_or_else(|| give_up("the call has no list of inputs"));
    let read = |each| read_input(each, input).unwrap_or_else(|| give_up("an input is no array"));
    let inputs: Vec<Input> = described.iter().map(read).collect();
    match compute(operator, call.member("attributes").unwrap_or(&Json::Other), &inputs) {
        Err((key, why)) => writeln!(output, "{{\"call\": {number}, \"{key}\": \"{why}\"}}")?,
        Ok((shape, elements)) => {
            let dtype = "\"dtype\": \"float32\"";
            writeln!(output, "{{\"call\": {number}, \"output\": {{{dtype}, \"shape\": {shape:?}}}}}")?;
            let bytes: Vec<u8> = elements.iter().flat_map(|element| element.to_le_bytes()).collect();
            output.write_all(&bytes)?;
        }
    }
    output.flush()
}

fn main() -> io::Result<()> {
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let hello = read_line(&mut input);
    let protocol = hello.as_ref().and_then(|hello| hello.member("protocol")?.text());
    if protocol != Some("pooling-conformance") {
        give_up("conformance runs this program");
    }
    // Whatever version was offered, this is the one spoken here.
    let supports = "{\"AvgPool-1\": [\"float32\"], \"MaxPool-1\": [\"float32\"]}";
    writeln!(output, "{{\"version\": 1, \"name\": \"exec_backend.rs\", \"supports\": {supports}}}")?;
    output.flush()?;
    while let Some(call) = read_line(&mut input) {
        serve(&call, &mut input, &mut output)?;
    }
    Ok(())
}
