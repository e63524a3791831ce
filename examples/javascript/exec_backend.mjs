/* AvgPool-1 and MaxPool-1 for `exec:`, see docs/protocol.md: plain JavaScript, no package.
 *
 *     conformance check "exec:node examples/javascript/exec_backend.mjs"
 *
 * Replace `pool` by a call of your own kernel.
 */
import { serve } from "./protocol.mjs";

const ARRAYS = { float32: Float32Array, float64: Float64Array };
const LARGEST = 1 << 27; // elements of an output

/* Take an attribute from those that are left. */
function taken(rest, name, fallback) {
  const value = rest.get(name);
  return rest.delete(name) ? value : fallback;
}

function integers(rest, name, count, least) {
  const list = taken(rest, name);
  const valid = (value) => Number.isSafeInteger(value) && value >= least;
  if (!Array.isArray(list) || list.length !== count || !list.every(valid))
    throw new Error(`${name}: ${count} integers from ${least}`);
  return list;
}

function choice(rest, name, ...words) {
  const word = taken(rest, name, words[0]);
  if (!words.includes(word)) throw new Error(`${name}: one of ${words.join(", ")}`);
  return word;
}

/* Return an axis as numbers: its cells, kernel, stride, pads, and how many windows it has. */
function axisOf(size, kernel, stride, begin, end, mode, ceil) {
  if (mode === "valid") begin = end = 0;
  let count = Math.ceil(size / stride);
  if (mode.startsWith("same")) {
    const total = Math.max(0, (count - 1) * stride + kernel - size);
    begin = mode === "same_upper" ? Math.floor(total / 2) : Math.ceil(total / 2);
    end = total - begin;
  } else {
    const room = size + begin + end - kernel;
    if (room < 0) throw new Error(`a kernel of ${kernel} on a padded axis of ${room + kernel}`);
    count = (ceil ? Math.ceil(room / stride) : Math.floor(room / stride)) + 1;
  }
  if (count > LARGEST) throw new Error("the output is too large");
  return { size, kernel, stride, begin, end, count };
}

function axesOf(attributes, sizes, average) {
  const rest = new Map(Object.entries(attributes));
  const count = sizes.length;
  if (count < 1 || count > 3) throw new Error(`${count} spatial axes`);
  const [kernel, strides] = ["kernel", "strides"].map((name) => integers(rest, name, count, 1));
  const [begins, ends] = ["pads_begin", "pads_end"].map((name) => integers(rest, name, count, 0));
  const ceil = choice(rest, "rounding_type", "floor", "ceil") === "ceil";
  const mode = choice(rest, "auto_pad", "explicit", "same_upper", "same_lower", "valid");
  const exclude = average ? taken(rest, "exclude_pad") : true;
  if (typeof exclude !== "boolean") throw new Error("exclude_pad: true or false");
  if (rest.size) throw new Error(`there are no attributes ${[...rest.keys()].join(", ")}`);
  const axes = sizes.map((size, j) =>
    axisOf(size, kernel[j], strides[j], begins[j], ends[j], mode, ceil));
  return { axes, countsPads: !exclude };
}

/* Return for each window of an axis the cells lo:hi it reads, and those in input and padding. */
function windowsOf({ size, kernel, stride, begin, end, count }) {
  return Array.from({ length: count }, (_, i) => {
    const start = i * stride - begin;
    const lo = Math.max(start, 0);
    const stop = start + kernel;
    return {
      lo,
      hi: Math.max(Math.min(stop, size), lo),
      padded: Math.max(Math.min(stop, size + end) - start, 0),
    };
  });
}

/* Compute every output in C order; a window without a cell gives NaN or -infinity.
 * `planes` is N times C; of `axes` there are three: with fewer, the first ones have one cell. */
function pool(data, planes, axes, average, countsPads, output) {
  const [depth, height, width] = axes.map((axis) => axis.size);
  const [zs, ys, xs] = axes.map(windowsOf);
  let place = 0;
  for (let plane = 0; plane < planes; plane++)
    for (const z of zs)
      for (const y of ys)
        for (const x of xs) {
          let sum = 0;
          let most = -Infinity;
          for (let i = z.lo; i < z.hi; i++)
            for (let j = y.lo; j < y.hi; j++) {
              const row = ((plane * depth + i) * height + j) * width;
              for (let k = x.lo; k < x.hi; k++) {
                const cell = data[row + k];
                sum += cell;
                most = Math.max(most, cell); // NaN if either is
              }
            }
          const cells = (z.hi - z.lo) * (y.hi - y.lo) * (x.hi - x.lo);
          const divisor = countsPads ? z.padded * y.padded * x.padded : cells;
          output[place++] = average ? sum / divisor : most;
        }
}

function compute(operator, attributes, inputs) {
  const [{ dtype, shape, data: bytes }, ...others] = inputs;
  if (others.length) throw new Error("one input");
  const average = operator === "AvgPool-1";
  const [batch, channels, ...sizes] = shape;
  const { axes, countsPads } = axesOf(attributes, sizes, average);
  const extents = [batch, channels, ...axes.map((axis) => axis.count)];
  const count = extents.reduce((product, extent) => product * extent, 1);
  if (count > LARGEST) throw new Error("the output is too large");
  const output = new ARRAYS[dtype](count);
  const data = new ARRAYS[dtype](Uint8Array.from(bytes).buffer);
  const one = { size: 1, kernel: 1, stride: 1, begin: 0, end: 0, count: 1 };
  const three = [...Array(3 - sizes.length).fill(one), ...axes];
  pool(data, batch * channels, three, average, countsPads, output);
  return [{ dtype, shape: extents, data: output }];
}

const types = Object.keys(ARRAYS);
await serve({ name: "exec_backend.mjs", supports: { "AvgPool-1": types, "MaxPool-1": types } }, compute);
