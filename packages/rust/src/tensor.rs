//! Tensors: element types, little-endian bytes, and elements as numbers that compare exactly.

/// An element type, by the name that safetensors gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(non_camel_case_types)]
pub enum Dtype {
    F8_E4M3,
    F8_E5M2,
    BF16,
    F16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
}

impl Dtype {
    const ALL: [Dtype; 14] = {
        use Dtype::*;
        [
            F8_E4M3, F8_E5M2, BF16, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64,
        ]
    };

    pub(crate) fn named(name: &str) -> Option<Dtype> {
        Dtype::ALL
            .into_iter()
            .find(|dtype| format!("{dtype:?}") == name)
    }

    /// Bytes of one element.
    pub fn size(self) -> usize {
        match self {
            Dtype::F8_E4M3 | Dtype::F8_E5M2 | Dtype::I8 | Dtype::U8 => 1,
            Dtype::BF16 | Dtype::F16 | Dtype::I16 | Dtype::U16 => 2,
            Dtype::F32 | Dtype::I32 | Dtype::U32 => 4,
            Dtype::F64 | Dtype::I64 | Dtype::U64 => 8,
        }
    }
}

/// A type of Rust that holds elements. Those of F16 and BF16 are their bits, as `u16`, and
/// those of F8_E4M3 and F8_E5M2 theirs, as `u8`.
pub trait Element: Copy {
    /// The element types that it holds.
    const DTYPES: &'static [Dtype];
    /// Return the element of little-endian bytes.
    fn read(bytes: &[u8]) -> Self;
    /// Append little-endian bytes.
    fn write(self, bytes: &mut Vec<u8>);
}

macro_rules! elements {
    ($($type:ty: $($dtype:ident)+;)+) => {$(
        impl Element for $type {
            const DTYPES: &'static [Dtype] = &[$(Dtype::$dtype),+];
            fn read(bytes: &[u8]) -> Self {
                <$type>::from_le_bytes(bytes.try_into().unwrap())
            }
            fn write(self, bytes: &mut Vec<u8>) {
                bytes.extend(self.to_le_bytes());
            }
        }
    )+};
}

elements! {
    f32: F32; f64: F64; i8: I8; i16: I16; i32: I32; i64: I64;
    u8: U8 F8_E4M3 F8_E5M2; u16: U16 F16 BF16; u32: U32; u64: U64;
}

/// An array in row-major order; `bytes` are its elements, little-endian.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    pub dtype: Dtype,
    pub shape: Vec<usize>,
    pub bytes: Vec<u8>,
}

impl Tensor {
    /// Return a tensor of elements, which may be more or fewer than the shape has: that never conforms.
    ///
    /// Panics if `T` does not hold elements of `dtype`.
    pub fn new<T: Element>(dtype: Dtype, shape: &[usize], elements: &[T]) -> Tensor {
        check::<T>(dtype);
        let mut bytes = Vec::with_capacity(elements.len() * dtype.size());
        elements
            .iter()
            .for_each(|element| element.write(&mut bytes));
        Tensor {
            dtype,
            shape: shape.to_vec(),
            bytes,
        }
    }

    /// Say whether the elements are as many as the shape has.
    pub(crate) fn is_filled(&self) -> bool {
        let count = |n: usize, extent: &usize| n.checked_mul(*extent);
        self.shape.iter().try_fold(self.dtype.size(), count) == Some(self.bytes.len())
    }

    /// Return the elements. Panics if `T` does not hold elements of the tensor's type.
    pub fn elements<T: Element>(&self) -> Vec<T> {
        check::<T>(self.dtype);
        self.bytes
            .chunks_exact(self.dtype.size())
            .map(T::read)
            .collect()
    }

