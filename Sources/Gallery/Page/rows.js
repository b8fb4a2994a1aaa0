// Fetches the jobs of the cells on the screen, a few dozen a call, and never more than two calls at once.

import { call } from "./calls.js";
import { answered, now, store } from "./store.js";

const most = 300;
const waiting = new Map();
let running = 0;

/**
 * Wants the jobs `ids` of a section, newest first; `conditions` are those of List, which others may meet as well unless
 * they are `exact`. What was wanted of the section before and is not under way is forgotten: the page has been scrolled on.
 * `found(missing)` gets the IDs that the daemon knows no more, or that meet the conditions no more.
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
        // The answer covers what was asked for, or ends earlier because there is nothing more.
        const end = jobs.length === limit ? Math.min(...there) : oldest;
        wish.found(ids.filter(id => !there.has(id) && id >= end));
    } catch {
        // The daemon is away, which the page says elsewhere; everything is loaded again when it is back.
    } finally {
        running -= 1;
        pump();
    }
}
