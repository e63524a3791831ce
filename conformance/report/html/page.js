// The page: theme, keys, addresses.

const root = document.documentElement;
document.body.append(patterns());
document.querySelectorAll(".scripted").forEach((each) => { each.hidden = false; });

const themeButton = document.getElementById("theme");
const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
const named = () => { themeButton.textContent = dark() ? "Light" : "Dark"; };
function switchTheme() {
  root.dataset.theme = dark() ? "light" : "dark";
  try { localStorage.setItem("conformance-theme", root.dataset.theme); } catch { /* a file may have no storage */ }
  named();
}
try { root.dataset.theme = localStorage.getItem("conformance-theme") ?? ""; } catch { /* likewise */ }
if (!["light", "dark"].includes(root.dataset.theme)) delete root.dataset.theme;
themeButton.addEventListener("click", switchTheme);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", named);
named();

const keys = document.getElementById("keys");
document.getElementById("help").addEventListener("click", () => keys.showModal());

const list = vectorList(document.getElementById("list"), (words) => {
  history.replaceState(null, "", words ? `#filter=${encodeURIComponent(words)}` : "#vectors");
});

const vectorsTitle = document.getElementById("vectors-title");
vectorsTitle.tabIndex = -1;

const groups = [...document.querySelectorAll("details.group")];
const numberOf = (group) => Number(group.dataset.group);
for (const group of groups) {
  group.addEventListener("toggle", () => { if (group.open) viewer(numberOf(group)); });
  if (group.open) viewer(numberOf(group));
}

let at = -1; // the group that keys go on from
function toGroup(number, place = 0) {
  if (number < 0 || number >= groups.length) return;
  at = number;
  const there = viewer(numberOf(groups[number]));
  groups[number].open = true;
  there?.show(place < 0 ? there.places.length - 1 : place, true);
}
function step(by) {
  const focused = groups.indexOf(document.activeElement?.closest?.("details.group"));
  if (focused >= 0) at = focused;
  if (at < 0) { toGroup(0); return; }
  const there = viewer(numberOf(groups[at])), next = there ? there.current + by : -1;
  if (there && next >= 0 && next < there.places.length) toGroup(at, next);
  else toGroup(at + by, by < 0 ? -1 : 0);
}

const commands = {
  j: () => step(1),
  k: () => step(-1),
  n: () => toGroup(at + 1),
  p: () => toGroup(at - 1),
  t: switchTheme,
  "?": () => keys.showModal(),
  "/": () => { document.getElementById("vectors").scrollIntoView(); list.input.focus(); },
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || keys.open) return;
  if (event.target.closest?.("input, select, textarea")) return;
  const command = Object.hasOwn(commands, event.key) ? commands[event.key] : null;
  if (command) {
    event.preventDefault();
    command();
  }
});

// #filter=WORDS, #vector=ID, #group-1, #cause-1
function route() {
  let address = location.hash.slice(1);
  try { address = decodeURIComponent(address); } catch { /* as it is */ }
  if (address.startsWith("filter=")) {
    list.filter(address.slice("filter=".length));
    document.getElementById("vectors").scrollIntoView();
    vectorsTitle.focus({ preventScroll: true }); // who goes on by Tab comes to the list
  } else if (address.startsWith("vector=")) {
    const place = places().vectors.get(listing().id.indexOf(address.slice("vector=".length)));
    if (place === undefined) return;
    const group = groups.findIndex((each) => numberOf(each) === failure(place)[GROUP]);
    toGroup(group, places().groups.get(failure(place)[GROUP]).indexOf(place));
  } else if (/^group-\d+$/.test(address)) {
    const group = groups.findIndex((each) => each.id === address);
    if (group < 0) return;
    at = group;
    groups[group].open = true;
    groups[group].scrollIntoView();
    groups[group].querySelector("summary").focus({ preventScroll: true });
  }
}
addEventListener("hashchange", route);
route();
