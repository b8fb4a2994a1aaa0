// Owns the page's messages: permanent lines above the pictures, temporary lines over them, and the live region for screen
// readers.

import { byID, keep, make, write } from "./dom.js";
import { on, store } from "./store.js";

const passing = [];
let spoken = 0;

/** Announces a text to screen readers. If several texts follow each other quickly, only the last text is announced. */
export function speak(text) {
    clearTimeout(spoken);
    come("live");
    spoken = setTimeout(() => write(byID("live"), text), 150);
}

/** Moves the element into the open modal dialog, if any. Elements outside a dialog are hidden and not announced. */
function come(id) {
    const host = [...document.querySelectorAll("dialog:modal")].pop() ?? document.body;
    if (byID(id).parentElement !== host) host.append(byID(id));
}

/**
 * Shows a line for a while, and announces it. `act` is `{ text, run }` for a button beside the line. The line replaces an
 * earlier line with the same `about`.
 */
export function notify(text, { isBad = false, act = null, about = null } = {}) {
    const note = { key: `${performance.now()}`, text, isBad, act, about };
    const earlier = about && passing.findIndex(other => other.about === about);
    if (about && earlier >= 0) passing.splice(earlier, 1);
    passing.push(note);
    if (passing.length > 3) passing.shift();
    speak(text);
    draw();
    setTimeout(() => close(note), isBad ? 20_000 : 8000);
}

function close(note) {
    const index = passing.indexOf(note);
    if (index >= 0) passing.splice(index, 1);
    draw();
}

/** Runs a button's action and reports its failure. Ignores further presses until the action has finished. */
export async function attempt(button, run) {
    if (button?.getAttribute("aria-busy") === "true") return;
    button?.setAttribute("aria-busy", "true");
    try {
        await run();
    } catch (failure) {
        if (failure.name !== "AbortError") notify(failure.message, { isBad: true });
    } finally {
        button?.removeAttribute("aria-busy");
    }
}

export function start() {
    on("there", there => {
        for (const set of document.querySelectorAll("fieldset[data-acts]")) set.disabled = !there;
        speak(there ? "The daemon is back" : store.why);
        draw();
    });
    on("status", draw);
    document.addEventListener("close", () => ["live", "passing"].forEach(come), { capture: true });
}

/** Makes a set of controls, which are disabled while the daemon does not answer. */
export function acts(...children) {
    const set = make("fieldset", { disabled: !store.there }, ...children);
    set.dataset.acts = "";
    return set;
}

function draw() {
    const lines = [];
    if (!store.there) lines.push({ key: "away", text: store.why });
    else if (store.status?.stopping) lines.push({ key: "stopping", text: "The daemon is stopping: it takes nothing new" });
    for (const problem of store.there ? store.status?.problems ?? [] : []) {
        lines.push({ key: problem, text: `problem: ${problem}`, isBad: true });
    }
    for (const inbox of store.there ? store.status?.inboxes ?? [] : []) {
        if (inbox.problem) lines.push({ key: inbox.path, text: `problem: ${inbox.path}: ${inbox.problem}`, isBad: true });
    }
    fill(byID("notices"), lines);
    come("passing");
    fill(byID("passing"), passing);
}

function fill(parent, lines) {
    keep(parent, lines, line => line.key, line => {
        const element = make("p.notice", null, make("span", { textContent: line.text }));
        if (line.act) {
            element.append(acts(make("button", {
                type: "button", textContent: line.act.text, onclick: () => {
                    close(line);
                    attempt(null, line.act.run);
                },
            })));
        }
        if (passing.includes(line)) {
            element.append(make("button.close", {
                type: "button", textContent: "×", "aria-label": "Close", onclick: () => close(line),
            }));
        }
        return element;
    }, (element, line) => {
        element.classList.toggle("bad", Boolean(line.isBad));
        write(element.firstElementChild, line.text);
    });
}
