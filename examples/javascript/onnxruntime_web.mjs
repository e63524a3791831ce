/* ONNX's pooling operators in onnxruntime-web, for `exec:`, and WebNN's, as nodes of ONNX.
 *
 *     npm install onnxruntime-web
 *     conformance check "exec:node onnxruntime_web.mjs" --operator 'ONNX-*' --operator 'WebNN-*'
 *
 * A call is a model of one node, written here in the few fields of ONNX's protobuf that it needs.
 */
import { InferenceSession, Tensor, env } from "onnxruntime-web";
import { serve, Unsupported } from "./protocol.mjs";
import { fromWebNN } from "./webnn.mjs";

const ELEMENT_TYPES = { float32: 1, uint8: 2, int8: 3, int64: 7, float64: 11 }; // of onnx.proto
const ARRAYS = {
  float32: Float32Array,
  uint8: Uint8Array,
  int8: Int8Array,
  int64: BigInt64Array,
  float64: Float64Array,
};
const KINDS = ["AveragePool", "MaxPool", "LpPool"];
const OPERATORS = [...KINDS, ...KINDS.map((kind) => `Global${kind}`)];
const OF_WEBNN = { averagePool2d: "AveragePool", maxPool2d: "MaxPool", l2Pool2d: "LpPool" };
const OPSET = 22;
const NOT_DONE = /Could not find an implementation|Unsupported (?:pooling size|kernel dimension)/; // in its messages

/* Protobuf: each field is a list of bytes. */
function varint(value) {
  const bytes = [];
  for (let rest = BigInt.asUintN(64, BigInt(value)); ; rest >>= 7n) {
    bytes.push(Number(rest & 127n) | (rest > 127n ? 128 : 0));
    if (rest <= 127n) return bytes;
  }
}
const integer = (field, value) => [...varint(field << 3), ...varint(value)];
const message = (field, bytes) => [...varint((field << 3) | 2), ...varint(bytes.length), ...bytes];
const text = (field, value) => message(field, [...Buffer.from(value)]);

function attribute(name, value) {
  if (typeof value === "string") return [...text(1, name), ...text(4, value), ...integer(20, 3)];
  const list = Array.isArray(value);
  const numbers = list ? value : [value];
  if (!numbers.every(Number.isSafeInteger)) throw new Error(`${name}: integers`);
  const values = numbers.flatMap((number) => integer(list ? 8 : 3, number));
  return [...text(1, name), ...values, ...integer(20, list ? 7 : 2)];
}

function modelOf(operator, attributes, dtype, shape, outputs) {
  const dimensions = shape.flatMap((size) => message(1, integer(1, size)));
  const tensor = [...integer(1, ELEMENT_TYPES[dtype]), ...message(2, dimensions)];
  const node = [
    ...text(1, "x"),
    ...outputs.flatMap((name) => text(2, name)),
    ...text(4, operator),
    ...Object.entries(attributes).flatMap(([name, value]) => message(5, attribute(name, value))),
  ];
  const graph = [
    ...message(1, node),
    ...text(2, "pool"),
    ...message(11, [...text(1, "x"), ...message(2, message(1, tensor))]),
    ...outputs.flatMap((name) => message(12, text(1, name))),
  ];
  return Uint8Array.from([...integer(1, 10), ...message(7, graph), ...message(8, integer(2, OPSET))]);
}

/* Return the attributes of the node that a browser makes of an operator of WebNN. */
function nodeOf(attributes, shape) {
  const { kernel, strides, dilations, pads_begin, pads_end, rounding_type } = fromWebNN(attributes, shape);
  if (rounding_type !== "floor" && rounding_type !== "ceil") throw new Error(`rounding: ${rounding_type}`);
  const ceil = rounding_type === "ceil";
  const past = (size, i) => {
    const room = size + pads_begin[i] + pads_end[i] - (kernel[i] - 1) * dilations[i] - 1;
    return Math.ceil(room / strides[i]) * strides[i] >= size + pads_begin[i];
  };
  if (ceil && shape.slice(2).some(past)) throw new Unsupported("ONNX leaves out a window past the input");
  const pads = [...pads_begin, ...pads_end];
  return { kernel_shape: kernel, strides, dilations, pads, ceil_mode: Number(ceil) };
}

async function compute(operator, given, inputs) {
  const [{ dtype, shape, data }] = inputs;
  const [document, kind] = operator.split("-");
  const isWebNN = document === "WebNN";
  const name = isWebNN ? OF_WEBNN[kind] : kind;
  const attributes = isWebNN ? nodeOf(given, shape) : given;
  const outputs = operator.startsWith("ONNX-MaxPool") ? ["y", "indices"] : ["y"];
  const model = modelOf(name, attributes, dtype, shape, outputs);
  let session;
  try {
    session = await InferenceSession.create(model, { logSeverityLevel: 4 });
    const array = new ARRAYS[dtype](Uint8Array.from(data).buffer);
    const results = await session.run({ x: new Tensor(dtype, array, shape) });
    return outputs.map((each) => ({
      dtype: results[each].type,
      shape: results[each].dims.map(Number),
      data: results[each].data,
    }));
  } catch (error) {
    throw NOT_DONE.test(error.message) ? new Unsupported(error.message) : error;
  } finally {
    await session?.release();
  }
}

env.wasm.numThreads = 1;
const supports = Object.fromEntries([
  ...OPERATORS.map((name) => [`ONNX-${name}-22`, Object.keys(ELEMENT_TYPES)]),
  ...Object.keys(OF_WEBNN).map((name) => [`WebNN-${name}`, ["float32", "int8", "uint8"]]), // of both documents
]);
await serve({ name: `onnxruntime-web ${env.versions.web}`, engine: env.versions.web, supports }, compute);
