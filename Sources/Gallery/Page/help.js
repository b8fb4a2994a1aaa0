// Owns the panel that lists all keys. The `?` key opens it anywhere.

import { panel } from "./ask.js";
import { byID, make } from "./dom.js";

const keys = [
    ["In the grid"],
    ["← → ↑ ↓", "go to another picture"],
    ["Page up, page down", "go on by a screen"],
    ["Home, End", "the newest and the oldest"],
    ["Space, Enter", "show the picture large"],
    ["x", "choose the picture; with Shift, all up to it"],
    ["Ctrl A", "choose all, as far as a call can name them"],
    ["Escape", "choose none"],
    ["+ −", "larger and smaller pictures"],
    ["One picture large"],
    ["← →", "the newer and the older picture"],
    ["Space", "turn between before and after"],
    ["1 … 9", "another result"],
    ["Escape", "back to the grid"],
    ["Anywhere"],
    ["?", "this page"],
];

export function start() {
    let dialog = null;
    const open = () => {
        dialog ??= panel("help", "Keys", make("dl", null, ...keys.flatMap(([key, does]) => does
            ? [make("dt", null, make("kbd", { textContent: key })), make("dd", { textContent: does })]
            : [make("dt.group", { textContent: key })])),
        make("p.note", { textContent: "Drop pictures or folders anywhere on the page to add them." }));
        if (!dialog.open) dialog.showModal();
    };
    byID("help").onclick = open;
    addEventListener("keydown", event => {
        if (event.key !== "?" || event.ctrlKey || event.metaKey) return;
        if (/^(TEXTAREA|SELECT)$/.test(event.target.tagName) || event.target.matches?.("input:not([type=range])")) return;
        event.preventDefault();
        open();
    });
}