    /// Yield the elements as numbers.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = Number> + '_ {
        self.bytes
            .chunks_exact(self.dtype.size())
            .map(|bytes| match self.dtype {
                Dtype::F8_E4M3 => Number::Float(finite8(bytes[0])),
                Dtype::F8_E5M2 => Number::Float(half(u16::from(bytes[0]) << 8)),
                Dtype::BF16 => {
                    Number::Float(f32::from_bits(u32::from(u16::read(bytes)) << 16).into())
                }
                Dtype::F16 => Number::Float(half(u16::read(bytes))),
                Dtype::F32 => Number::Float(f32::read(bytes).into()),
                Dtype::F64 => Number::Float(f64::read(bytes)),
                Dtype::I8 => Number::Integer(i8::read(bytes).into()),
                Dtype::I16 => Number::Integer(i16::read(bytes).into()),
                Dtype::I32 => Number::Integer(i32::read(bytes).into()),
                Dtype::I64 => Number::Integer(i64::read(bytes).into()),
                Dtype::U8 => Number::Integer(u8::read(bytes).into()),
                Dtype::U16 => Number::Integer(u16::read(bytes).into()),
                Dtype::U32 => Number::Integer(u32::read(bytes).into()),
                Dtype::U64 => Number::Integer(u64::read(bytes).into()),
            })
    }
}

fn check<T: Element>(dtype: Dtype) {
    assert!(
        T::DTYPES.contains(&dtype),
        "elements of {dtype:?} are no {}",
        std::any::type_name::<T>()
    );
}

/// An element, exactly: two of one element type compare as their values do.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub(crate) enum Number {
    Float(f64),
    Integer(i128),
}

impl Number {
    pub(crate) fn is_nan(self) -> bool {
        matches!(self, Number::Float(value) if value.is_nan())
    }

    pub(crate) fn is_finite(self) -> bool {
        !matches!(self, Number::Float(value) if !value.is_finite())
    }
}

/// Return the value of a half-precision number, by its bits.
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let magnitude = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 {
        -magnitude
    } else {
        magnitude
    }
}

/// Return the value of a number of 8 bits of a format without infinities, by its bits.
fn finite8(bits: u8) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 3 & 15), f64::from(bits & 7));
    let magnitude = match exponent {
        0 => fraction * 2f64.powi(-9),
        15 if fraction == 7.0 => f64::NAN,
        _ => (8.0 + fraction) * 2f64.powi(exponent - 10),
    };
    if bits >> 7 == 1 {
        -magnitude
    } else {
        magnitude
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats<T: Element>(dtype: Dtype, bits: &[T]) -> Vec<f64> {
        let float = |number| match number {
            Number::Float(value) => value,
            Number::Integer(_) => unreachable!("{dtype:?} is no integer"),
        };
        let tensor = Tensor::new(dtype, &[bits.len()], bits);
        tensor.numbers().map(float).collect()
    }

    #[test]
    fn elements_of_8_bits_are_their_bits() {
        assert_eq!(
            floats(Dtype::F8_E4M3, &[1u8, 0x38, 0xfe, 0x78]),
            [2f64.powi(-9), 1.0, -448.0, 256.0]
        );
        assert!(floats(Dtype::F8_E4M3, &[0xffu8])[0].is_nan());
        assert_eq!(
            floats(Dtype::F8_E5M2, &[1u8, 0x3c, 0xfb, 0x7c]),
            [2f64.powi(-16), 1.0, -57344.0, f64::INFINITY]
        );
        assert!(floats(Dtype::F8_E5M2, &[0x7du8])[0].is_nan());
    }

    #[test]
    fn elements_of_half_precision_are_their_bits() {
        let halves = floats(Dtype::F16, &[1u16, 0x400, 0x3c00, 0xfbff, 0x7c00, 0xfc00]);
        let infinity = f64::INFINITY;
        let small = [2f64.powi(-24), 2f64.powi(-14)];
        assert_eq!(
            halves,
            [small[0], small[1], 1.0, -65504.0, infinity, -infinity]
        );
        assert_eq!(
            floats(Dtype::BF16, &[0x3f80u16, 0xc040, 0x7f80]),
            [1.0, -3.0, infinity]
        );
        assert!(floats(Dtype::F16, &[0x7e00u16])[0].is_nan());
    }
}
