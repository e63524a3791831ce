/* Runs vectors that `conformance export safetensors` wrote: AdaptiveAvgPool-8 of float32.
 *
 *     node examples/javascript/run_exported.mjs EXPORT.safetensors RESULTS.safetensors
 *
 * Plain JavaScript, no package. Replace `compute` by a call of your own kernel.
 */
import { readFileSync, writeFileSync } from "node:fs";

const SIZES = { I32: Int32Array, I64: BigInt64Array };

function compute([data, sizes]) {
  const axes = data.shape.length - 2;
  if (axes < 1 || axes > 3 || !(sizes.dtype in SIZES) || `${sizes.shape}` !== `${axes}`)
    throw new Error(`sizes of shape [${sizes.shape}] for ${axes} axes`);
  const out = Array.from(new SIZES[sizes.dtype](sizes.bytes), Number);
  if (out.some((size) => size < 0)) throw new Error(`a size of ${out}`);
  const ones = Array(3 - axes).fill(1); // one axis as three
  const [d, o] = [[...ones, ...data.shape.slice(2)], [...ones, ...out]];
  const cells = new Float32Array(data.bytes);
  const block = (i, axis) => [
    Math.floor((i * d[axis]) / o[axis]),
    Math.ceil(((i + 1) * d[axis]) / o[axis]),
  ];
  const result = [];
  for (let plane = 0; plane < data.shape[0] * data.shape[1]; plane++)
    for (let i = 0; i < o[0]; i++)
      for (let j = 0; j < o[1]; j++)
        for (let k = 0; k < o[2]; k++) {
          const [[x0, x1], [y0, y1], [z0, z1]] = [block(i, 0), block(j, 1), block(k, 2)];
          let sum = 0;
          for (let x = x0; x < x1; x++)
            for (let y = y0; y < y1; y++)
              for (let z = z0; z < z1; z++)
                sum += cells[((plane * d[0] + x) * d[1] + y) * d[2] + z];
          result.push(sum / ((x1 - x0) * (y1 - y0) * (z1 - z0)));
        }
  return { shape: [...data.shape.slice(0, 2), ...out], values: Float32Array.from(result) };
}

function read(path) {
  const { buffer, byteOffset, byteLength } = readFileSync(path);
  const file = buffer.slice(byteOffset, byteOffset + byteLength);
  const start = 8 + Number(new DataView(file).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(file.slice(8, start)));
  const tensor = (name) => {
    const { dtype, shape, data_offsets } = header[name];
    const [begin, end] = data_offsets;
    return { dtype, shape, bytes: file.slice(start + begin, start + end) };
  };
  return [JSON.parse(header.__metadata__["pooling-conformance vectors"]).cases, tensor];
}

function write(path, outputs, about) {
  const texts = { "pooling-conformance results": JSON.stringify(about) };
  const entries = [["__metadata__", texts]];
  let end = 0;
  for (const [name, { shape, values }] of outputs) {
    const data_offsets = [end, (end += values.byteLength)];
    entries.push([name, { dtype: "F32", shape, data_offsets }]);
  }
  const header = Buffer.from(JSON.stringify(Object.fromEntries(entries)));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  const arrays = outputs.map(([, { values }]) => Buffer.from(values.buffer));
  writeFileSync(path, Buffer.concat([length, header, ...arrays]));
}

const [cases, tensor] = read(process.argv[2]);
const [outputs, raised, unsupported] = [[], {}, {}];
for (const { id, operator, inputs } of cases) {
  const given = inputs.map(tensor);
  if (operator !== "AdaptiveAvgPool-8" || given[0].dtype !== "F32") {
    unsupported[id] = `${operator} of ${given[0].dtype}`;
    continue;
  }
  try {
    outputs.push([id, compute(given)]);
  } catch (error) {
    raised[id] = `${error}`;
  }
}
write(process.argv[3], outputs, { version: 1, ids: cases.map(({ id }) => id), raised, unsupported });
const counts = [outputs.length, Object.keys(raised).length, Object.keys(unsupported).length];
console.log(`${counts[0]} outputs, ${counts[1]} raised, ${counts[2]} unsupported`);
