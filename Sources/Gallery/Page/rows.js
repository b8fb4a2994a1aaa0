// Fetches the jobs of the visible cells. A call fetches a few dozen jobs, and at most two calls run at once.

import { call } from "./calls.js";
import { answered, now, store } from "./store.js";

const most = 300;
const waiting = new Map();
let running = 0;

/**
 * Requests the jobs `ids` of a section, newest first. `conditions` are parameters of List. `exact` means that only jobs of this
 * section meet the conditions. A new request replaces a section's earlier request that has not started, because the user has
 * scrolled on. `found(missing)` gets the IDs of jobs that no longer exist or no longer match.
 */
export function want(key, ids, conditions, exact, found) {
    waiting.set(key, { ids, conditions, exact, found });
    if (running === 0) queueMicrotask(pump);
    else if (running === 1) setTimeout(pump, 80);
}

export const drop = () => waiting.clear();

async function pump() {
    if (running >= 2 || !store.there) return;
    const [key, wish] = waiting.entries().next().value ?? [];
    if (!wish) return;
    waiting.delete(key);
    running += 1;
    try {
        const since = now();
        const ids = wish.ids.slice(0, most);
        const [newest, oldest] = [ids[0], ids[ids.length - 1]];
        const limit = wish.exact ? ids.length : Math.min(most, newest - oldest + 1);
        const { jobs } = await call("List", { ...wish.conditions, before: newest + 1, limit });
        answered(jobs, since);
        const there = new Set(jobs.map(job => job.id));
        // A full answer covers only the IDs down to its last job. A shorter answer covers all IDs.
        const end = jobs.length === limit ? Math.min(...there) : oldest;
        wish.found(ids.filter(id => !there.has(id) && id >= end));
    } catch {
        // The daemon does not answer. Another part of the page shows this, and reloads everything when the daemon answers
        // again.
    } finally {
        running -= 1;
        pump();
    }
}
