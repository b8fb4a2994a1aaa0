// Owns the bar with actions for the chosen pictures. Each action shows how many jobs it affects.

import { call } from "./calls.js";
import { byID, make, write } from "./dom.js";
import { most } from "./keys.js";
import { priority, prioritise } from "./batches.js";
import { acts, attempt, notify } from "./notices.js";
import { answered, job, now, on } from "./store.js";
import { counted, number, unended } from "./words.js";

export function start(grid, clear) {
    const bar = byID("chosen");
    const count = make("span");
    const chosen = states => [...grid.selection].filter(id => states.includes(job(id)?.state));
    const act = (states, word, run) => {
        const button = make("button.framed", { type: "button", onclick: () => attempt(button, () => run(chosen(states))) });
        button.draw = () => {
            const { length } = chosen(states);
            button.hidden = length === 0;
            write(button, word.replace("#", number(length)));
        };
        return button;
    };
    const buttons = [
        act(unended.slice(0, 3), "Cancel #", async ids => {
            const { jobs } = await call("Cancel", { ids });
            notify(`cancelled ${counted(jobs.length, "job")}`);
        }),
        act(["failed", "cancelled"], "Retry #", async ids => {
            const { retried } = await call("Retry", { ids, states: [] });
            notify(`${counted(retried.length, "job")} ${retried.length === 1 ? "comes" : "come"} back`);
        }),
        act(["done"], "Process # again", async ids => {
            const { jobs, refused } = await call("Redo", { ids });
            const left = refused.map(({ jobs, reason }) => `; ${number(jobs)} can't be: ${reason}`).join("");
            notify(`processing ${counted(jobs.length, "job")} again${left}`, { isBad: refused.length > 0 });
        }),
    ];
    const level = priority(level => prioritise({ ids: chosen(["waiting", "queued"]) }, level));
    const close = make("button.close", { type: "button", textContent: "×", "aria-label": "Choose none", onclick: clear });
    bar.append(count, close, acts(...buttons, level));

    const draw = () => {
        const { size } = grid.selection;
        bar.hidden = size === 0;
        if (!size) return;
        write(count, `${number(size)} chosen${size >= most ? ", the maximum" : ""}`);
        buttons.forEach(button => button.draw());
        level.hidden = chosen(["waiting", "queued"]).length === 0;
    };
    on("selection", () => {
        draw();
        fetchMissing(grid.selection).then(draw, () => {});
    });
    on("job", changed => { if (grid.selection.has(changed.id)) draw(); });
    on("load", () => { if (grid.selection.size) fetchMissing(grid.selection).then(draw, () => {}); });
}

/** Fetches chosen jobs that are not loaded, because no cell has shown them. One call fetches up to 300 neighbouring IDs. */
async function fetchMissing(selection) {
    let missing = [...selection].filter(id => !job(id)).sort((one, other) => other - one);
    while (missing.length) {
        const since = now();
        const limit = Math.min(300, missing[0] - missing[missing.length - 1] + 1);
        const { jobs } = await call("List", { states: [], before: missing[0] + 1, limit });
        answered(jobs, since);
        const lowest = jobs.length ? Math.min(...jobs.map(job => job.id)) : 0;
        missing = missing.filter(id => id < lowest);
    }
}
