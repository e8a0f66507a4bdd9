// Pages work without this. With it, forms and the review do not reload the page, and keys press buttons.

const trouble = document.getElementById("trouble");
const ended = "The service does not answer. It ends by itself when nobody uses it: run `hardwon open` again.";
let latest = 0;

/** Ask for a page and put its content in the place of this one's. The browser's own parser reads it: no text becomes HTML here. */
function swap(address, { method = "GET", body = null, keep = null, replace = false } = {}) {
  const asked = ++latest;
  document.body.setAttribute("aria-busy", "true");
  const request = new XMLHttpRequest();
  request.open(method, address);
  request.responseType = "document";
  request.setRequestHeader("Accept", "text/html");
  request.onload = () => {
    if (asked !== latest) return; // a later one is under way
    document.body.removeAttribute("aria-busy");
    const found = request.response && request.response.getElementById("main");
    if (!found) return say("The service gave no page. Reload to see what is the matter.");
    const part = (keep && found.querySelector(keep) && document.querySelector(keep)) || document.getElementById("main");
    const fresh = part.id === "main" ? found : found.querySelector(keep);
    part.replaceWith(document.adoptNode(fresh));
    const side = request.response.querySelector(".side");
    if (side) document.querySelector(".side")?.replaceWith(document.adoptNode(side));
    document.title = request.response.title;
    const shown = new URL(request.responseURL);
    history[replace ? "replaceState" : "pushState"](null, "", shown.pathname + shown.search);
    trouble.hidden = true;
    document.querySelector("[autofocus]")?.focus();
    settle();
    if (!keep) window.scrollTo(0, 0);
  };
  request.onerror = () => {
    document.body.removeAttribute("aria-busy");
    say(ended);
  };
  request.send(body);
}

/** What takes longer than the rest of a page is put in when it is there. */
function complete() {
  const gap = document.querySelector("[data-fill]");
  if (!gap) return;
  const request = new XMLHttpRequest();
  request.open("GET", gap.dataset.fill);
  request.responseType = "document";
  request.onload = () => {
    const part = gap.closest("[id]");
    const found = request.response?.getElementById(part.id);
    if (found && part.isConnected) part.replaceWith(document.adoptNode(found));
  };
  request.onerror = () => say(ended);
  request.send();
}

/** How far a harvest is, as the service tells it; at its end the page is looked at anew. */
let heard;
function listen() {
  heard?.close();
  const part = document.querySelector("[data-events]");
  if (!part) return;
  heard = new EventSource(part.dataset.events);
  heard.onmessage = (event) => {
    const { phase, done, of } = JSON.parse(event.data);
    part.querySelector("[data-phase]").textContent = of ? `${phase}: ${done} of ${of}` : phase;
    const bar = part.querySelector("progress");
    if (of) [bar.max, bar.value] = [of, done];
    else bar.removeAttribute("value");
  };
  heard.addEventListener("end", () => {
    heard.close();
    swap(location.href, { replace: true });
  });
}

function say(words) {
  trouble.textContent = words;
  trouble.hidden = false;
}

function asked(form) {
  const query = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (value) query.append(name, value);
  const written = query.toString();
  return form.getAttribute("action") + (written ? "?" + written : "");
}

/** Of a list: with shift, all from the last that was chosen to this one. */
let last;
function choose(box, several) {
  const boxes = [...document.querySelectorAll(".chosen > input")];
  const [from, to] = [boxes.indexOf(last), boxes.indexOf(box)].sort((a, b) => a - b);
  if (several && from >= 0) for (const each of boxes.slice(from, to)) each.checked = box.checked;
  last = box;
}

function count() {
  const chosen = document.querySelectorAll(".chosen > :checked").length;
  const all = document.querySelector("[data-all]");
  if (!all) return;
  all.parentElement.hidden = false;
  all.checked = chosen === document.querySelectorAll(".chosen > input").length;
  document.querySelector("[data-chosen]").textContent = chosen;
}

document.addEventListener("change", (event) => {
  if (event.target.matches("[data-all]"))
    for (const each of document.querySelectorAll(".chosen > input")) each.checked = event.target.checked;
  count();
});

