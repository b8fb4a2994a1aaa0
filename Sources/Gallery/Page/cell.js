// A cell of the grid. It first shows the name on grey, then the original, then the result, without flickering in between.

import { make, write } from "./dom.js";
import { hasOriginal, hasResult, pathOf, wish } from "./pictures.js";
import { nameOf, shortName } from "./words.js";
import { store } from "./store.js";

const calm = matchMedia("(prefers-reduced-motion: reduce)");

export class Cell {
    id = null;
    /** The order of loading: the cell's position in the view. Cells outside the screen are loaded last. */
    rank = 0;
    #path = "";
    #wish = null;
    #job = null;

    constructor() {
        this.frame = make("div.frame");
        this.name = make("span.name");
        this.state = make("span.state");
        this.bar = make("span.bar");
        this.why = make("span.why", { "aria-hidden": "true" });
        this.element = make("div.cell", { role: "gridcell", tabIndex: -1 },
            make("div.mat", null, this.frame, this.why, this.bar, make("span.tick", { "aria-hidden": "true" })),
            make("div.caption", null, this.name, this.state));
        this.element.cell = this;
    }

    /** Assigns the cell to another job, whose data are not loaded yet. */
    assign(id) {
        this.#drop();
        this.id = id;
        this.element.id = `job-${id}`;
        this.#job = null;
        this.#path = "";
        this.frame.replaceChildren();
        write(this.name, "");
        write(this.state, "");
        write(this.why, "");
        this.bar.style.width = "0";
        this.element.dataset.state = "unknown";
        this.element.setAttribute("aria-label", `job ${id}`);
        this.element.removeAttribute("title");
    }

    /** Empties the cell for reuse, and withdraws its load. */
    release() {
        this.#drop();
        this.frame.replaceChildren();
        this.id = null;
        this.#path = "";
    }

    show(job, large) {
        this.#job = job;
        const name = shortName(job);
        write(this.name, name);
        const word = job.redo ? `done; redo ${job.redo}` : job.state;
        write(this.state, job.state === "done" && !job.redo ? "" : word);
        this.element.dataset.state = job.state;
        write(this.why, job.error ?? "");
        this.element.title = [nameOf(job), job.error ?? job.reason].filter(Boolean).join("\n");
        this.element.setAttribute("aria-label", [`${name}, ${word}`, job.error ?? job.reason].filter(Boolean).join(": "));
        this.progress();
        this.#want(job, large ? 1280 : 320);
    }

    progress() {
        const entry = this.#job?.state === "running" ? store.fractions.get(this.id) : null;
        this.bar.style.width = entry ? `${Math.round(entry.fraction * 100)}%` : "0";
    }

    #want(job, width) {
        const result = hasResult(job) ? 1 : 0;
        if (!result && !hasOriginal(job)) return;
        const path = pathOf(job, result, width);
        if (path === this.#path) return;
        this.#drop();
        this.#path = path;
        this.#wish = wish(path, () => this.rank, (image, isNew) => this.#turn(image, isNew), failure => {
            this.#wish = null;
            if (this.#job?.error) return;
            write(this.why, failure.message);
            this.element.title = `${nameOf(job)}\n${failure.message}`;
        });
    }

    #turn(image, isNew) {
        this.#wish = null;
        const old = [...this.frame.children];
        image.className = "";
        if (!isNew || calm.matches) {
            this.frame.replaceChildren(image);
            return;
        }
        this.frame.append(image);
        image.animate({ opacity: [0, 1] }, { duration: old.length ? 700 : 250, easing: "ease-out" }).finished
            .catch(() => {}).then(() => old.forEach(before => before.remove()));
        // The original fades out as well, because a result of another shape may not cover it.
        for (const before of old) before.animate({ opacity: [1, 1, 0] }, { duration: 700 });
    }

    #drop() {
        this.#wish?.drop();
        this.#wish = null;
    }
}
