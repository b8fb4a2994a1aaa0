// Finds the pictures on which chains can be tried: originals, or results if the original no longer exists, or else our own
// sample.

import { call } from "./calls.js";
import { decoded, hasOriginal, hasResult, pathOf } from "./pictures.js";
import { Ranges } from "./ranges.js";
import { store } from "./store.js";
import { number, shortName, states as allStates } from "./words.js";

/** Failed jobs are left out, because most of their originals are not pictures. */
const states = allStates.filter(state => state !== "failed");
/** Jobs in a call. */
const page = 100;
/** Maximum pictures that are requested at once. The first picture is requested alone, because it usually can be shown. */
const most = 4;
/** Milliseconds after which the search ends without a picture, and the page shows its sample. */
const patience = 10_000;

/**
 * A subject is `{ id, name, picture, trial, note, at }`. `at` is its position among the jobs. The sample has no ID. Its
 * `at` is the last position that was tried, or null if all positions were tried.
 */
export class Subjects {
    #ids = new Ranges();
    #asked = null;

    /** Returns the picture of job `wanted`, or else the newest picture that can be shown, or else the sample. */
    async begin(wanted) {
        const signal = this.#begin();
        const { ranges } = await call("ListIDs", { states }, signal);
        this.#ids = new Ranges(ranges);
        if (wanted !== null && this.#ids.has(wanted)) {
            const at = this.#ids.position(wanted);
            const own = await subject((await listed([wanted], signal)).get(wanted), signal);
            if (own) return { ...own, at };
        }
        const { found, at } = await this.#search(0, 1, signal, performance.now() + patience);
        return found ?? sample(at, this.#ids.count);
    }

    /**
     * Returns the next picture that can be shown, or null if there is none. Searches older pictures if `by` is 1, and
     * newer pictures if `by` is -1.
     */
    async next({ at }, by) {
        return (await this.#search(at + by, by, this.#begin())).found;
    }

    /** Ends a search, which then throws an AbortError. */
    stop() { this.#asked?.abort(); }

    #begin() {
        this.stop();
        this.#asked = new AbortController();
        return this.#asked.signal;
    }

    /**
     * If no picture is found, `at` is the last position that was tried before the time `end`, or null if all positions
     * were tried.
     */
    async #search(at, by, signal, end = Infinity) {
        let width = 1;
        while (at >= 0 && at < this.#ids.count) {
            const count = Math.min(page, by > 0 ? this.#ids.count - at : at + 1);
            const ids = Array.from({ length: count }, (_, index) => this.#ids.at(at + index * by));
            const jobs = await listed(ids, signal);
            while (ids.length) {
                const some = ids.splice(0, width);
                width = Math.min(2 * width, most);
                const found = await Promise.all(some.map(id => subject(jobs.get(id), signal)));
                const index = found.findIndex(Boolean);
                if (index >= 0) return { found: { ...found[index], at: at + index * by }, at: null };
                at += some.length * by;
                if (performance.now() > end && at < this.#ids.count) return { found: null, at: at - by };
            }
        }
        return { found: null, at: null };
    }
}

/** `at` is the position at which the search ran out of time, or null if the search tried all `count` jobs. */
function sample(at, count) {
    const tried = at === null ? count : at + 1;
    const why = tried === 0
        ? `there is no other${store.status?.jobs.failed ? ", apart from failed ones," : ""} to try a chain on.`
        : tried === 1 ? "the only other can't be shown."
        : at === null ? `none of the ${number(tried)} others can be shown.`
        : `none of the newest ${number(tried)} can be shown; › tries older ones.`;
    return {
        id: null, name: "A sample", picture: "/sample.webp", trial: "/try/sample",
        note: `This picture comes with the page, because ${why}`, at,
    };
}

/** Returns the jobs with these IDs, by ID. The IDs must be neighbours in the list. */
async function listed(ids, signal) {
    const { jobs } = await call("List", { states, before: Math.max(...ids) + 1, limit: ids.length }, signal);
    return new Map(jobs.map(job => [job.id, job]));
}

/** Returns the job's picture as a subject, or null if it can't be shown. */
async function subject(job, signal) {
    if (!job) return null;
    const places = [
        hasOriginal(job) ? [pathOf(job, 0, 1280), `/try/${job.id}`, ""] : null,
        hasResult(job) ? [pathOf(job, 1, 1280), `/try/${job.id}/1`, "Its original is gone: this is its result."] : null,
    ].filter(Boolean);
    for (const [picture, trial, note] of places) {
        if (await canBeShown(picture, signal)) return { id: job.id, name: shortName(job), picture, trial, note };
    }
    return null;
}

/**
 * Whether the picture can be shown. True if the daemon is busy, because the picture may be shown later. Asks the daemon
 * even if the browser has the picture in its cache, because a chain needs the file.
 */
async function canBeShown(path, signal) {
    try {
        await decoded(path, signal, { cache: "no-cache" });
        return true;
    } catch (failure) {
        if (signal.aborted || failure.name === "Unreachable" || failure.status === 401) throw failure;
        return failure.status === 503;
    }
}
