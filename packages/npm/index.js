/* Conformance test vectors for pooling kernels, and the comparison.
 *
 * index.d.ts describes what is exported.
 */

const VECTORS = "pooling-conformance vectors";
const RESULTS = "pooling-conformance results";
/* Bytes of a file at most, decompressed. */
const MOST = 2 ** 30;
/* Characters of the text of an error at most. */
const LONGEST = 400;
/* The array that holds the elements of a type; those of F16, BF16, F8_E4M3 and F8_E5M2 are their bits. */
const ARRAYS = {
  F8_E4M3: Uint8Array,
  F8_E5M2: Uint8Array,
  BF16: Uint16Array,
  F16: Uint16Array,
  F32: Float32Array,
  F64: Float64Array,
  I8: Int8Array,
  I16: Int16Array,
  I32: Int32Array,
  I64: BigInt64Array,
  U8: Uint8Array,
  U16: Uint16Array,
  U32: Uint32Array,
  U64: BigUint64Array,
};
const KINDS = ["values", "raises", "anything"];
/* Codes of a mask: what is right besides what lies within the limits. */
const [NOT_FINITE, ANYTHING, NAN] = [1, 2, 3];

export async function smoke() {
  const url = new URL("smoke.safetensors.gz", import.meta.url);
  if (url.protocol !== "file:") return read(await (await fetch(url)).arrayBuffer());
  const { readFile } = await import("node:fs/promises");
  const content = await readFile(url).catch((error) => {
    if (error.code !== "ENOENT") throw error;
    throw new Error("there are no vectors beside index.js: `python packages/make.py` makes a package with them");
  });
  return read(content);
}

export async function read(content) {
  try {
    return vectorsIn(await decompressed(new Uint8Array(content)));
  } catch (error) {
    const why = cut(String(error.message)).replace(/\p{C}+/gu, "?"); // it may quote the file
    throw new Error(`not a sound file of vectors: ${why}`, { cause: error });
  }
}

/* Return a text, cut if it is long; a half of a pair of surrogates has no UTF-8 form. */
function cut(text) {
  const characters = Array.from(text.slice(0, 2 * LONGEST + 2));
  if (characters.length <= LONGEST) return text;
  return `${characters.slice(0, LONGEST - 3).join("")}...`;
}

function vectorsIn(bytes) {
  const [header, tensor] = parse(bytes);
  const text = header.__metadata__?.[VECTORS];
  if (typeof text !== "string") throw new Error("it holds none");
  const { version, cases } = JSON.parse(text);
  if (version !== 1) throw new Error(`they are of version ${version}, and this reads version 1`);
  return cases.map((about) => caseOf(about, tensor));
}

/* Return the bytes of a file, which gzip may have compressed. */
async function decompressed(bytes) {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const reader = stream.getReader();
  const chunks = [];
  let size = 0;
  for (let next; !(next = await reader.read()).done; chunks.push(next.value))
    if ((size += next.value.length) > MOST) throw new Error(`it has more than ${MOST} bytes`);
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

/* Return the header of a file of safetensors, and a function from a name to the tensor. */
function parse(bytes) {
  if (bytes.length < 8) throw new Error("it has no header");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const start = 8 + Number(view.getBigUint64(0, true));
  if (start > bytes.length) throw new Error("its header is cut off");
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, start)));
  const tensors = new Map();
  let left = bytes.length - start; // so that tensors which overlap take no more than the file
  const tensor = (name) => {
    if (!tensors.has(name)) {
      const { dtype, shape, data_offsets } = header[name];
      if (!Object.hasOwn(ARRAYS, dtype)) throw new Error(`tensor ${name} is of ${dtype}`);
      const size = elementsOf(shape) * ARRAYS[dtype].BYTES_PER_ELEMENT;
      const [begin, end] = data_offsets;
      const sound = [...shape, begin, end].every((n) => Number.isSafeInteger(n) && n >= 0);
      if (!sound || end - begin !== size || start + end > bytes.length || (left -= size) < 0)
        throw new Error(`tensor ${name} does not have its size`);
      const data = new ARRAYS[dtype](bytes.slice(start + begin, start + end).buffer);
      tensors.set(name, { dtype, shape, data });
    }
    return tensors.get(name);
  };
  return [header, tensor];
}

/* Say whether the elements of a tensor are as many as its shape has. */
function isFilled(tensor) {
  const { dtype, shape, data } = tensor ?? {};
  if (!Object.hasOwn(ARRAYS, dtype) || !ArrayBuffer.isView(data) || !shape?.[Symbol.iterator]) return false;
  const sound = [...shape].every((n) => Number.isSafeInteger(n) && n >= 0);
  return sound && data.byteLength === elementsOf([...shape]) * ARRAYS[dtype].BYTES_PER_ELEMENT;
}

/* Say whether an answer is a refusal. Only an error is: a kernel that forgets to return refuses nothing. */
const isRefusal = (answer) =>
  answer instanceof Error || Object.prototype.toString.call(answer) === "[object Error]"; // of another realm

const elementsOf = (shape) => shape.reduce((count, size) => count * size, 1);

