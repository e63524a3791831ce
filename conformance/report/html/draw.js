// Drawings: the padded input with its windows beside the output, made from the data of a failure.

function axisOf(given, size) {
  const count = given.even ? given.even[3] : given.start.length;
  const start = given.even ? (j) => given.even[0] + j * given.even[1] : (j) => given.start[j];
  const stop = given.even ? (j) => start(j) + given.even[2] : (j) => given.stop[j];
  const dilation = given.dilation ?? 1;
  const every = [...Array(count).keys()], [before, after] = given.pads;
  const zone = (at) => at >= 0 && at < size ? "" : at >= -before && at < size + after ? "pad" : "over";
  return {
    size, count, start, stop, zone, before, after, dilation,
    cells: (j) => [...Array(Math.max(0, Math.ceil((stop(j) - start(j)) / dilation))).keys()].map((n) => start(j) + n * dilation),
    reads: (j, at) => at >= start(j) && at < stop(j) && (at - start(j)) % dilation === 0,
    low: every.reduce((least, j) => Math.min(least, start(j)), -before),
    high: every.reduce((most, j) => Math.max(most, stop(j)), size + after),
  };
}

const FLAT = {
  size: 1, count: 1, start: () => 0, stop: () => 1, cells: () => [0], reads: (_, at) => at === 0, zone: () => "", low: 0, high: 1, flat: true, before: 0, after: 0,
};
const flatIndex = (index, extents) => index.reduce((sum, at, axis) => sum * extents[axis] + at, 0);
const unravel = (flat, extents) => {
  const index = [];
  for (let axis = extents.length - 1; axis >= 0; axis--) {
    index[axis] = flat % extents[axis];
    flat = Math.floor(flat / extents[axis]);
  }
  return index;
};
const clamp = (value, low, high) => Math.max(low, Math.min(high, value));

// At most `room` places of low:high, with those of `around` among them.
function visible(low, high, around, room) {
  if (high - low <= room) return [low, high];
  const middle = Math.floor((around[0] + around[1]) / 2);
  const first = clamp(Math.min(middle - (room >> 1), around[0]), low, high - room);
  return [first, first + room];
}

// A drawing -----------------------------------------------------------------------------------

const ROWS = 16, FEWEST = 5;
const roomAcross = () => document.querySelector("main").clientWidth - 110;
const columnsOf = (wide) => Math.max(FEWEST, Math.floor(roomAcross() / wide));

function drawing(given) {
  if (given.note) return make("p", { class: "quiet" }, given.note);
  const scene = sceneOf(given);
  return given.data === undefined ? sketch(scene) : pictureOf(scene);
}

function sceneOf(given) {
  const rank = given.axes.length, drawn = rank > 1 ? 2 : 1;
  const axes = given.axes.map((axis, i) => axisOf(axis, given.shape[2 + i]));
  const columns = axes[rank - 1], rows = drawn > 1 ? axes[rank - 2] : FLAT;
  const scene = { given, rank, drawn, axes, columns, rows, leading: axes.slice(0, rank - drawn) };
  if (given.data === undefined) return scene;
  scene.data = values(given.data, given.dtype);
  scene.expected = values(given.expected, given.dtype);
  scene.got = given.got !== undefined && !given.other ? values(given.got, given.dtype) : null;
  scene.wrong = given.wrong ? bytes(given.wrong) : null;
  scene.undefined = given.undefined ? bytes(given.undefined) : null;
  scene.isWrong = (i) => scene.wrong ? bit(scene.wrong, i) : i in (given.some ?? {});
  scene.allowed = new Map();
  if (given.allowed) {
    let next = 0;
    for (let i = 0; i < scene.expected.length; i++) {
      if (bit(scene.wrong, i)) scene.allowed.set(i, given.allowed[next++]);
    }
  }
  return scene;
}

function firstShown(scene) {
  const { given } = scene;
  if (given.worst?.length === given.out.length) return [...given.worst];
  return given.out.map(() => 0);
}

