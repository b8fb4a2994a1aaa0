// Shows a picture before and after processing, one on top of the other, with a slider to compare them.

import { make } from "./dom.js";
import { decoded } from "./pictures.js";

/** The slider, its keys and the pointer move the line between the two pictures. `flip()` switches to the other picture. */
export class Compare {
    #before = make("div.layer.before");
    #after = make("div.layer.after");
    #line = make("div.line", { "aria-hidden": "true" });
    #words = make("p.said", { role: "status" });
    #loads = new Map();
    /** The line's position while there are two pictures. At 0, its initial value, only the result is visible. */
    #wanted = 0;

    constructor(label = "Before and after") {
        this.slider = make("input", { type: "range", min: "0", max: "100", step: "1", value: "0", "aria-label": label });
        this.slider.oninput = () => this.move(Number(this.slider.value));
        this.stage = make("div.stage", { tabIndex: -1, role: "group", "aria-label": label },
            this.#before, this.#after, this.#line);
        this.element = make("div.compare", null, this.stage, this.#words,
            make("div.slide", null, make("span.before", { textContent: "before" }), this.slider, make("span.after", { textContent: "after" })));
        this.stage.addEventListener("pointerdown", event => {
            if (event.button !== 0 || this.slider.disabled) return;
            this.stage.setPointerCapture(event.pointerId);
            this.#follow(event);
        });
        this.stage.addEventListener("pointermove", event => {
            if (this.stage.hasPointerCapture(event.pointerId)) this.#follow(event);
        });
        this.#draw();
    }

    /**
     * Shows the pictures at two paths, either of which may be null. `small(side)` returns a placeholder until the picture is
     * loaded. If the original can't be loaded from its path, the functions in `spares` are tried, which return other images of
     * it.
     */
    show(before, after, { small = () => null, spares = [] } = {}) {
        this.#set("before", this.#before, before, small, spares);
        this.#set("after", this.#after, after, small, []);
        this.#pair();
    }

    /** Enables the slider if there are two pictures to compare, otherwise disables it. */
    #pair() {
        const [before, after] = ["before", "after"].map(name => this.#loads.has(name) && !this.#loads.get(name).failure);
        const has = before && after;
        this.slider.disabled = !has;
        this.slider.value = has ? this.#wanted : after ? 0 : 100;
        this.element.classList.toggle("single", !has);
        this.say([...this.#loads.values()].map(load => load.failure?.message).find(Boolean) ?? "");
        this.#draw();
    }

    /** Shows an image that is already loaded as the result. */
    put(image) {
        this.#drop("after");
        this.#loads.set("after", { path: "" });
        this.#after.replaceChildren(image);
        this.#pair();
    }

    say(text) { this.#words.textContent = text; }

    flip() {
        if (this.slider.disabled) return;
        this.move(this.#wanted < 50 ? 100 : 0);
    }

    move(value) {
        if (this.slider.disabled) return;
        this.#wanted = Math.min(100, Math.max(0, value));
        this.slider.value = this.#wanted;
        this.#draw();
    }

    close() {
        this.#wanted = 0;
        this.#drop("before");
        this.#drop("after");
        this.#before.replaceChildren();
        this.#after.replaceChildren();
        this.#pair();
    }

    #drop(name) {
        this.#loads.get(name)?.abort?.abort();
        this.#loads.delete(name);
    }

    async #set(name, layer, path, small, spares) {
        if (this.#loads.get(name)?.path === path) return;
        this.#drop(name);
        if (!path) {
            layer.replaceChildren();
            return;
        }
        const load = { path, abort: new AbortController(), failure: null };
        this.#loads.set(name, load);
        layer.replaceChildren(...[small(name)].filter(Boolean));
        while (this.#loads.get(name) === load) {
            try {
                const image = await decoded(path, load.abort.signal, { priority: "high" });
                if (this.#loads.get(name) === load) layer.replaceChildren(image);
                return;
            } catch (failure) {
                if (this.#loads.get(name) !== load) return;
                if (failure.status === 503) {
                    await new Promise(next => setTimeout(next, 1000 * (Number(failure.after) || 2)));
                    continue;
                }
                const image = await firstOf(spares);
                if (this.#loads.get(name) !== load) return;
                load.failure = image ? null : failure;
                layer.replaceChildren(...[image].filter(Boolean));
                this.#pair();
                return;
            }
        }
    }

    #follow(event) {
        const box = this.stage.getBoundingClientRect();
        this.move(Math.round((event.clientX - box.left) / box.width * 100));
    }

    /** Draws the line at the slider's value, which is the percentage of the width that shows the original, from the left. */
    #draw() {
        const value = Number(this.slider.value);
        this.#after.style.clipPath = `inset(0 0 0 ${value}%)`;
        this.#before.style.clipPath = `inset(0 ${100 - value}% 0 0)`;
        this.#line.style.left = `${value}%`;
        this.#line.hidden = value === 0 || value === 100 || this.slider.disabled;
        // Hides the label of a picture that is completely covered.
        this.element.classList.toggle("unseen-before", value === 0);
        this.element.classList.toggle("unseen-after", value === 100);
        this.slider.setAttribute("aria-valuetext", value === 0 ? "after" : value === 100 ? "before" : `${value} % before`);
    }
}

/** Returns the first image that one of these functions makes, or null. */
async function firstOf(spares) {
    for (const spare of spares) {
        const image = await spare().catch(() => null);
        if (image) return image;
    }
    return null;
}
