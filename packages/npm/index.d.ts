/** An element type, by the name that safetensors gives it. */
export type Dtype =
  | ("F8_E4M3" | "F8_E5M2" | "BF16" | "F16" | "F32" | "F64")
  | ("I8" | "I16" | "I32" | "I64")
  | ("U8" | "U16" | "U32" | "U64");

/** An array in row-major order. Elements of F16, BF16, F8_E4M3 and F8_E5M2 are their bits. */
export interface Tensor {
  dtype: Dtype;
  shape: readonly number[];
  data:
    | (Float32Array | Float64Array)
    | (Int8Array | Int16Array | Int32Array | BigInt64Array)
    | (Uint8Array | Uint16Array | Uint32Array | BigUint64Array);
}

/** What is right of one output; an absent limit is `expected`. */
export interface Output {
  /** The exact result, rounded once. */
  expected: Tensor;
  lower?: Tensor;
  upper?: Tensor;
  /** For each element, 0 or what is right besides: 1 not finite, 2 anything, 3 NaN. */
  mask?: Tensor;
  /** Pairs of a place in the flat output and an index that is right there as well. */
  ties?: Tensor;
}

/** An answer that is right, and the readings of clauses under which it is. */
export interface Accepted {
  kind: "values" | "raises" | "anything";
  readings: Record<string, string>[];
  /** Of "values" alone: as many as the operator has. */
  outputs: Output[];
}

/** What is asked of a kernel, and all that is right. */
export interface Case {
  id: string;
  operator: string;
  /** By name, as the document of the operator types them. */
  attributes: Record<string, unknown>;
  /** The data first. */
  inputs: Tensor[];
  accepted: Accepted[];
  /** Readings of each clause that applies. */
  clauses: Record<string, string[]>;
  tier: "smoke" | "standard" | "exhaustive";
  pattern: string;
  provenance: "printed" | "derived" | "computed";
  source: string;
  tags: string[];
  /** In a file of verdicts: outputs or null, an exception, and what the comparison must come to. */
  answers?: { outputs: Tensor[] | null; conforms: boolean }[];
}

/** What a kernel answers: a list of outputs, or the Error that it threw. Nothing else is right anywhere. */
export type Answer = readonly Tensor[] | Error;

/** Return the cases of the smoke tier, which are in this package. */
export function smoke(): Promise<Case[]>;

/** Read the cases of an exported file, `.safetensors` or `.safetensors.gz`; an Error if unsound. */
export function read(content: Uint8Array | ArrayBuffer): Promise<Case[]>;

/**
 * Say whether an answer is right. Of several outputs, those after the first may be left out. Where an error is right
 * only an Error is: null, undefined or any other value is never right.
 */
export function conforms(test: Case, answer: Answer): boolean;

/** Return the values of the elements, bigint where they have 64 bits and are integers. */
export function numbers(tensor: Pick<Tensor, "dtype" | "data">): number[] | bigint[];

/** Answers to cases, for `conformance check results:PATH`, which says more of them. */
export class Results {
  /** Add the answer to a case that has none yet. One whose elements do not fill its shape is stored as none: a mismatch. */
  add(test: Case, answer: Answer): void;
  /** Say that a kernel does not do what a case asks for, which is neither right nor wrong. */
  unsupported(test: Case, why?: string): void;
  /** Return the bytes of a file of safetensors. */
  toBytes(): Uint8Array;
  /** Return how many outputs there are, and how many cases raised or are unsupported. */
  toString(): string;
}
