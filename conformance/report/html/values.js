// Elements of the page, and numbers as they are shown in cells.

const make = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const shape = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child != null));
  return element;
}

const clamp = (value, low, high) => Math.max(low, Math.min(high, value));

// Three digits of a number.
function rough(value) {
  const text = value && Math.abs(value) < 1e-4 ? value.toExponential(2) : value.toPrecision(3);
  const [mantissa, exponent] = text.split("e");
  const short = mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa;
  return exponent ? `${short}e${Number(exponent)}` : short;
}

// An element in few characters: whole numbers below a million, infinities and NaN as they are.
const brief = (text) => text.length < 7 && !text.includes(".") || !Number.isFinite(Number(text)) ? text : rough(Number(text));