function pictureOf(scene) {
  const { given, axes, leading } = scene;
  const chosen = firstShown(scene); // index of the output element that is chosen
  let looked = chosen; // the one whose window is shown: the chosen one, or one pointed at
  const depths = leading.map(() => 0); // the plane of the input
  const input = make("div", { class: "view" }), output = make("div", { class: "view outputs" });
  const inputTitle = make("h4"), outputTitle = make("h4");
  const reads = make("div", { class: "reads", "aria-live": "polite" });
  const cells = new Map();

  const sliders = make("div", { class: "planes" });
  const follow = []; // sliders that show where we are
  const slider = (name, most, get, set, least = 0) => {
    if (most <= least) return;
    const shown = make("output", {}, String(get()));
    const range = make("input", {
      type: "range", min: least, max: most, value: get(),
      oninput: () => { set(Number(range.value)); },
    });
    follow.push(() => { range.value = get(); shown.value = `${get()} of ${least} to ${most}`; });
    sliders.append(make("label", {}, name, range, shown));
  };
  ["batch", "channel"].forEach((name, i) => slider(name, given.out[i] - 1, () => chosen[i], (to) => choose(i, to)));
  leading.forEach((axis, i) => {
    slider(`output plane, axis ${2 + i}`, axis.count - 1, () => chosen[2 + i], (to) => choose(2 + i, to));
    slider(`input plane, axis ${2 + i}`, axis.high - 1, () => depths[i], (to) => { depths[i] = to; show(); }, axis.low);
  });

  function choose(place, to) {
    chosen[place] = to;
    look(chosen);
    drawOutput();
  }

  // Shows the window of an output element, on a plane of the input that it reads.
  function look(index) {
    looked = index;
    leading.forEach((axis, i) => {
      if (axis.reads(index[2 + i], depths[i])) return;
      const cells = axis.cells(index[2 + i]).filter((at) => at >= 0 && at < axis.size);
      const nearest = (one, other) => Math.abs(other - depths[i]) < Math.abs(one - depths[i]) ? other : one;
      depths[i] = cells.length ? cells.reduce(nearest) : clamp(axis.start(index[2 + i]), 0, axis.size - 1);
    });
    show();
  }

  function show() {
    follow.forEach((update) => update());
    inputTitle.textContent = `input[${[looked[0], looked[1], ...depths, ":", scene.rows.flat ? null : ":"].filter((p) => p !== null).join(", ")}], ${given.dtype}`;
    input.replaceChildren(inputGrid(scene, looked, depths));
    const spoken = describe(scene, looked);
    reads.replaceChildren(...spoken);
    for (const [flat, cell] of cells) {
      const on = flat === flatIndex(looked, given.out);
      cell.classList.toggle("on", on);
    }
  }

  function drawOutput(focus = false) {
    const plane = [...chosen.slice(0, -scene.drawn), ":", scene.rows.flat ? null : ":"].filter((p) => p !== null);
    outputTitle.textContent = `${scene.got ? "output" : "expected output"}[${plane.join(", ")}]`;
    cells.clear();
    output.replaceChildren(outputGrid(scene, chosen, cells, {
      point: (index) => look(index),
      leave: () => look(chosen),
      pick: (index) => { chosen.splice(0, chosen.length, ...index); look(chosen); rove(); },
      key: (event) => steer(event),
    }));
    rove();
    if (focus) cells.get(flatIndex(chosen, given.out))?.focus();
    look(chosen);
  }

  function rove() {
    const flat = flatIndex(chosen, given.out);
    for (const [i, cell] of cells) cell.setAttribute("tabindex", i === flat ? 0 : -1);
  }

  function steer(event) {
    const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    const move = moves[event.key];
    if (event.key === "w") {
      const total = scene.expected.length, here = flatIndex(chosen, given.out);
      for (let step = 1; step <= total; step++) {
        const next = (here + step) % total;
        if (scene.isWrong(next)) { chosen.splice(0, chosen.length, ...unravel(next, given.out)); break; }
      }
    } else if (move) {
      const last = given.out.length - 1;
      chosen[last] = clamp(chosen[last] + move[1], 0, given.out[last] - 1);
      if (!scene.rows.flat) chosen[last - 1] = clamp(chosen[last - 1] + move[0], 0, given.out[last - 1] - 1);
    } else return;
    event.preventDefault();
    event.stopPropagation();
    drawOutput(true);
  }

  const panels = make("div", { class: "panels" },
    make("div", { class: "panel" }, inputTitle, input), make("div", { class: "panel" }, outputTitle, output));
  if (given.other) panels.append(returned(scene));
  if (scene.expected.length) drawOutput();
  else output.append(make("p", { class: "quiet" }, "The output has no elements."));
  const readings = given.readings ? make("p", { class: "note" }, `Drawn under ${given.readings}.`) : null;
  return make("div", { class: "picture" }, sliders.childElementCount ? sliders : null, panels,
    scene.expected.length ? reads : null, legend(scene), readings);
}