function caseOf({ inputs, accepted, answers, ...about }, tensor) {
  const outputOf = (output) =>
    Object.fromEntries(Object.entries(output).map(([what, name]) => [what, tensor(name)]));
  const acceptedOf = ({ kind, readings, outputs = [] }) => {
    if (!KINDS.includes(kind) || outputs.some(({ expected }) => expected === undefined))
      throw new Error(`of ${about.id} it does not say what is right`);
    return { kind, readings, outputs: outputs.map(outputOf) };
  };
  const answerOf = ({ outputs, conforms }) => ({ outputs: outputs?.map(tensor) ?? null, conforms });
  return {
    ...about,
    inputs: inputs.map(tensor),
    accepted: accepted.map(acceptedOf),
    answers: answers?.map(answerOf),
  };
}

export function conforms({ accepted }, answer) {
  const refused = isRefusal(answer);
  if (!refused && !(Array.isArray(answer) && answer.length && answer.every(isFilled))) return false;
  return accepted.some(({ kind, outputs }) => {
    if (refused)
      return kind !== "values" || outputs.some(({ mask }) => mask?.data.includes(ANYTHING));
    if (kind !== "values") return kind === "anything";
    return answer.length <= outputs.length && answer.every((tensor, number) => fits(outputs[number], tensor));
  });
}

function fits(output, tensor) {
  const { expected, lower = expected, upper = expected, mask, ties } = output;
  const form = ({ dtype, shape, data }) => `${dtype} [${[...shape]}] ${data.length}`;
  if (form(tensor) !== form(expected)) return false;
  const [least, most] = [lower, upper].map(numbers);
  const tied = new Set();
  for (let i = 0; i < (ties?.data.length ?? 0); i += 2)
    tied.add(`${ties.data[i]} ${ties.data[i + 1]}`);
  return numbers(tensor).every((value, place) => {
    const [isNaN, code] = [Number.isNaN(value), mask?.data[place]];
    return (
      (least[place] <= value && value <= most[place]) ||
      (isNaN && (code === NAN || Number.isNaN(least[place]))) ||
      (code === NOT_FINITE && (isNaN || Math.abs(value) === Infinity)) ||
      code === ANYTHING ||
      tied.has(`${place} ${value}`)
    );
  });
}

export function numbers({ dtype, data }) {
  if (dtype === "F16") return Array.from(data, half);
  if (dtype === "F8_E5M2") return Array.from(data, (bits) => half(bits << 8));
  if (dtype === "F8_E4M3") return Array.from(data, finite8);
  if (dtype !== "BF16") return Array.from(data);
  const halves = Uint32Array.from(data, (bits) => bits << 16); // of float32
  return Array.from(new Float32Array(halves.buffer));
}

/* Return the value of a half-precision number, by its bits. */
function half(bits) {
  const [sign, exponent, fraction] = [bits >> 15 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? (1024 + fraction) * 2 ** (exponent - 25) : fraction * 2 ** -24);
}

/* Return the value of a number of 8 bits of a format without infinities, by its bits. */
function finite8(bits) {
  const [sign, exponent, fraction] = [bits >> 7 ? -1 : 1, (bits >> 3) & 15, bits & 7];
  if ((bits & 127) === 127) return NaN;
  return sign * (exponent ? (8 + fraction) * 2 ** (exponent - 10) : fraction * 2 ** -9);
}

export class Results {
  #ids = [];
  #tensors = [];
  #raised = {};
  #unsupported = {};

  add({ id }, answer) {
    this.#ids.push(id);
    if (isRefusal(answer)) this.#raised[id] = cut(String(answer));
    // Of another answer nothing is stored, which is wrong too: the file would be unsound.
    else if (Array.isArray(answer) && answer.every(isFilled)) answer.forEach((tensor, i) => this.#tensors.push([i ? `${id}:${i}` : id, tensor]));
  }

  unsupported({ id }, why = "") {
    this.#ids.push(id);
    this.#unsupported[id] = cut(String(why));
  }

  toBytes() {
    const about = { version: 1, ids: this.#ids };
    Object.assign(about, { raised: this.#raised, unsupported: this.#unsupported });
    const header = { __metadata__: { [RESULTS]: JSON.stringify(about) } };
    let end = 0;
    for (const [name, { dtype, shape, data }] of this.#tensors)
      header[name] = { dtype, shape: [...shape], data_offsets: [end, (end += data.byteLength)] };
    const text = new TextEncoder().encode(JSON.stringify(header));
    const file = new Uint8Array(8 + text.length + end);
    new DataView(file.buffer).setBigUint64(0, BigInt(text.length), true);
    file.set(text, 8);
    let start = 8 + text.length;
    for (const [, { data }] of this.#tensors) {
      file.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), start);
      start += data.byteLength;
    }
    return file;
  }

  toString() {
    const all = [this.#raised, this.#unsupported];
    const [raised, unsupported] = all.map((each) => Object.keys(each).length);
    const outputs = this.#ids.length - raised - unsupported;
    return `${outputs} outputs, ${raised} raised, ${unsupported} unsupported`;
  }
}
