/* What is asked of a pooling operator of WebNN, for libraries that have it by other names. */
import { Unsupported } from "./protocol.mjs";

/* Return the attributes by the names of OpenVINO, those that are left out with their defaults.
 *
 * Libraries pool over other numbers of axes, too: such data are Unsupported, and so are any layout but nchw and
 * output sizes that are given.
 */
export function fromWebNN(attributes, shape) {
  const { windowDimensions, strides, dilations, padding, outputShapeRounding, outputSizes, layout } = attributes;
  if (shape.length !== 4) throw new Unsupported(`${shape.length} dimensions`);
  if ((layout ?? "nchw") !== "nchw") throw new Unsupported(`layout=${layout}`);
  if (outputSizes !== undefined) throw new Unsupported("output sizes that are given");
  const pads = padding ?? [0, 0, 0, 0]; // begin and end of the height, then those of the width
  return {
    kernel: windowDimensions ?? shape.slice(2),
    strides: strides ?? [1, 1],
    dilations: dilations ?? [1, 1],
    pads_begin: pads.filter((_, i) => i % 2 === 0),
    pads_end: pads.filter((_, i) => i % 2 === 1),
    rounding_type: outputShapeRounding ?? "floor",
  };
}
