// Owns the additions that this tab makes. Sends files to the daemon, three at a time, as one batch, and keeps each file's
// state.

import { addAddresses, addresses, isList } from "./addresses.js";
import { call, Failure, failure } from "./calls.js";
import { leaveRoom } from "./pictures.js";

const most = 3;
/** Maximum bytes of the names in a call, if each character has three bytes. The gallery accepts calls of 64 kB. */
const longestCall = 48_000;

/**
 * The files that this tab has added, by job ID. They can replace an original that the daemon has removed after its job was
 * done.
 */
const added = new Map();
export const fileOf = id => added.get(id) ?? null;

/** The files of one drop. `changed()` is called after each step. A file's state is waits, sends, added, failed or left out. */
export class Addition {
    batch = null;
    isRunning = false;
    #running = new Set();
    #changed;

    /** `files` are `{ file, folder, path }`. */
    constructor(name, files, changed) {
        this.name = name;
        this.items = files.map(entry => ({ ...entry, state: "waits", share: 0, error: null, job: null }));
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

    /** Sends the waiting files. */
    async send(recipe) {
        this.isRunning = true;
        this.recipe = recipe;
        this.#changed();
        try {
            const waiting = this.items.filter(({ state }) => state === "waits");
            // A single picture needs no batch.
            if (this.batch === null && waiting.length > 1) this.batch = (await call("NewBatch", { name: this.name })).batch;
            leaveRoom(most);
            const queue = waiting.values();
            await Promise.all(Array.from({ length: most }, async () => {
                for (const item of queue) {
                    if (item.state !== "waits") continue;
                    await (isList(item.file) ? this.#sendList(item) : this.#sendOne(item));
                }
            }));
        } catch (error) {
            for (const item of this.items) if (item.state === "waits") this.#fail(item, error);
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

    async #sendList(item) {
        item.state = "sends";
        try {
            const urls = addresses(await item.file.text(), /\.url$/i.test(item.file.name));
            if (!urls.length) throw new Failure("there is no URL in it");
            item.job = await addAddresses(urls, { recipe: this.recipe, batch: this.batch });
            item.state = "added";
        } catch (error) {
            this.#fail(item, error);
        }
        this.#changed();
    }

    #fail(item, error) {
        item.state = "failed";
        item.error = error.message;
        item.share = 0;
    }

    #sendOne(item) {
        const words = new URLSearchParams({ name: item.file.name });
        if (this.recipe) words.set("recipe", this.recipe);
        if (this.batch !== null) words.set("batch", this.batch);
        if (item.folder) words.set("folder", item.folder);
        const request = new XMLHttpRequest();
        this.#running.add(request);
        item.state = "sends";
        return new Promise(done => {
            request.upload.onprogress = event => {
                item.share = event.total ? event.loaded / event.total : 0;
                this.#changed();
            };
            request.onload = () => {
                try {
                    if (request.status !== 200) {
                        throw failure(request.status, request.getResponseHeader("Retry-After"), request.responseText);
                    }
                    item.job = JSON.parse(request.responseText).job.id;
                    added.set(item.job, item.file);
                    item.state = "added";
                } catch (error) {
                    this.#fail(item, error);
                }
            };
            request.onabort = () => this.#fail(item, new Failure("it was stopped here"));
            // Browsers don't report the cause. The file may also have changed or vanished since the drop.
            request.onerror = () => this.#fail(item,
                new Failure("it was not sent: the gallery does not answer, or the file can't be read any more"));
            request.onloadend = () => {
                this.#running.delete(request);
                this.#changed();
                done();
            };
            request.open("PUT", `/upload?${words}`);
            request.send(item.file);
        });
    }
}
