// Finds the pictures on which chains can be tried: originals, or results if the original no longer exists, or else our own
// sample.

import { call } from "./calls.js";
import { decoded, hasOriginal, hasResult, pathOf } from "./pictures.js";
import { Ranges } from "./ranges.js";
import { answered, now } from "./store.js";
import { shortName } from "./words.js";

/** Maximum jobs to look at in one search. */
const mostLooks = 200;

const sample = {
    id: null, name: "A sample", picture: "/sample.webp", trial: "/try/sample",
    note: "This picture comes with the page, because there is no other to try a chain on.",
};

/** The pictures to try chains on. Failed jobs are left out, because most of their originals are not pictures. */
export class Subjects {
    #ids = new Ranges();

    /** Returns the picture of job `wanted`, or else the newest picture that can be shown, or else the sample. */
    async begin(wanted) {
        const { ranges } = await call("ListIDs", { states: ["done"] });
        this.#ids = new Ranges(ranges);
        const own = wanted !== null ? await this.#subject(wanted).catch(() => null) : null;
        return own ?? await this.#search(0, 1) ?? sample;
    }

    /**
     * Returns the next picture that can be shown: the next older one if `by` is 1, the next newer one if it is -1; null if
     * there is none.
     */
    next(from, by) {
        const at = this.#ids.position(from.id);
        return this.#search(by > 0 && !this.#ids.has(from.id) ? at : at + by, by);
    }

    async #search(position, by) {
        const end = position + by * mostLooks;
        for (; position >= 0 && position < this.#ids.count && position !== end; position += by) {
            const found = await this.#subject(this.#ids.at(position));
            if (found) return found;
        }
        return null;
    }

    async #subject(id) {
        const since = now();
        const { jobs: [job] } = await call("List", { states: [], before: id + 1, limit: 1 });
        if (job?.id !== id || job.state === "failed") return null;
        answered([job], since);
        const places = [
            hasOriginal(job) ? [pathOf(job, 0, 1280), `/try/${id}`, ""] : null,
            hasResult(job) ? [pathOf(job, 1, 1280), `/try/${id}/1`, "Its original is gone: this is its result."] : null,
        ].filter(Boolean);
        for (const [picture, trial, note] of places) {
            if (await canBeShown(picture)) return { id, name: shortName(job), picture, trial, note };
        }
        return null;
    }
}

/** Returns whether the picture can be shown now, or later because the daemon is busy. */
async function canBeShown(path) {
    try {
        await decoded(path);
        return true;
    } catch (failure) {
        return failure.status === 503;
    }
}
