/* The loop of docs/protocol.md for Node 18 or newer, on a little-endian machine; no package.
 *
 *     import { serve, Unsupported } from "./protocol.mjs";
 *     await serve({ name: "my engine 2.1", supports: { "AvgPool-1": ["float32"] } }, compute);
 *
 * `compute(operator, attributes, inputs)` returns the outputs, or a promise of them. Each input and
 * output is {dtype, shape, data}: `data` of an input is a Buffer of its bytes, `data` of an output a
 * typed array. What it throws is the answer "error", or "unsupported" if it is an Unsupported.
 */
import { once } from "node:events";

export class Unsupported extends Error {}

const bits = (dtype) => Number(/\d+$/.exec(dtype)?.[0]);
const elements = (shape) => shape.reduce((count, size) => count * size, 1);

/* What the harness sent breaks the protocol: nothing sensible can be answered. */
function giveUp(why) {
  process.stderr.write(`protocol.mjs: ${why}\n`);
  process.exit(2);
}

class Messages {
  #chunks = process.stdin[Symbol.asyncIterator]();
  #rest = Buffer.alloc(0);

  async #next() {
    const { value, done } = await this.#chunks.next();
    return done ? null : value;
  }

  /* Return one line of JSON, null at the end of the input. */
  async line() {
    const parts = [];
    for (let chunk = this.#rest; chunk !== null; chunk = await this.#next()) {
      const end = chunk.indexOf(10);
      parts.push(end < 0 ? chunk : chunk.subarray(0, end));
      if (end >= 0) {
        this.#rest = chunk.subarray(end + 1);
        return parsed(Buffer.concat(parts).toString());
      }
    }
    return Buffer.concat(parts).length ? giveUp("a line is cut off") : null;
  }

  async bytes(count) {
    const parts = [this.#rest];
    let length = this.#rest.length;
    while (length < count) {
      const chunk = (await this.#next()) ?? giveUp("an input is cut off");
      length += chunk.length;
      parts.push(chunk);
    }
    const all = parts.length > 1 ? Buffer.concat(parts) : parts[0];
    this.#rest = all.subarray(count);
    return all.subarray(0, count);
  }

  async send(answer, arrays) {
    const line = Buffer.from(`${JSON.stringify(answer)}\n`);
    const bytes = arrays.map(({ buffer, byteOffset, byteLength }) =>
      Buffer.from(buffer, byteOffset, byteLength));
    if (!process.stdout.write(Buffer.concat([line, ...bytes]))) await once(process.stdout, "drain");
  }
}

/* Parse JSON in which 2.0 is no integer: a number with a point or an exponent becomes an object. */
function parsed(text) {
  const token = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
  const marked = text.replace(token, (t) => (t[0] !== '"' && /[.eE]/.test(t) ? `{"real": ${t}}` : t));
  try {
    return JSON.parse(marked);
  } catch {
    return giveUp("a line is no JSON");
  }
}

/* Shake hands, then answer call after call until the input ends. */
export async function serve(hello, compute) {
  console.log = console.info = console.error; // a stray print must not get between the messages
  const messages = new Messages();
  if ((await messages.line())?.protocol !== "pooling-conformance") giveUp("conformance runs this program");
  // Whatever version was offered, this is the one spoken here.
  await messages.send({ version: 1, ...hello }, []);
  for (let call; (call = await messages.line()) !== null; ) {
    const inputs = [];
    for (const { dtype, shape } of call.inputs) // also where the answer needs none
      inputs.push({ dtype, shape, data: await messages.bytes((elements(shape) * bits(dtype)) / 8) });
    const answer = { call: call.call };
    let outputs = [];
    try {
      if (!(hello.supports[call.operator] ?? []).includes(inputs[0]?.dtype)) throw new Unsupported(call.operator);
      outputs = await compute(call.operator, call.attributes, inputs);
      const described = outputs.map(({ dtype, shape }) => ({ dtype, shape }));
      Object.assign(answer, described.length > 1 ? { outputs: described } : { output: described[0] });
    } catch (error) {
      answer[error instanceof Unsupported ? "unsupported" : "error"] = String(error?.message ?? error);
    }
    await messages.send(answer, outputs.map(({ data }) => data));
  }
  process.exit(0);
}