// What one output element is made of, as paragraphs.
function describe(scene, index) {
  const { given, expected, got, axes, data } = scene;
  const flat = flatIndex(index, given.out), wrong = scene.isWrong(flat), free = bit(scene.undefined, flat);
  const should = free ? "undefined: any value conforms" : exact(expected[flat], given.dtype);
  const was = got ? exact(got[flat], given.dtype) : given.some?.[flat];
  const lines = [make("p", {}, make("strong", {}, `output[${index.join(", ")}]`),
    was === undefined ? "" : ` is ${was}, `, was === undefined ? `: expected ${should}` : `expected ${should}`,
    wrong ? make("span", { class: "bad-text" }, "  wrong") : "")];
  if (wrong && got && given.dtype in FLOATS) {
    const error = Math.abs(Number(got[flat]) - Number(expected[flat]));
    const allowed = scene.allowed.get(flat);
    const far = Number.isFinite(error) ? `off by ${rough(error)}, ${rough(error / spacing(expected[flat], given.dtype))} ulp` : "no finite error";
    lines.push(make("p", {}, `${far}${allowed == null ? "" : `; allowed ${rough(allowed)}`}`));
  }
  const spans = axes.map((axis, i) => [axis.start(index[2 + i]), axis.stop(index[2 + i]), ...(axis.dilation > 1 ? [axis.dilation] : [])]);
  const cells = axes.map((axis, i) => axis.cells(index[2 + i]));
  const counts = (low, high) => cells.reduce((n, every, i) => n * every.filter((at) => at >= low(axes[i]) && at < high(axes[i])).length, 1);
  const total = cells.reduce((n, every) => n * every.length, 1);
  const inner = counts(() => 0, (axis) => axis.size);
  const padded = counts((axis) => -axis.before, (axis) => axis.size + axis.after);
  const read = [];
  const walk = (place) => {
    if (place.length === axes.length) read.push(data[flatIndex([index[0], index[1], ...place], given.shape)]);
    else {
      for (const p of cells[place.length]) if (p >= 0 && p < axes[place.length].size) walk([...place, p]);
    }
  };
  if (inner <= 5000) walk([]);
  const outside = [padded - inner ? `${padded - inner} of padding` : "", total - padded ? `${total - padded} of overhang` : ""].filter(Boolean).join(" and ");
  lines.push(make("p", {}, `window ${spans.map((span) => span.join(":")).join(" × ")}, ${total} ${total === 1 ? "cell" : "cells"}${outside ? `, ${outside}` : ""}; reads `,
    make("code", {}, read.slice(0, 48).map((value) => exact(value, given.dtype)).join("  ") || "nothing"), inner > 48 ? ` and ${inner - 48} more` : ""));
  if (given.average && read.length) {
    const divisor = Array.isArray(given.divisor) ? given.divisor[flatIndex(index.slice(2), given.out.slice(2))] : given.divisor;
    const sum = read.reduce((so, value) => so + Number(value), 0);
    lines.push(make("p", {}, `sum ${tidy(digitsOf(sum, 9))}, divisor ${divisor}: ${divisor ? tidy(digitsOf(sum / divisor, 9)) : "undefined"}`));
  }
  return lines;
}

