// Owns the panel that lists all keys, and shows when the login ends. The `?` key opens it anywhere.

import { panel } from "./ask.js";
import { request } from "./calls.js";
import { byID, make, write } from "./dom.js";
import { attempt } from "./notices.js";
import { day } from "./words.js";

const keys = [
    ["In the grid"],
    ["← → ↑ ↓", "go to another picture"],
    ["Page up, page down", "move by a screen"],
    ["Home, End", "the newest and the oldest"],
    ["Space, Enter", "show the picture large"],
    ["x", "choose the picture; with Shift, all up to it"],
    ["Ctrl A", "choose all, at most 1000"],
    ["Escape", "choose none"],
    ["+ −", "larger and smaller pictures"],
    ["One picture large"],
    ["← →", "the newer and the older picture"],
    ["Space", "switch between before and after"],
    ["z", "show single pixels, or the whole picture again; the arrows then move it"],
    ["1 … 9", "another result"],
    ["Escape", "back to the grid"],
    ["Anywhere"],
    ["?", "this page"],
];

export function start() {
    let dialog = null;
    const login = make("p.note", { hidden: true });
    const open = () => {
        dialog ??= panel("help", "Keys", make("dl", null, ...keys.flatMap(([key, does]) => does
            ? [make("dt", null, make("kbd", { textContent: key })), make("dd", { textContent: does })]
            : [make("dt.group", { textContent: key })])),
        make("p.note", { textContent: "Drop pictures or folders anywhere on the page to add them." }), login);
        if (!dialog.open) dialog.showModal();
        attempt(null, async () => {
            const { ends } = await (await request("/login")).json();
            login.hidden = ends === null;
            if (ends) write(login, `This browser's login ends on ${day(ends)}, unless you visit the page before.`);
        });
    };
    byID("help").onclick = open;
    addEventListener("keydown", event => {
        if (event.key !== "?" || event.ctrlKey || event.metaKey) return;
        if (/^(TEXTAREA|SELECT)$/.test(event.target.tagName) || event.target.matches?.("input:not([type=range])")) return;
        event.preventDefault();
        open();
    });
}
