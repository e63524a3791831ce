// Failures and vectors: their data, the details of one, pages of many.

const parsed = (id) => {
  let found;
  return () => found ??= JSON.parse(document.getElementById(id).textContent);
};
const listing = parsed("data-list"), described = parsed("data-described"), shown = parsed("data-shown");

// Failures have places in `described().failures`: [vector, group, causes, facts, elements].
const VECTOR = 0, GROUP = 1, CAUSES = 2, FACTS = 3, ELEMENTS = 4;
const failure = (place) => described().failures[place];
const idOf = (place) => listing().id[failure(place)[VECTOR]];

let index; // places by group, place by vector
function places() {
  if (!index) {
    index = { groups: new Map(), vectors: new Map() };
    described().failures.forEach((each, place) => {
      if (!index.groups.has(each[GROUP])) index.groups.set(each[GROUP], []);
      index.groups.get(each[GROUP]).push(place);
      index.vectors.set(each[VECTOR], place);
    });
  }
  return index;
}

function factsOf(place) {
  const { texts } = described(), found = [];
  const numbers = failure(place)[FACTS];
  for (let i = 0; i < numbers.length; i += 2) found.push([texts[numbers[i]], texts[numbers[i + 1]]]);
  return found;
}

const COLUMN_NAMES = ["element", "place", "got", "expected", "error", "ulp", "allowed"];

function details(place) {
  const extra = shown()[place] ?? {};
  const parts = [make("h3", { class: "id", tabindex: -1 }, make("code", {}, idOf(place)))];
  parts.push(make("dl", { class: "facts" }, factsOf(place).map(([name, text]) =>
    make("div", {}, make("dt", {}, name), make("dd", {}, text)))));
  const rows = failure(place)[ELEMENTS];
  if (rows.length) {
    parts.push(make("div", { class: "wide" }, make("table", { class: "list values" },
      make("thead", {}, make("tr", {}, COLUMN_NAMES.map((name) => make("th", { scope: "col" }, name)))),
      make("tbody", {}, rows.map((row) => make("tr", {}, row.map((cell, i) =>
        i ? make("td", { "data-column": COLUMN_NAMES[i] }, cell) : make("th", { scope: "row" }, cell))))))));
  }
  if (extra.drawing) parts.push(drawing(extra.drawing));
  else if (!extra.script) parts.push(make("p", { class: "quiet" }, "Its data are not kept in this file."));
  if (extra.printed) parts.push(folded("printed", "Printed meanwhile", make("pre", {}, extra.printed), true));
  if (extra.script) parts.push(folded("script", "Script to reproduce it", code(extra.script)));
  return make("article", { class: "failure" }, parts);
}

const folded = (name, title, content, open = false) =>
  make("details", { class: name, open }, make("summary", {}, title), content);

function code(text) {
  const button = make("button", { type: "button", onclick: async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(block);
      button.textContent = "Selected";
    }
  } }, "Copy");
  const block = make("pre", { tabindex: 0 }, text);
  return make("div", { class: "code" }, block, button);
}

// A button that can do nothing now. It is not disabled, since it would lose the focus that it has.
const idle = (button, now) => button.setAttribute("aria-disabled", String(now));

// Pages of rows: `row(item)` makes one; `shown(first, last)` names what is there.
function pages(items, size, row, head) {
  let first = 0;
  const body = make("tbody"), where = make("span", { class: "where", role: "status" });
  const turn = (by) => () => { first = clamp(first + by, 0, Math.max(0, items.length - 1)); draw(); };
  const before = make("button", { type: "button", onclick: turn(-size) }, "Previous");
  const after = make("button", { type: "button", onclick: turn(size) }, "Next");
  const bar = make("div", { class: "pager" }, before, where, after);
  function draw() {
    first -= first % size;
    const last = Math.min(first + size, items.length);
    where.textContent = items.length ? `${(first + 1).toLocaleString("en")}–${last.toLocaleString("en")} of ${items.length.toLocaleString("en")}` : "none";
    idle(before, first === 0);
    idle(after, last >= items.length);
    before.hidden = after.hidden = items.length <= size;
    body.replaceChildren(...items.slice(first, last).map(row));
  }
  draw();
  return {
    node: make("div", {}, bar, make("table", { class: "rows" }, head, body)),
    set: (others) => { items = others; first = 0; draw(); },
    reveal: (item) => { first = Math.max(0, items.indexOf(item)); draw(); },
  };
}

// A group: one failure in full, and the list of all.
const viewers = new Map();

