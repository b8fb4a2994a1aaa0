// Owns the set of jobs that the grid shows: the filter, the order, and the IDs, which events keep up to date.

import { call } from "./calls.js";
import { Ranges } from "./ranges.js";
import { drop, want } from "./rows.js";
import { on, tell } from "./store.js";
import { states as allStates, sum } from "./words.js";

/**
 * Number of newest batches that get a section when jobs are ordered by batch. Unfinished batches get a section in any case.
 */
const newestBatches = 200;

export class View {
    filter = { states: [], recipe: null, batch: null };
    order = "newest";
    /** Why the view could not be loaded; otherwise null. */
    failure = null;
    isLoaded = false;
    #grid;
    #loading = null;

    constructor(grid) {
        this.#grid = grid;
        grid.need = (section, ids) => this.#need(section, ids);
        on("load", () => this.load(true));
        on("job", job => this.#take(job));
        on("batch", batch => this.#takeBatch(batch));
        on("progress", ({ batches }) => this.#takeCounts(batches));
    }

    /** Changes the filter and the order, and loads the view. */
    show(filter, order = this.order) {
        this.filter = { ...this.filter, ...filter };
        this.order = order;
        tell("filter", this.filter);
        return this.load(false);
    }

    get conditions() {
        const { states, recipe, batch } = this.filter;
        return { states, recipe, batch };
    }

    #matches(job) {
        const { states, recipe, batch } = this.filter;
        return (!states.length || states.includes(job.state)) && (!recipe || job.recipe === recipe)
            && (batch === null || job.batch === batch);
    }

    /** Reloads the IDs. If `keep` is true, the visible pictures stay in place. Otherwise, the grid goes to its top. */
    async load(keep) {
        drop();
        const loading = this.#loading = { changes: [] };
        try {
            const sections = this.order === "batch" ? await this.#batches(loading) : [await this.#whole()];
            if (this.#loading !== loading) return;
            this.#loading = null;
            this.failure = null;
            this.isLoaded = true;
            const swap = () => { this.#grid.layout.sections = sections; };
            if (keep) this.#grid.change(swap);
            else this.#grid.begin(sections);
            // A change that arrived during the load may be older or newer than the answer. Applies all changes in
            // order, so that the latest change wins.
            loading.changes.forEach(change => change());
            if (this.order === "batch") this.#fill(sections, loading.token = Symbol());
        } catch (failure) {
            if (this.#loading !== loading) return;
            this.#loading = null;
            this.failure = failure;
            this.#grid.begin([]);
        }
        tell("view");
    }

    async #whole() {
        const { ranges } = await call("ListIDs", this.conditions);
        return { key: "all", title: null, ids: new Ranges(ranges), conditions: this.conditions, count: 0 };
    }

    async #batches() {
        const { batches } = this.filter.batch === null
            ? await call("Batches", { limit: newestBatches })
            : { batches: [(await call("FindBatch", { batch: String(this.filter.batch) })).batch] };
        const sections = batches.reverse().map(batch => this.#section(batch));
        if (this.filter.batch === null) {
            sections.push({ key: "none", title: "", ids: null, count: 0, later: [], conditions: this.conditions, batch: null });
        }
        return sections;
    }

    #section(batch) {
        const states = this.filter.states.length ? this.filter.states : allStates;
        return {
            key: `batch-${batch.id}`, title: batch.name ?? "", batch, ids: null,
            count: sum(batch, states), later: [], conditions: { ...this.conditions, batch: batch.id },
        };
    }

    /** Loads the IDs of each batch. All remaining IDs are jobs without a batch. */
    async #fill(sections, token) {
        this.#token = token;
        try {
            const { ranges } = await call("ListIDs", this.conditions);
            const rest = new Ranges(ranges);
            for (const section of sections) {
                if (section.key === "none") continue;
                const ids = new Ranges((await call("ListIDs", section.conditions)).ranges);
                rest.subtract(ids);
                if (this.#token !== token) return;
                this.#grid.change(() => this.#know(section, ids));
            }
            const last = sections.find(section => section.key === "none");
            if (last && this.#token === token) this.#grid.change(() => this.#know(last, rest));
        } catch (failure) {
            this.failure = failure;
        }
        tell("view");
    }
    #token = null;

    #know(section, ids) {
        section.ids = ids;
        section.later.forEach(job => this.#put(section, job));
    }

    #put(section, job) {
        if (!section.ids) section.later.push(job);
        else if (this.#matches(job)) section.ids.add(job.id);
        else section.ids.remove(job.id);
    }

    #need(section, ids) {
        if (!section.ids) return;
        const [from, to] = [section.ids.position(ids[0]), section.ids.position(ids[ids.length - 1])];
        const all = Array.from({ length: to - from + 1 }, (_, index) => section.ids.at(from + index));
        want(section.key, all, section.conditions, section.key !== "none", missing => {
            if (missing.length) {
                this.#change(() => missing.forEach(id => section.ids.remove(id)));
            }
            this.#grid.refresh();
        });
    }

    #changes = [];
    /** Collects all changes within 120 ms, so that many events cause a single redraw. */
    #change(change) {
        if (this.#loading) {
            this.#loading.changes.push(() => this.#change(change));
            return;
        }
        if (this.#changes.push(change) > 1) return;
        setTimeout(() => {
            const changes = this.#changes;
            this.#changes = [];
            this.#grid.change(() => changes.forEach(change => change()));
            tell("view");
        }, 120);
    }

    #take(job) {
        this.#change(() => {
            const { sections } = this.#grid.layout;
            const section = this.order === "newest" ? sections[0]
                : sections.find(section => section.key === (job.batch === null ? "none" : `batch-${job.batch}`));
            if (section) this.#put(section, job);
            else if (job.batch !== null) this.#meet(job.batch);
        });
    }

    #takeBatch(batch) {
        if (this.order !== "batch") return;
        this.#change(() => {
            const { sections } = this.#grid.layout;
            const section = sections.find(section => section.batch?.id === batch.id);
            if (section) section.batch = batch;
            else if (this.filter.batch === null) this.#insert(batch, sections);
        });
    }

    #insert(batch, sections) {
        const made = this.#section(batch);
        const place = sections.findIndex(section => (section.batch?.id ?? 0) < batch.id);
        sections.splice(place < 0 ? 0 : place, 0, made);
        call("ListIDs", made.conditions).then(
            ({ ranges }) => this.#change(() => this.#know(made, new Ranges(ranges))), () => {});
    }

    #unmet = new Set();
    /** Adds a section for the batch of a job, because no event announces a new batch. */
    async #meet(id) {
        if (this.#unmet.has(id)) return;
        this.#unmet.add(id);
        try {
            this.#takeBatch((await call("FindBatch", { batch: String(id) })).batch);
        } catch {
            // The next event of a job in this batch starts another attempt.
        } finally {
            this.#unmet.delete(id);
        }
    }

    /** Updates the counts in the headings, from the same progress data that the list of batches shows. */
    #takeCounts(batches) {
        if (this.order !== "batch" || this.#loading) return;
        for (const { batch } of batches) {
            const section = this.#grid.layout.sections.find(section => section.batch?.id === batch.id);
            if (section) section.batch = batch;
        }
        this.#grid.refresh();
    }
}