/** Down and up a list, row by row. */
function move(step) {
  const rows = [...document.querySelectorAll("tbody tr:has(td a), main li:has(> a.text, > div > a.text)")];
  const row = rows[Math.max(0, Math.min(rows.length - 1, rows.findIndex((each) => each.contains(document.activeElement)) + step))];
  row?.querySelector("a")?.focus();
}

let typing;
document.addEventListener("input", (event) => {
  const form = event.target.closest("form[data-live]");
  if (!form) return;
  clearTimeout(typing);
  const search = event.target.type === "search";
  typing = setTimeout(() => swap(asked(form), { keep: search ? "#results" : null, replace: true }), search ? 120 : 0);
});

document.addEventListener("submit", (event) => {
  const form = event.target;
  const question = event.submitter?.dataset.confirm ?? form.dataset.confirm;
  if (question && !window.confirm(question)) return event.preventDefault();
  if (form.hasAttribute("data-live")) {
    event.preventDefault();
    swap(asked(form), { replace: true });
  } else if (form.hasAttribute("data-swap")) {
    event.preventDefault();
    swap(form.getAttribute("action"), { method: "POST", body: new URLSearchParams(new FormData(form)) });
  }
});

document.addEventListener("click", async (event) => {
  const copied = event.target.closest("[data-copy]");
  if (copied) {
    await navigator.clipboard.writeText(copied.dataset.copy);
    copied.textContent = "Copied";
  }
  if (event.target.matches(".chosen > input")) choose(event.target, event.shiftKey);
  const link = event.target.closest("a[data-swap]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  swap(link.getAttribute("href"));
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.key === "Escape") return document.activeElement?.blur();
  if (event.target.closest("input:not([type=checkbox]), textarea, select")) return;
  if (event.key === "j" || event.key === "k") return move(event.key === "j" ? 1 : -1);
  const found = [...document.querySelectorAll("[data-key]")].findLast((each) => each.dataset.key === event.key);
  if (!found || document.body.hasAttribute("aria-busy")) return;
  event.preventDefault();
  if (found.matches("input")) found.focus();
  else found.click();
});

/** Of a long transcript, only what is near the screen is in the page; the rest keeps its room. */
const near = new IntersectionObserver((seen) => seen.forEach((one) => (one.isIntersecting ? fill : clear)(one.target)), { rootMargin: "1500px" });
const cleared = new WeakMap();
function fill(part) {
  part.dataset.near = "";
  if (part.firstElementChild || "asked" in part.dataset) return;
  const put = (rows) => {
    part.append(...rows);
    part.style.height = "";
  };
  if (cleared.has(part)) return put(cleared.get(part));
  part.dataset.asked = "";
  const request = new XMLHttpRequest();
  request.open("GET", part.dataset.part);
  request.responseType = "document";
  request.onload = () => {
    delete part.dataset.asked;
    const rows = [...(request.response?.querySelectorAll("li[id]") ?? [])];
    if (!rows.length) return say("The service gave no messages. Reload to see what is the matter.");
    cleared.set(part, rows);
    if ("near" in part.dataset) put(rows);
  };
  request.onerror = () => {
    delete part.dataset.asked;
    say(ended);
  };
  request.send();
}

function clear(part) {
  delete part.dataset.near;
  if (!part.firstElementChild) return;
  part.style.height = `${part.offsetHeight}px`;
  cleared.set(part, [...part.children]);
  part.replaceChildren();
}

/** Parts that were not seen yet are taken to be as tall as the one that was. */
function measure() {
  near.disconnect();
  const parts = [...document.querySelectorAll("[data-part]")];
  const known = parts.find((part) => part.firstElementChild);
  if (!known) return;
  for (const part of parts) {
    if (!part.firstElementChild) part.style.height = `${(known.offsetHeight / known.dataset.rows) * part.dataset.rows}px`;
    near.observe(part);
  }
  document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

function settle() {
  measure();
  complete();
  listen();
  count();
  if (navigator.clipboard) for (const each of document.querySelectorAll("[data-copy]")) each.hidden = false;
}

settle();
window.addEventListener("popstate", () => location.reload());
