// Elements of the page, and elements of arrays: from base64 to numbers and to text.

const make = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const shape = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child != null));
  return element;
}

const FLOATS = {
  float16: [11, -14], bfloat16: [8, -126], float32: [24, -126], float64: [53, -1022],
  float8_e4m3fn: [4, -6], float8_e5m2: [3, -14],
};
const ARRAYS = {
  float32: Float32Array, float64: Float64Array, int8: Int8Array, uint8: Uint8Array, int16: Int16Array,
  uint16: Uint16Array, int32: Int32Array, uint32: Uint32Array, int64: BigInt64Array, uint64: BigUint64Array,
};

function bytes(base64) {
  const text = atob(base64), found = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) found[i] = text.charCodeAt(i);
  return found;
}

function values(base64, dtype) {
  const buffer = bytes(base64).buffer;
  if (dtype === "float16") return Float64Array.from(new Uint16Array(buffer), half);
  if (dtype === "bfloat16") {
    return new Float32Array(Uint32Array.from(new Uint16Array(buffer), (bits) => bits << 16).buffer);
  }
  if (dtype === "float8_e5m2") return Float64Array.from(new Uint8Array(buffer), (bits) => half(bits << 8));
  if (dtype === "float8_e4m3fn") return Float64Array.from(new Uint8Array(buffer), finite8);
  return new ARRAYS[dtype](buffer);
}

function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1, exponent = (bits >> 10) & 31, fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? (1 + fraction / 1024) * 2 ** (exponent - 15) : fraction * 2 ** -24);
}

function finite8(bits) {
  const sign = bits & 0x80 ? -1 : 1, exponent = (bits >> 3) & 15, fraction = bits & 7;
  if ((bits & 0x7f) === 0x7f) return NaN;
  return sign * (exponent ? (1 + fraction / 8) * 2 ** (exponent - 7) : fraction * 2 ** -9);
}

const bit = (mask, i) => Boolean(mask && (mask[i >> 3] >> (i & 7)) & 1);

// The distance of a value to the next of its type, away from zero.
function spacing(value, dtype) {
  const [precision, least] = FLOATS[dtype], size = Math.abs(value);
  let exponent = Math.max(Math.floor(Math.log2(size || 2 ** least)), least);
  if (2 ** exponent > size && exponent > least) exponent--;
  if (2 ** (exponent + 1) <= size) exponent++;
  return 2 ** (exponent - precision + 1);
}

const special = (value) =>
  typeof value === "bigint" || Number.isInteger(value) && Math.abs(value) < 1e6
    ? (Object.is(value, -0) ? "-0" : String(value))
    : Number.isNaN(value) ? "nan" : Number.isFinite(value) ? null : value > 0 ? "inf" : "-inf";

const digitsOf = (value, digits) =>
  value && Math.abs(value) < 1e-4 ? value.toExponential(digits - 1) : value.toPrecision(digits);

// The shortest decimal that reads back as this element.
function exact(value, dtype) {
  const known = special(value);
  if (known !== null || !(dtype in FLOATS)) return known ?? String(value);
  const type = dtype === "bfloat16" || dtype.startsWith("float8") ? "float32" : dtype; // which holds it, as the facts have it
  const below = Math.log2(Math.abs(value)) % 1 ? 2 : 4; // a power of two lies nearer to the next below
  const near = spacing(value, type) / below;
  for (let digits = 1; digits < 17; digits++) {
    const text = digitsOf(value, digits);
    if (Math.abs(Number(text) - value) < near || Number(text) === value) return tidy(text);
  }
  return String(value);
}

const brief = (value) => {
  const known = special(value);
  return known !== null && known.length < 7 ? known : tidy(digitsOf(Number(value), 3));
};
const tidy = (text) => {
  const [mantissa, exponent] = text.split("e");
  const short = mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa;
  return exponent ? `${short}e${Number(exponent)}` : short;
};
const rough = (value) => tidy(digitsOf(value, 3));
