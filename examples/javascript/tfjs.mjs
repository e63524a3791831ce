/* The pooling of TensorFlow.js on its CPU backend, for `exec:`: OpenVINO's operators and WebNN's.
 *
 *     npm install @tensorflow/tfjs
 *     conformance check "exec:node tfjs.mjs" --operator AvgPool-1 --operator 'WebNN-*Pool2d'
 */
import * as tf from "@tensorflow/tfjs";
import { serve, Unsupported } from "./protocol.mjs";
import { fromWebNN } from "./webnn.mjs";

const AVERAGES = ["AvgPool-1", "WebNN-averagePool2d"];
const MAXIMA = ["MaxPool-1", "WebNN-maxPool2d"];

/* Return the padding of tf.avgPool and tf.maxPool: a word, one number, or a pair for each axis. */
function paddingOf({ auto_pad: mode = "explicit", pads_begin: begins, pads_end: ends }) {
  if (mode === "valid") return "valid";
  if (mode === "same_upper") return "same";
  if (mode === "same_lower") throw new Unsupported(mode);
  if (mode !== "explicit") throw new Error(`auto_pad: ${mode}`);
  const pads = [...begins, ...ends];
  if (pads.every((pad) => pad === pads[0])) return pads[0];
  if (begins.length !== 2 || ends.length !== 2) throw new Unsupported("pads that differ, but for two axes");
  return [[0, 0], [begins[0], ends[0]], [begins[1], ends[1]], [0, 0]];
}

async function compute(operator, given, inputs) {
  const [{ shape, data }] = inputs;
  const attributes = operator.startsWith("WebNN") ? fromWebNN(given, shape) : given;
  const { kernel, strides, dilations, rounding_type: rounding = "floor", exclude_pad: excludes } = attributes;
  if (rounding !== "floor" && rounding !== "ceil") throw new Error(`rounding_type: ${rounding}`);
  const axes = shape.length - 2;
  if (axes !== 2 && axes !== 3) throw new Unsupported(`${axes} spatial axes`);
  if (`${dilations ?? [1, 1]}` !== "1,1") throw new Unsupported(`dilations ${dilations}`);
  const padding = paddingOf(attributes);
  const padded = padding !== "valid" && padding !== 0;
  const numeric = typeof padding === "number"; // only then does it take a rounding
  if (operator === "AvgPool-1" && excludes !== true && padded)
    throw new Unsupported("padding that counts");
  if (rounding === "ceil" && !numeric) throw new Unsupported("ceil with this padding");
  const last = [0, ...Array.from({ length: axes }, (_, i) => i + 2), 1]; // channels last
  const first = [0, axes + 1, ...Array.from({ length: axes }, (_, i) => i + 1)];
  const pool = AVERAGES.includes(operator) ? [tf.avgPool, tf.avgPool3d] : [tf.maxPool, tf.maxPool3d];
  const result = tf.tidy(() => {
    const x = tf.tensor(new Float32Array(Uint8Array.from(data).buffer), shape, "float32");
    const word = numeric ? rounding : undefined;
    return pool[axes - 2](x.transpose(last), kernel, strides, padding, word).transpose(first);
  });
  const output = { dtype: result.dtype, shape: result.shape, data: await result.data() };
  result.dispose();
  return [output];
}

await tf.setBackend("cpu");
const supports = Object.fromEntries([...AVERAGES, ...MAXIMA].map((name) => [name, ["float32"]]));
await serve({ name: `tfjs ${tf.version.tfjs}`, engine: tf.version.tfjs, supports }, compute);
