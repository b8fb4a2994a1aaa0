// Owns the additions that this tab makes. Sends files to the gallery, three at a time, and adds them one after the other, so
// that the jobs of a batch have the order of their names. Keeps each file's state.

import { isList } from "./addresses.js";
import { call, Failure, failure, send } from "./calls.js";
import { leaveRoom } from "./pictures.js";

const most = 3;
/** The order of file managers: `img2` before `img10`, and a folder's files together. */
const natural = new Intl.Collator(undefined, { numeric: true });
/** Maximum bytes of the names in a call, if each character has three bytes. The gallery accepts calls of 64 kB. */
const longestCall = 48_000;

/**
 * The files that were added in this tab, by job ID. If the daemon has removed a job's original, the page shows
 * the file from this tab instead.
 */
const sent = new Map();
export const fileOf = id => sent.get(id) ?? null;

/** The files of one drop. `changed()` is called after each step. A file's state is waits, sends, added, failed or left out. */
export class Addition {
    batch = null;
    isRunning = false;
    #running = new Set();
    #changed;

    /** `files` are `{ file, folder, path }`. */
    constructor(files, changed) {
        this.items = files.map(entry => ({ ...entry, state: "waits", share: 0, error: null, job: null }))
            .sort((one, other) => natural.compare(one.folder, other.folder) || natural.compare(one.file.name, other.file.name));
        this.#changed = changed;
    }

    count(state) { return this.items.reduce((count, item) => count + (item.state === state ? 1 : 0), 0); }
    get bytes() { return this.items.reduce((all, { file }) => all + file.size, 0); }
    get sent() { return this.items.reduce((all, { file, share, state }) => all + file.size * (state === "added" ? 1 : share), 0); }

    /** Marks the files that the recipe's inbox would ignore. Each call checks as many names as fit. */
    async sift(recipe) {
        for (const item of this.items) {
            if (item.state === "left out") [item.state, item.error] = ["waits", null];
        }
        const waiting = this.items.filter(({ state }) => state === "waits");
        while (waiting.length) {
            let length = 0;
            const end = waiting.findIndex(({ path }) => (length += 3 * path.length + 3) > longestCall);
            const some = waiting.splice(0, end < 0 ? waiting.length : Math.max(1, end));
            const { ignored } = await call("Sift", { names: some.map(({ path }) => path), recipe });
            const reasons = new Map(ignored.map(({ path, reason }) => [path, reason]));
            for (const item of some) {
                if (!reasons.has(item.path)) continue;
                item.state = "left out";
                item.error = reasons.get(item.path);
            }
        }
        this.#changed();
    }

    /** Sends the waiting files as a batch of this name. Without a name, a single file needs no batch. */
    async send(recipe, name = null) {
        this.isRunning = true;
        this.recipe = recipe;
        this.#changed();
        try {
            const waiting = this.items.filter(({ state }) => state === "waits");
            if (this.batch === null && (name || waiting.length > 1)) this.batch = (await call("NewBatch", { name })).batch;
            leaveRoom(most);
            const queue = waiting.values();
            let last = Promise.resolve();
            await Promise.all(Array.from({ length: most }, async () => {
                for (const item of queue) {
                    if (item.state !== "waits") continue;
                    const turn = last;
                    last = this.#sendOne(item, turn);
                    await last;
                }
            }));
        } finally {
            leaveRoom(0);
            if (this.batch !== null) {
                await call("CloseBatch", { batch: this.batch }).catch(() => {});
            }
            this.isRunning = false;
            this.#changed();
        }
    }

    /** Sends only the failed files again. */
    again() {
        for (const item of this.items) if (item.state === "failed") [item.state, item.error, item.share] = ["waits", null, 0];
        return this.send(this.recipe);
    }

    /** Stops sending. Files that were already added remain jobs. */
    stop() {
        for (const item of this.items) if (item.state === "waits") this.#fail(item, new Failure("it was stopped here"));
        this.#running.forEach(request => request.abort());
    }

    #fail(item, error) {
        item.state = "failed";
        item.error = error.message;
        item.share = 0;
    }

    /** `turn` resolves when the files before this one have been added, or have failed. */
    async #sendOne(item, turn) {
        item.state = "sends";
        try {
            const { held } = await this.#upload(item);
            await turn;
            const list = isList(item.file);
            const added = { name: item.file.name, recipe: this.recipe, batch: this.batch, folder: item.folder || null, list };
            const { job, first, batch } = await (await send(`/upload/${held}`, added)).json();
            item.job = list ? first : job.id;
            if (list) this.batch ??= batch;
            if (!list) sent.set(item.job, item.file);
            item.state = "added";
        } catch (error) {
            await turn;
            this.#fail(item, error);
        }
        this.#changed();
    }

    /** Sends the file's bytes. Resolves to `{ held }`: the name under which the gallery keeps the file. */
    #upload(item) {
        const request = new XMLHttpRequest();
        this.#running.add(request);
        return new Promise((done, failed) => {
            request.upload.onprogress = event => {
                item.share = event.total ? event.loaded / event.total : 0;
                this.#changed();
            };
            request.onload = () => {
                if (request.status === 200) done(JSON.parse(request.responseText));
                else failed(failure(request.status, request.getResponseHeader("Retry-After"), request.responseText));
            };
            request.onabort = () => failed(new Failure("it was stopped here"));
            // Browsers don't report the cause. The file may also have changed or vanished since the drop.
            request.onerror = () =>
                failed(new Failure("it was not sent: the gallery does not answer, or the file can't be read any more"));
            request.onloadend = () => this.#running.delete(request);
            request.open("PUT", "/upload?hold=yes");
            request.send(item.file);
        });
    }
}
