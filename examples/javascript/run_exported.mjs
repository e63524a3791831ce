/* Runs vectors that `conformance export safetensors` wrote: AdaptiveAvgPool-8 of float32.
 *
 *     node examples/javascript/run_exported.mjs EXPORT.safetensors RESULTS.safetensors
 *
 * Replace `compute` by a call of your own kernel.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { read, Results } from "../../packages/npm/index.js"; // elsewhere: "pooling-conformance"

function compute(data, sizes) {
  const axes = data.shape.length - 2;
  const integers = ["I32", "I64"].includes(sizes.dtype);
  if (axes < 1 || axes > 3 || !integers || `${sizes.shape}` !== `${axes}`)
    throw new Error(`sizes of shape [${sizes.shape}] for ${axes} axes`);
  const out = Array.from(sizes.data, Number);
  if (out.some((size) => size < 0)) throw new Error(`a size of ${out}`);
  const ones = Array(3 - axes).fill(1); // one axis as three
  const [d, o] = [[...ones, ...data.shape.slice(2)], [...ones, ...out]];
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
                sum += data.data[((plane * d[0] + x) * d[1] + y) * d[2] + z];
          result.push(sum / ((x1 - x0) * (y1 - y0) * (z1 - z0)));
        }
  const shape = [...data.shape.slice(0, 2), ...out];
  return { dtype: "F32", shape, data: Float32Array.from(result) };
}

const results = new Results();
for (const each of await read(readFileSync(process.argv[2]))) {
  const [data, sizes] = each.inputs;
  if (each.operator !== "AdaptiveAvgPool-8" || data.dtype !== "F32") {
    results.unsupported(each, `${each.operator} of ${data.dtype}`);
    continue;
  }
  try {
    results.add(each, [compute(data, sizes)]);
  } catch (error) {
    results.add(each, error);
  }
}
writeFileSync(process.argv[3], results.toBytes());
console.log(`${results}`);
