// Grids: the cells of a plane of the input and of the output.

const HIGH = 27;

// The width of cells that holds the longest text of a plane.
function widthFor(top, bottom, left, right, text) {
  let longest = 3;
  for (let p = top; p < bottom; p++) {
    for (let q = left; q < right; q++) longest = Math.max(longest, text(p, q).length);
  }
  return longest * 7 + 9;
}

// One for all drawings, and never hidden: a hidden pattern paints nothing.
const patterns = () => shape("svg", { width: 0, height: 0, class: "hidden", "aria-hidden": "true" },
  shape("pattern", { id: "hatch-pad", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    shape("rect", { width: 6, height: 6, class: "hatch-ground" }), shape("path", { d: "M0 0V6", class: "hatch-line" })),
  shape("pattern", { id: "hatch-over", width: 6, height: 6, patternUnits: "userSpaceOnUse" },
    shape("rect", { width: 6, height: 6, class: "hatch-ground" }), shape("path", { d: "M0 0L6 6M6 0L0 6", class: "hatch-line" })));

// Windows that do not overlap side by side, the chosen one in the first lane.
function lanesOf(axis, [low, high], on) {
  const lanes = [];
  const seen = [...Array(axis.count).keys()].filter((j) => axis.start(j) < high && axis.stop(j) > low && axis.start(j) < axis.stop(j));
  seen.sort((a, b) => (b === on) - (a === on) || a - b);
  for (const j of seen) {
    const free = lanes.find((lane) => lane.every((k) => axis.start(k) >= axis.stop(j) || axis.stop(k) <= axis.start(j)));
    if (free) free.push(j);
    else if (lanes.length < 4) lanes.push([j]);
  }
  return lanes;
}

function inputGrid(scene, index, depths) {
  const { given, rows, columns, data, leading } = scene;
  const [r, c] = rows.flat ? [0, index.at(-1)] : index.slice(-2);
  const [top, bottom] = visible(rows.low, rows.high, [rows.start(r), rows.stop(r)], ROWS);
  const deep = leading.every((axis, i) => axis.reads(index[2 + i], depths[i]));
  const outside = leading.map((axis, i) => axis.zone(depths[i]));
  const zoneOf = (p, q) => {
    const zones = [rows.zone(p), columns.zone(q), ...outside];
    return zones.includes("over") ? "over" : zones.includes("pad") ? "pad" : "";
  };
  const at = (p, q) => data[flatIndex([index[0], index[1], ...depths, ...(rows.flat ? [q] : [p, q])], given.shape)];
  const text = (p, q) => zoneOf(p, q) ? "" : brief(at(p, q));
  const wide = widthFor(top, bottom, columns.low, columns.high, text);
  const [left, right] = visible(columns.low, columns.high, [columns.start(c), columns.stop(c)], columnsOf(wide));
  const across = lanesOf(columns, [left, right], c), down = rows.flat ? [] : lanesOf(rows, [top, bottom], r);
  const x0 = (rows.flat ? 4 : 24) + down.length * 15, y0 = 17 + across.length * 15;
  const x = (q) => x0 + (q - left) * wide, y = (p) => y0 + (p - top) * HIGH;
  const svg = shape("svg", { width: x(right) + 4, height: y(bottom) + 4, role: "img",
    "aria-label": "The input with its padding; the window of the chosen output is outlined." });
  for (let p = top; p < bottom; p++) {
    for (let q = left; q < right; q++) {
      const zone = zoneOf(p, q);
      const read = deep && rows.reads(r, p) && columns.reads(c, q);
      svg.append(shape("rect", { class: `cell ${zone}${read ? " read" : ""}`, x: x(q), y: y(p), width: wide, height: HIGH }));
      svg.append(shape("text", { class: zone ? "value blank" : "value", x: x(q) + wide / 2, y: y(p) + HIGH / 2 },
        zone === "over" ? "×" : zone === "pad" ? "·" : text(p, q)));
    }
  }
  const clip = (axis, low, high) => [clamp(axis.start, low, high), clamp(axis.stop, low, high)];
  if (!outside.some(Boolean)) frame(svg, "border", ...clip({ start: 0, stop: columns.size }, left, right).map(x), ...clip({ start: 0, stop: rows.size }, top, bottom).map(y));
  if (deep) {
    frame(svg, "frame", ...clip({ start: columns.start(c), stop: columns.stop(c) }, left, right).map(x),
      ...clip({ start: rows.start(r), stop: rows.stop(r) }, top, bottom).map(y));
  }
  for (let q = left; q < right; q++) svg.append(shape("text", { class: "place", x: x(q) + wide / 2, y: y0 - 9 }, String(q)));
  if (!rows.flat) for (let p = top; p < bottom; p++) svg.append(shape("text", { class: "place", x: x0 - 12, y: y(p) + HIGH / 2 }, String(p)));
  across.forEach((lane, n) => lane.forEach((j) => {
    const height = y0 - 24 - n * 15, on = j === c ? " on" : "";
    const [from, to] = clip({ start: columns.start(j), stop: columns.stop(j) }, left, right).map(x);
    svg.append(shape("path", { class: `window${on}`, d: `M${from + 3} ${height + 5}V${height}H${to - 3}V${height + 5}` }));
    svg.append(shape("text", { class: `window-name${on}`, x: (from + to) / 2, y: height }, String(j)));
  }));
  down.forEach((lane, n) => lane.forEach((j) => {
    const place = x0 - 28 - n * 15, on = j === r ? " on" : "";
    const [from, to] = clip({ start: rows.start(j), stop: rows.stop(j) }, top, bottom).map(y);
    svg.append(shape("path", { class: `window${on}`, d: `M${place + 5} ${from + 3}H${place}V${to - 3}H${place + 5}` }));
    svg.append(shape("text", { class: `window-name${on}`, x: place, y: (from + to) / 2 }, String(j)));
  }));
  const part = right - left < columns.high - columns.low || bottom - top < rows.high - rows.low;
  return part ? make("div", {}, svg, make("p", { class: "note" }, "A part of it, around the window.")) : svg;
}

function frame(svg, name, x1, x2, y1, y2) {
  if (x2 > x1 && y2 > y1) svg.append(shape("rect", { class: name, x: x1, y: y1, width: x2 - x1, height: y2 - y1 }));
}

function outputGrid(scene, chosen, cells, act) {
  const { given, rows, columns, expected, got } = scene;
  const fixed = chosen.slice(0, rows.flat ? -1 : -2);
  const [r, c] = rows.flat ? [0, chosen.at(-1)] : chosen.slice(-2);
  const [top, bottom] = visible(0, rows.count, [r, r + 1], ROWS);
  const indexOf = (p, q) => [...fixed, ...(rows.flat ? [q] : [p, q])];
  const parts = (flat) => {
    if (!scene.isWrong(flat)) return [!got && bit(scene.undefined, flat) ? "?" : brief((got ?? expected)[flat]), ""];
    const was = got ? exact(got[flat], given.dtype) : given.some[flat], should = exact(expected[flat], given.dtype);
    const short = [brief(Number(was)), brief(Number(should))];
    const [value, other] = short[0] === short[1] || Number.isNaN(Number(was)) ? [was, should] : short;
    return [value, `≠ ${other}`];
  };
  let high = HIGH;
  const wide = widthFor(top, bottom, 0, columns.count, (p, q) => {
    const [value, should] = parts(flatIndex(indexOf(p, q), given.out));
    if (should) high = 36;
    return value.length > should.length ? value : should.slice(0, -1); // it is set smaller
  });
  const [left, right] = visible(0, columns.count, [c, c + 1], columnsOf(wide));
  const x0 = rows.flat ? 4 : 24, y0 = 17;
  const x = (q) => x0 + (q - left) * wide, y = (p) => y0 + (p - top) * high;
  const svg = shape("svg", { width: x(right) + 4, height: y(bottom) + 4, role: "grid", "aria-label": "Output elements; arrow keys move, w goes to the next wrong one" });
  for (let q = left; q < right; q++) svg.append(shape("text", { class: "place", x: x(q) + wide / 2, y: y0 - 9, "aria-hidden": "true" }, String(q)));
  for (let p = top; p < bottom; p++) {
    const row = shape("g", { role: "row" });
    if (!rows.flat) svg.append(shape("text", { class: "place", x: x0 - 12, y: y(p) + high / 2, "aria-hidden": "true" }, String(p)));
    for (let q = left; q < right; q++) {
      const index = indexOf(p, q), flat = flatIndex(index, given.out);
      const wrong = scene.isWrong(flat), free = bit(scene.undefined, flat), [value, should] = parts(flat);
      const middle = x(q) + wide / 2;
      const cell = shape("g", { role: "gridcell", tabindex: -1, "aria-label": spoken(scene, index, flat),
        onmouseenter: () => act.point(index), onmouseleave: act.leave, onclick: () => act.pick(index), onkeydown: act.key },
        shape("rect", { class: `cell${wrong ? " wrong" : ""}${free ? " free" : ""}`, x: x(q) + 1, y: y(p) + 1, width: wide - 2, height: high - 2 }),
        wrong ? shape("path", { class: "corner", d: `M${x(q + 1) - 1} ${y(p) + 1}h-8l8 8z` }) : null,
        shape("text", { class: `value${wrong ? " wrong" : ""}${free ? " blank" : ""}`, x: middle, y: y(p) + (should ? 12 : high / 2) }, value),
        should ? shape("text", { class: "value should", x: middle, y: y(p) + 26 }, should) : null);
      cells.set(flat, cell);
      row.append(cell);
    }
    svg.append(row);
  }
  return svg;
}

function spoken(scene, index, flat) {
  const { given, expected, got } = scene;
  const should = bit(scene.undefined, flat) ? "undefined" : exact(expected[flat], given.dtype);
  const was = got ? `${exact(got[flat], given.dtype)}, expected ` : given.some?.[flat] ? `${given.some[flat]}, expected ` : "expected ";
  return `[${index.join(", ")}] ${was}${should}${scene.isWrong(flat) ? ", wrong" : ""}`;
}
