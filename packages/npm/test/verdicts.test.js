/* The comparison says of every answer what the file of verdicts says of it. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import test from "node:test";
import { conforms, numbers, read, Results } from "pooling-conformance";

const here = (name) => new URL(name, import.meta.url);
const verdicts = await readFile(here("verdicts.safetensors.gz"));

test("every answer gets its verdict", async () => {
  let answers = 0;
  for (const each of await read(verdicts))
    for (const [number, { outputs, conforms: expected }] of each.answers.entries()) {
      assert.equal(conforms(each, outputs ?? new Error()), expected, `${each.id}, answer ${number}`);
      answers++;
    }
  assert.ok(answers > 1000);
});

test("elements of half precision and of 8 bits are their bits", () => {
  const bits = (dtype, ...data) => numbers({ dtype, data: Uint16Array.from(data) });
  const values = [2 ** -24, 2 ** -14, 1, -65504, Infinity, -Infinity, NaN];
  assert.deepEqual(bits("F16", 1, 0x400, 0x3c00, 0xfbff, 0x7c00, 0xfc00, 0x7e00), values);
  assert.deepEqual(bits("BF16", 0x3f80, 0xc040, 0x7f80, 0x7fc0), [1, -3, Infinity, NaN]);
  assert.deepEqual(bits("F8_E5M2", 1, 0x3c, 0xfb, 0x7c, 0x7d), [2 ** -16, 1, -57344, Infinity, NaN]);
  assert.deepEqual(bits("F8_E4M3", 1, 0x38, 0xfe, 0x78, 0x7f), [2 ** -9, 1, -448, 256, NaN]);
});

test("an output has the form that it must have, and a NaN is right where a sum overflows", () => {
  const floats = (...values) => ({ dtype: "F32", shape: [1], data: Float32Array.from(values) });
  const mask = { dtype: "U8", shape: [1], data: Uint8Array.of(3) };
  const overflows = { kind: "values", outputs: [{ expected: floats(Infinity), mask }] };
  const isRight = (...answer) => conforms({ accepted: [overflows] }, answer);
  assert.ok(isRight(floats(Infinity)) && isRight(floats(NaN)));
  assert.ok(!isRight(floats(-Infinity)) && !isRight(floats(1)));
  assert.ok(!isRight() && !isRight(null) && !isRight({}) && !isRight(floats()) && !isRight(floats(Infinity, 1)));
});

test("only an error is a refusal: what forgets to return is never right", () => {
  const isRight = (kind, answer) => conforms({ accepted: [{ kind, outputs: [] }] }, answer);
  for (const kind of ["raises", "anything"]) {
    assert.ok(isRight(kind, new TypeError("no")), kind);
    for (const answer of [undefined, null, "no", 7, {}, [], [undefined], Float32Array.of(1)])
      assert.ok(!isRight(kind, answer), `${kind}: ${answer}`);
  }
});

test("without vectors, as in a clone, one line says how to have them", async () => {
  const folder = await mkdtemp(`${tmpdir()}/pooling-`);
  try {
    await copyFile(here("../index.js"), `${folder}/index.mjs`);
    const { smoke } = await import(`${folder}/index.mjs`);
    await assert.rejects(smoke(), { message: /^there are no vectors beside index.js: .*make.py.*$/ });
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("a damaged file is an error in one line", async () => {
  const file = (header) => {
    const text = Buffer.from(JSON.stringify(header));
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(text.length));
    return Buffer.concat([length, text]);
  };
  const vectors = (about) => ({ "pooling-conformance vectors": JSON.stringify(about) });
  const one = { id: "a", operator: "b", attributes: {}, inputs: ["0"], accepted: [] };
  const huge = { dtype: "F32", shape: [2 ** 32, 2 ** 32], data_offsets: [0, 4] };
  for (const content of [
    verdicts.subarray(0, verdicts.length / 2),
    Buffer.alloc(0),
    Buffer.alloc(9, 255),
    file({}),
    file({ __metadata__: vectors({ version: 2 }) }),
    file({ __metadata__: vectors({ version: "2".repeat(10 ** 6) }) }),
    file({ __metadata__: vectors({ version: 1, cases: [one] }) }),
    file({ __metadata__: vectors({ version: 1, cases: [one] }), 0: huge }),
  ])
    await assert.rejects(read(content), { message: /^not a sound file of vectors: .{1,400}$/ });
});

test("results are a file of safetensors", () => {
  const results = new Results();
  results.add({ id: "a" }, [{ dtype: "F32", shape: [2], data: Float32Array.of(1, 2) }]);
  results.add({ id: "b" }, new Error("no"));
  results.unsupported({ id: "c" });
  const bytes = results.toBytes();
  const end = 8 + Number(new DataView(bytes.buffer).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, end)));
  assert.deepEqual(header.a, { dtype: "F32", shape: [2], data_offsets: [0, 8] });
  assert.deepEqual(new Float32Array(bytes.slice(end).buffer), Float32Array.of(1, 2));
  assert.equal(String(results), "1 outputs, 1 raised, 1 unsupported");
});

test("the text of an error is cut", () => {
  const results = new Results();
  results.add({ id: "a" }, new Error("no".repeat(10 ** 6)));
  results.unsupported({ id: "b" }, "\u{1f600}".repeat(10 ** 6));
  results.add({ id: "c" }, undefined);
  assert.ok(results.toBytes().length < 4000);
  assert.equal(String(results), "1 outputs, 1 raised, 1 unsupported");
});

test("an answer whose elements do not fill its shape leaves the others sound", () => {
  const results = new Results();
  for (const shape of [[NaN], [3], [-2, -1], [0.5, 4]])
    results.add({ id: `${shape}` }, [{ dtype: "F32", shape, data: Float32Array.of(1, 2) }]);
  results.add({ id: "a" }, [{ dtype: "F32", shape: [2], data: Float32Array.of(1, 2) }]);
  const text = new TextDecoder().decode(results.toBytes());
  assert.deepEqual(text.match(/"data_offsets":\[[0-9,]*\]/g), ['"data_offsets":[0,8]']);
});

test("what the README shows runs", async () => {
  const page = await readFile(here("../README.md"), "utf8");
  const [, shown] = page.match(/```js\n(.*?)```/s);
  execFileSync(process.execPath, ["--input-type=module", "--eval", shown], { cwd: here("..") });
});