function viewer(group) {
  if (viewers.has(group)) return viewers.get(group);
  const box = document.getElementById(`group-${group}`)?.querySelector(".body");
  const mine = places().groups.get(group);
  if (!box || !mine) return null;
  let current = 0;
  const where = make("span", { class: "where", role: "status" });
  const step = (by) => () => show(clamp(current + by, 0, mine.length - 1));
  const before = make("button", { type: "button", onclick: step(-1) }, "Previous");
  const after = make("button", { type: "button", onclick: step(1) }, "Next");
  const content = make("div");
  const row = (place) => make("tr", place === mine[current] ? { class: "current" } : {},
    make("td", {}, make("button", { type: "button", class: "open", onclick: () => show(mine.indexOf(place), true) }, idOf(place))));
  const all = mine.length > 1 ? pages(mine, 12, row) : null;
  function show(place, focus = false) {
    current = place;
    where.textContent = `${(place + 1).toLocaleString("en")} of ${mine.length.toLocaleString("en")}`;
    idle(before, place === 0);
    idle(after, place === mine.length - 1);
    content.replaceChildren(details(mine[place]));
    all?.reveal(mine[place]);
    if (focus) {
      box.parentElement.open = true;
      const title = content.querySelector("h3");
      title.focus({ preventScroll: true });
      title.scrollIntoView({ block: "start" });
    }
  }
  const bar = mine.length > 1 ? make("div", { class: "pager" }, before, where, after) : null;
  const every = all ? folded("more", `All ${mine.length.toLocaleString("en")} of the group`, all.node) : null;
  box.replaceChildren(...[bar, content, every].filter(Boolean));
  const found = { show, places: mine, get current() { return current; } };
  viewers.set(group, found);
  show(0);
  return found;
}

// All vectors, with a filter.
const KEYS = ["verdict", "operator", "group", "cause"];

function vectorList(box, remember) {
  const { id, operator, verdict, operators, verdicts, failures } = listing();
  const expected = new Set(listing().expected);
  const failing = places().vectors;
  const input = make("input", { type: "search", id: "filter", spellcheck: "false", autocomplete: "off",
    placeholder: "float16 same_lower verdict:mismatch", oninput: () => changed() });
  const select = (key, names) => make("select", { onchange: (event) => {
    const others = input.value.split(/\s+/).filter((word) => word && !word.startsWith(`${key}:`));
    input.value = [...others, ...(event.target.value ? [`${key}:${event.target.value}`] : [])].join(" ");
    changed();
  } }, make("option", { value: "" }, "any"), names.map((name) => make("option", {}, name)));
  const present = [...new Set(verdict)].sort((a, b) => a - b).map((code) => verdicts[code]);
  const selects = { verdict: select("verdict", present), operator: select("operator", operators) };
  const texts = [];
  const text = (v) => texts[v] ??= `${id[v]} ${expected.has(v) ? "expected" : ""} ${failing.has(v) ? factsOf(failing.get(v)).flat().join(" ") : ""}`.toLowerCase();

  function matching(words) {
    const found = [];
    for (let v = 0; v < id.length; v++) {
      const place = failing.get(v);
      const fits = words.every((word) => {
        const [key, value] = word.split(/:(.*)/s);
        if (value === undefined || !KEYS.includes(key)) return text(v).includes(word.toLowerCase());
        if (key === "verdict") return verdicts[verdict[v]] === value;
        if (key === "operator") return operators[operator[v]] === value;
        if (place === undefined) return false;
        return key === "group" ? failure(place)[GROUP] === Number(value) : failure(place)[CAUSES].includes(Number(value));
      });
      if (fits) found.push(v);
    }
    return found;
  }

  function row(v) {
    const name = verdicts[verdict[v]], place = failing.get(v);
    const line = make("tr", {},
      make("td", { class: "verdict-cell" }, make("span", { class: `state ${name}${failures.includes(name) ? " failing" : ""}` }, name), expected.has(v) ? make("span", { class: "quiet" }, " expected") : null),
      make("td", {}, place === undefined ? make("code", {}, id[v])
        : make("button", { type: "button", class: "open", "aria-expanded": "false", onclick: (event) => toggle(line, place, event.currentTarget) }, id[v])));
    return line;
  }

  function toggle(line, place, button) {
    const open = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!open));
    if (open) line.nextElementSibling.remove();
    else line.after(make("tr", { class: "inside" }, make("td", { colspan: 2 }, details(place))));
  }

  const head = make("thead", {}, make("tr", {}, make("th", { scope: "col", class: "verdict-cell" }, "verdict"), make("th", { scope: "col" }, "vector")));
  const list = pages([...id.keys()], 50, row, head);

  function changed(typed = true) {
    const words = input.value.split(/\s+/).filter(Boolean);
    for (const [key, box] of Object.entries(selects)) {
      box.value = words.find((word) => word.startsWith(`${key}:`))?.slice(key.length + 1) ?? "";
    }
    list.set(matching(words));
    if (typed) remember(words.join(" "));
  }

  box.append(make("div", { class: "filters", role: "search" },
    make("label", {}, "Filter: words that all occur, group:1, cause:1", input),
    make("label", {}, "verdict", selects.verdict), make("label", {}, "operator", selects.operator)), list.node);
  return { input, filter: (words) => { input.value = words; changed(false); } };
}
