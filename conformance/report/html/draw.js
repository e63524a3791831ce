// Drawings: what an output is made from, with padding and windows, beside the output.

const ROWS = 16, FEWEST = 5, HIGH = 27, LANE = 15;
const columnsOf = (wide) => Math.max(FEWEST, Math.floor((document.querySelector("main").clientWidth - 110) / wide));
const flatIndex = (index, extents) => index.reduce((sum, at, axis) => sum * extents[axis] + at, 0);
const unravel = (flat, extents) => extents.map((size, axis) => Math.floor(flat / extents.slice(axis + 1).reduce((n, m) => n * m, 1)) % size);

// One for all drawings, and never hidden: a hidden pattern paints nothing.
const patterns = () => shape("svg", { width: 0, height: 0, class: "hidden", "aria-hidden": "true" },
  shape("pattern", { id: "hatch-pad", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    shape("rect", { width: 6, height: 6, class: "hatch-ground" }), shape("path", { d: "M0 0V6", class: "hatch-line" })),
  shape("pattern", { id: "hatch-over", width: 6, height: 6, patternUnits: "userSpaceOnUse" },
    shape("rect", { width: 6, height: 6, class: "hatch-ground" }), shape("path", { d: "M0 0L6 6M6 0L0 6", class: "hatch-line" })));

// Elements 0:size, `pads` around them, and windows, each with every n-th position from start on.
const axisOf = (size, { pads = [0, 0], ...given } = {}) => ({ size, pads, ends: [-pads[0], size + pads[1]], dilation: 1, ...given });
const span = (axis, j) => axis.start ? [axis.start[j], axis.start[j] + (axis.length[j] ?? axis.length)] : [j, j + 1];
const covers = ([start, stop], at) => at >= start && at < stop;
const reads = (axis, j, at) => covers(span(axis, j), at) && (at - span(axis, j)[0]) % axis.dilation === 0;
const zone = ({ size, pads }, at) => covers([0, size], at) ? "" : covers([-pads[0], size + pads[1]], at) ? "pad" : "over";
const cellsOf = (axis, j) => [...Array(axis.size).keys()].filter((at) => reads(axis, j, at));
const FLAT = axisOf(1); // the rows of a single axis
const planeOf = (axes) => axes.length > 1 ? axes.slice(-2) : [FLAT, ...axes];
const placeIn = (index, axes) => axes.length > 1 ? index.slice(-2) : [0, index.at(-1)];
const titleOf = (name, lead, drawn) => `${name}[${[...lead, ...Array(drawn).fill(":")].join(", ")}]`;

// At most `room` places of an axis, with those of a window among them.
function visible({ ends: [low, high] }, [start, stop], room) {
  if (high - low <= room) return [low, high];
  const first = clamp(Math.min(Math.floor((start + stop) / 2) - (room >> 1), start), low, high - room);
  return [first, first + room];
}

// Windows that do not overlap side by side, the chosen one in the first lane.
function lanesOf(axis, [low, high], on) {
  const lanes = [], spans = (axis.start ?? []).map((_, j) => span(axis, j));
  const seen = [...spans.keys()].filter((j) => spans[j][0] < high && spans[j][1] > low && spans[j][0] < spans[j][1]);
  seen.sort((a, b) => (b === on) - (a === on) || a - b);
  for (const j of seen) {
    const free = lanes.find((lane) => lane.every((k) => spans[k][0] >= spans[j][1] || spans[j][0] >= spans[k][1]));
    if (free) free.push(j);
    else if (lanes.length < 4) lanes.push([j]);
  }
  return lanes;
}

// A plane, as much of it as there is room for around what is chosen. `cell` says of a row and a
// column: value, what stands below it, classes, and attributes; `frames` are boxes drawn over it.
function gridOf([rows, columns], [r, c], cell, { inset = 0, frames = [], ...attributes }) {
  const flat = rows === FLAT, name = (at) => String(at);
  const [top, bottom] = visible(rows, span(rows, r), ROWS);
  let high = HIGH, longest = 3;
  for (let p = top; p < bottom; p++) {
    for (let q = columns.ends[0]; q < columns.ends[1]; q++) {
      const { value, below = "" } = cell(p, q);
      longest = Math.max(longest, value.length, below.length - 1); // what is below is set smaller
      if (below) high = 36;
    }
  }
  const wide = longest * 7 + 9;
  const [left, right] = visible(columns, span(columns, c), columnsOf(wide));
  const across = lanesOf(columns, [left, right], c), down = lanesOf(rows, [top, bottom], r);
  const x0 = (flat ? 4 : 24) + down.length * LANE, y0 = 17 + across.length * LANE;
  const x = (q) => x0 + (clamp(q, left, right) - left) * wide, y = (p) => y0 + (clamp(p, top, bottom) - top) * high;
  const svg = shape("svg", { width: x(right) + 4, height: y(bottom) + 4, ...attributes });
  const text = (kind, at, to, content) => shape("text", { class: kind, x: at, y: to }, content);
  for (let q = left; q < right; q++) svg.append(text("place", x(q) + wide / 2, y0 - 9, name(q)));
  for (let p = top; p < bottom; p++) {
    const row = shape("g", { role: attributes.role === "grid" ? "row" : null });
    if (!flat) svg.append(text("place", x0 - 12, y(p) + high / 2, name(p)));
    for (let q = left; q < right; q++) {
      const { value, below, kind = "", mark = kind, ...others } = cell(p, q), middle = x(q) + wide / 2;
      row.append(shape("g", others,
        shape("rect", { class: `cell ${kind}`, x: x(q) + inset, y: y(p) + inset, width: wide - 2 * inset, height: high - 2 * inset }),
        kind.includes("wrong") ? shape("path", { class: "corner", d: `M${x(q) + wide - 1} ${y(p) + 1}h-8l8 8z` }) : null,
        text(`value ${mark}`, middle, y(p) + (below ? 12 : high / 2), value), below ? text("value should", middle, y(p) + 26, below) : null));
    }
    svg.append(row);
  }
  for (const [kind, [x1, x2], [y1, y2]] of frames) {
    if (x(x2) > x(x1) && y(y2) > y(y1)) svg.append(shape("rect", { class: kind, x: x(x1), y: y(y1), width: x(x2) - x(x1), height: y(y2) - y(y1) }));
  }
  const bar = (j, on, ends, path, at) => svg.append(
    shape("path", { class: `window${on}`, d: path(ends[0] + 3, ends[1] - 3) }), text(`window-name${on}`, ...at((ends[0] + ends[1]) / 2), name(j)));
  across.forEach((lane, n) => lane.forEach((j) => {
    const to = y0 - 24 - n * LANE;
    bar(j, j === c ? " on" : "", span(columns, j).map(x), (a, b) => `M${a} ${to + 5}V${to}H${b}V${to + 5}`, (middle) => [middle, to]);
  }));
  down.forEach((lane, n) => lane.forEach((j) => {
    const to = x0 - 28 - n * LANE;
    bar(j, j === r ? " on" : "", span(rows, j).map(y), (a, b) => `M${to + 5} ${a}H${to}V${b}H${to + 5}`, (middle) => [to, middle]);
  }));
  const part = right - left < columns.ends[1] - columns.ends[0] || bottom - top < rows.ends[1] - rows.ends[0];
  return make("div", {}, svg, part ? make("p", { class: "note" }, "A part of it, around the window.") : null);
}

// A drawing -----------------------------------------------------------------------------------

function drawing(given) {
  if (given.note) return make("p", { class: "quiet" }, given.note);
  return given.text ? make("pre", { class: "drawing", tabindex: 0 }, given.text) : pictureOf(given);
}

function legend({ legend: marks, got, known }) {
  const corner = shape("path", { class: "corner", d: "M15 1h-6l6 6z" });
  const key = (kind, text, extra) => make("li", {},
    shape("svg", { "aria-hidden": "true" }, shape("rect", { class: kind, x: 1, y: 1, width: 14, height: 10 }), extra), text);
  return make("ul", { class: "legend" },
    marks.includes("pad") ? key("cell pad", "padding (·)") : null,
    marks.includes("over") ? key("cell over", "partial last window (✕)") : null,
    key("frame", "window of the output element"),
    got === undefined ? null : key("cell wrong", "wrong (≠ what was expected)", corner),
    known ? make("li", {}, `the output was not kept: ${known} wrong elements are known`) : null,
    marks.includes("free") ? key("cell free", "undefined, any value conforms") : null);
}

function pictureOf(given) {
  const extents = given.shape, axes = extents.slice(2).map((size) => axisOf(size)), drawn = Math.min(2, axes.length);
  const elements = elementsOf(given);
  const chosen = [...given.worst]; // index of the output element that is chosen
  let looked = chosen; // the one whose window is shown: the chosen one, or one pointed at
  const output = make("div", { class: "view outputs" }), outputTitle = make("h4");
  const said = make("div", { class: "reads", "aria-live": "polite" });
  let cells = [];

  const sliders = make("div", { class: "planes" });
  const follow = []; // sliders that show where we are
  const slider = (name, [least, stop], get, set) => {
    if (stop - 1 <= least) return;
    const shown = make("output"), oninput = () => set(Number(range.value));
    const range = make("input", { type: "range", min: least, max: stop - 1, value: get(), oninput });
    follow.push(() => { range.value = get(); shown.value = `${get()} of ${least} to ${stop - 1}`; });
    sliders.append(make("label", {}, name, range, shown));
  };
  const names = ["batch", "channel", ...axes.map((_, i) => `output plane, axis ${2 + i}`)];
  extents.slice(0, -drawn).forEach((size, i) => slider(names[i], [0, size], () => chosen[i], (to) => { chosen[i] = to; drawOutput(); }));
  const sources = given.sources.map((source) => sourceOf(source, slider, () => look(looked, true)));

  // Shows the window of an output element, on a plane of the input that it reads.
  function look(index, stay = false) {
    looked = index;
    sources.forEach((source) => source.show(index, stay));
    follow.forEach((update) => update());
    said.replaceChildren(...describe(given, elements, sources, index));
    for (const cell of cells) {
      cell.classList.toggle("on", cell.dataset.index === String(index));
      cell.setAttribute("tabindex", cell.dataset.index === String(chosen) ? 0 : -1);
    }
  }

  function choose(index) {
    chosen.splice(0, chosen.length, ...index);
    look(chosen);
  }

  function drawOutput() {
    const lead = chosen.slice(0, -drawn);
    const cell = (p, q) => {
      const index = [...lead, ...[p, q].slice(-drawn)], { wrong, free, was, should, label } = elements[flatIndex(index, extents)];
      const alike = brief(was) === brief(should) || was === "nan";
      const [value, other] = wrong && alike ? [was, should] : [brief(was), brief(should)];
      return {
        value, below: wrong ? `≠ ${other}` : "", kind: `${wrong ? "wrong" : ""}${free ? " free" : ""}`, mark: wrong ? "wrong" : free ? "blank" : "",
        role: "gridcell", "data-index": index, "aria-label": `[${index.join(", ")}] ${label}`,
        onmouseenter: () => look(index), onmouseleave: () => look(chosen), onclick: () => choose(index), onkeydown: steer,
      };
    };
    outputTitle.textContent = titleOf(given.got === undefined || given.known ? "expected output" : "output", lead, drawn);
    output.replaceChildren(gridOf(planeOf(axes), placeIn(chosen, axes), cell,
      { inset: 1, role: "grid", "aria-label": "Output elements; arrow keys move, w goes to the next wrong one" }));
    cells = [...output.querySelectorAll("[data-index]")];
    look(chosen);
  }

  function steer(event) {
    const move = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (!move && event.key !== "w") return;
    if (move) {
      const steps = [...chosen.slice(0, -drawn).fill(0), ...move.slice(-drawn)];
      choose(chosen.map((at, i) => clamp(at + steps[i], 0, extents[i] - 1)));
    } else {
      const here = flatIndex(chosen, extents), after = elements.findIndex(({ wrong }, i) => wrong && i > here);
      const next = after < 0 ? elements.findIndex(({ wrong }) => wrong) : after;
      if (next >= 0) choose(unravel(next, extents));
    }
    drawOutput();
    cells.find((cell) => cell.dataset.index === String(chosen)).focus();
    event.preventDefault();
    event.stopPropagation();
  }

  drawOutput();
  const panels = [...sources.map(({ title, view }) => [title, view]), [outputTitle, output]];
  if (given.other) panels.push([make("h4", {}, given.other[0]), make("pre", {}, given.other[1])]);
  return make("div", { class: "picture" }, sliders.childElementCount ? sliders : null,
    make("div", { class: "panels" }, panels.map((parts) => make("div", { class: "panel" }, parts))),
    said, legend(given), given.readings ? make("p", { class: "note" }, `Drawn under ${given.readings}.`) : null);
}

// What the output is made from: its plane, and the values that the window of an element reads.
function sourceOf(given, slider, changed) {
  const extents = given.shape, texts = given.values.split(" ");
  const axes = given.axes.map((axis, i) => axisOf(extents[2 + i], axis)), drawn = Math.min(2, axes.length);
  const inner = axes.slice(0, -drawn), depths = inner.map(() => 0); // the plane of the input
  const title = make("h4"), view = make("div", { class: "view" });
  inner.forEach((axis, i) => slider(`input plane, axis ${2 + i}`, axis.ends, () => depths[i], (to) => { depths[i] = to; changed(); }));

  function show(index, stay) {
    inner.forEach((axis, i) => {
      if (stay || reads(axis, index[2 + i], depths[i])) return;
      const nearest = (one, other) => Math.abs(other - depths[i]) < Math.abs(one - depths[i]) ? other : one;
      const cells = cellsOf(axis, index[2 + i]);
      depths[i] = cells.length ? cells.reduce(nearest) : clamp(span(axis, index[2 + i])[0], 0, axis.size - 1);
    });
    const lead = [...index.slice(0, 2), ...depths], [rows, columns] = planeOf(axes), [r, c] = placeIn(index, axes);
    const isRead = inner.every((axis, i) => reads(axis, index[2 + i], depths[i]));
    const outside = inner.map((axis, i) => zone(axis, depths[i]));
    const cell = (p, q) => {
      const zones = [zone(rows, p), zone(columns, q), ...outside];
      const kind = ["over", "pad"].find((name) => zones.includes(name)) ?? "";
      const value = { over: "✕", pad: "·" }[kind] ?? texts[flatIndex([...lead, ...[p, q].slice(-drawn)], extents)];
      const read = isRead && reads(rows, r, p) && reads(columns, c, q) ? " read" : "";
      return { value, kind: `${kind}${read}`, mark: kind ? "blank" : "" };
    };
    const frames = outside.some(Boolean) ? [] : [["border", [0, columns.size], [0, rows.size]]];
    if (isRead) frames.push(["frame", span(columns, c), span(rows, r)]);
    title.textContent = `${titleOf(given.name, lead, drawn)}, ${given.dtype}`;
    view.replaceChildren(gridOf([rows, columns], [r, c], cell,
      { frames, role: "img", "aria-label": "The input with its padding; the window of the chosen output is outlined." }));
  }

  function read(index) {
    const places = axes.reduce((before, axis, i) =>
      before.flatMap((place) => cellsOf(axis, index[2 + i]).map((at) => [...place, at])), [index.slice(0, 2)]);
    const spans = axes.map((axis, i) => [...span(axis, index[2 + i]), ...(axis.dilation > 1 ? [axis.dilation] : [])].join(":"));
    return { window: spans.join(" × "), values: places.map((place) => texts[flatIndex(place, extents)]) };
  }
  return { title, view, show, read };
}

// What is known of the output elements: `was` is what came, where that was kept.
function elementsOf({ expected, got, known, allowed }) {
  const came = got?.split(" ") ?? [];
  let next = 0;
  return expected.split(" ").map((should, i) => {
    const text = came[i] ?? "", wrong = text.startsWith("!"), free = should === "?";
    const was = text.slice(wrong ? 1 : 0) || should, kept = Boolean(text) || (got !== undefined && !known);
    const label = `${kept ? `${was}, ` : ""}expected ${free ? "undefined" : should}${wrong ? ", wrong" : ""}`;
    return { wrong, free, kept, was, should, label, allowed: wrong ? allowed?.[next++] : null };
  });
}

// What one output element is, should be and is made from, as paragraphs.
function describe(given, elements, sources, index) {
  const { wrong, free, kept, was, should, allowed } = elements[flatIndex(index, given.shape)];
  const lines = [make("p", {}, make("strong", {}, `output[${index.join(", ")}]`), kept ? ` is ${was}, ` : ": ",
    `expected ${free ? "undefined: any value conforms" : should}`, wrong ? make("span", { class: "bad-text" }, "  wrong") : "")];
  const error = Math.abs(Number(was) - Number(should)), limit = allowed == null ? "" : `; allowed ${rough(allowed)}`;
  if (wrong) lines.push(make("p", {}, `${Number.isFinite(error) ? `off by ${rough(error)}` : "no finite error"}${limit}`));
  for (const { window, values } of sources.map((source) => source.read(index))) {
    const code = make("code", {}, values.slice(0, 48).join("  ") || "nothing");
    lines.push(make("p", {}, `window ${window} reads `, code, values.length > 48 ? ` and ${values.length - 48} more` : ""));
  }
  const which = given.which?.[flatIndex(index.slice(2), given.shape.slice(2))] ?? 0;
  return [...lines, make("p", {}, `expected${given.made[which]}`)];
}