// An output of another shape or type than expected.
function returned(scene) {
  const { other, got } = scene.given;
  const title = `returned: ${other.dtype} ${other.shape.join("x")}, expected ${scene.given.dtype} ${scene.given.out.join("x")}`;
  const panel = make("div", { class: "panel" }, make("h4", {}, title));
  if (got === undefined) return panel;
  const found = values(got, other.dtype), last = other.shape.at(-1), lines = [];
  for (let i = 0; i < Math.min(found.length, last * ROWS); i += last) {
    lines.push([...found.slice(i, i + Math.min(last, ROWS))].map((value) => brief(value).padStart(8)).join(" "));
  }
  panel.append(make("pre", {}, lines.join("\n")));
  return panel;
}

function legend(scene) {
  const { axes, given } = scene;
  const some = (test) => axes.some(test);
  const key = (name, text, extra) => make("li", {}, shape("svg", { "aria-hidden": "true" }, shape("rect", { class: name, x: 1, y: 1, width: 14, height: 10 }), extra), text);
  return make("ul", { class: "legend" },
    some((axis) => axis.before || axis.after) ? key("cell pad", "padding (·)") : null,
    some((axis) => axis.high > axis.size + axis.after || axis.low < -axis.before) ? key("cell over", "overhang (×)") : null,
    key("frame", "window of the output element"),
    given.wrong || given.some ? key("cell wrong", "wrong (≠ what was expected)", shape("path", { class: "corner", d: "M15 1h-6l6 6z" })) : null,
    given.some ? make("li", {}, `the output was not kept: ${Object.keys(given.some).length} of ${given.wrongs} wrong elements are known`) : null,
    given.undefined ? key("cell free", "undefined, any value conforms") : null);
}

// Too large for its values: the geometry to scale.
function sketch(scene) {
  const { given, rows, columns } = scene;
  const wide = columns.high - columns.low, high = rows.flat ? wide / 12 : rows.high - rows.low;
  const scale = Math.min(420 / wide, 260 / high), pad = 14;
  const x = (q) => pad + (q - columns.low) * scale, y = (p) => pad + (rows.flat ? p * high * scale : (p - rows.low) * scale);
  const index = firstShown(scene);
  // Of windows that are not even, only that of the worst element is known.
  const known = (axis, at) => axis.count === 1 ? 0 : at;
  const r = rows.flat ? 0 : known(rows, index.at(-2)), c = known(columns, index.at(-1));
  const svg = shape("svg", { width: wide * scale + 2 * pad, height: high * scale + 2 * pad, role: "img", "aria-label": "The shape of the input to scale" });
  const box = (name, x1, x2, y1, y2) => svg.append(shape("rect", { class: name, x: x(x1), y: y(y1), width: (x2 - x1) * scale, height: y(y2) - y(y1) }));
  box("cell over", columns.low, columns.high, rows.low, rows.high);
  box("cell pad", -columns.before, columns.size + columns.after, -rows.before, rows.size + rows.after);
  box("cell", 0, columns.size, 0, rows.size);
  box("frame", columns.start(c), columns.stop(c), rows.start(r), rows.stop(r));
  svg.append(shape("text", { class: "value", x: x(columns.size / 2), y: y(rows.size / 2) }, given.shape.join(" × ")));
  return make("div", { class: "picture" },
    make("p", { class: "quiet" }, `Too large for its values to be kept here: ${given.dtype} ${given.shape.join("x")} to ${given.out.join("x")}. To scale, with the window of output[${index.join(", ")}]:`),
    make("div", { class: "view" }, svg), legend(scene));
}
