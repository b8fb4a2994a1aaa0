// Shows a picture before and after processing, one on top of the other, with a slider to compare them.

import { make } from "./dom.js";
import { decoded } from "./pictures.js";
import { Zoom } from "./zoom.js";

/** The longest side, in pixels, of the previews that are compared. */
const longest = 1280;
/** The minimum size, in CSS pixels, at which a tiny picture is shown. */
const least = 64;

/** The slider, its keys and the pointer move the line between the two pictures. `flip()` switches to the other picture. */
export class Compare {
    #before = make("div.layer.before");
    #after = make("div.layer.after");
    #line = make("div.line", { "aria-hidden": "true" });
    #words = make("p.said", { role: "status" });
    #loads = new Map();
    #zoom;
    /** The size of the picture in pixels, and the paths of the whole pictures. Null if it can't be zoomed. */
    #whole = null;
    /** The line's position while there are two pictures. At 0, its initial value, only the result is visible. */
    #wanted = 0;

    constructor(label = "Before and after") {
        this.slider = make("input", { type: "range", min: "0", max: "100", step: "1", value: "0", "aria-label": label });
        this.slider.oninput = () => this.move(Number(this.slider.value));
        this.stage = make("div.stage", { tabIndex: -1, role: "group", "aria-label": label },
            this.#before, this.#after, this.#line);
        this.stage.dataset.rest = "";
        this.#zoom = new Zoom(this.stage);
        this.button = make("button.framed.zoom", {
            type: "button", textContent: "1:1", title: "Show each pixel (z)", hidden: true, "aria-pressed": false, onclick: () => this.zoom(),
        });
        this.element = make("div.compare", null, this.stage, this.#words,
            make("div.slide", null, make("span.before", { textContent: "before" }), this.slider, make("span.after", { textContent: "after" }), this.button));
        this.stage.addEventListener("dblclick", ({ clientX, clientY }) => this.zoom(!this.#zoom.isOn, clientX, clientY));
        this.stage.addEventListener("wheel", event => {
            if (!this.#zoom.isOn || event.ctrlKey) return;
            event.preventDefault();
            this.#zoom.move(-event.deltaX, -event.deltaY);
        });
        this.stage.addEventListener("pointerdown", event => {
            if (event.button !== 0 || (this.slider.disabled && !this.#zoom.isOn)) return;
            this.stage.setPointerCapture(event.pointerId);
            this.#follow(event);
        });
        this.stage.addEventListener("pointermove", event => {
            if (this.stage.hasPointerCapture(event.pointerId)) this.#follow(event);
        });
        this.#draw();
    }

    /**
     * Shows the pictures at two paths, either of which may be null. `small(side)` returns an element to show while the
     * picture loads, or null. If the original can't be loaded from its path, this method tries the functions in
     * `spares`. Each function returns another image of the original. `whole` is `{ width, height, before, after }`: the
     * picture's size in pixels, and the paths of the whole pictures.
     */
    show(before, after, { small = () => null, spares = [], whole = null } = {}) {
        this.#whole = whole;
        this.button.hidden = !whole;
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
        this.#bound();
        this.say([...this.#loads.values()].map(load => load.failure?.message).find(Boolean) ?? "");
        this.#draw();
    }

    /** Prevents CSS from enlarging small pictures. A preview below the maximum size is as large as its picture. */
    #bound() {
        const images = [...this.stage.querySelectorAll("img")];
        if (this.#zoom.isOn) return;
        const isSmall = images.length > 0 && images.every(image => Math.max(image.naturalWidth, image.naturalHeight) < longest);
        const most = side => isSmall ? `${Math.max(least, ...images.map(image => image[side]))}px` : "none";
        this.stage.style.maxWidth = most("naturalWidth");
        this.stage.style.maxHeight = most("naturalHeight");
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

    get isZoomed() { return this.#zoom.isOn; }

    pan(x, y) { this.#zoom.move(x, y); }

    /**
     * Shows the picture pixel by pixel, or the whole picture again. The zoom centres the pixel at the point (`x`, `y`)
     * of the screen; null means the middle of the picture.
     */
    zoom(isOn = !this.#zoom.isOn, x = null, y = null) {
        const image = this.stage.querySelector(".after :is(img, canvas)") ?? this.stage.querySelector(":is(img, canvas)");
        if (isOn && (!this.#whole || !image)) return;
        const box = this.stage.getBoundingClientRect();
        this.element.classList.toggle("zoomed", isOn);
        this.button.setAttribute("aria-pressed", isOn);
        if (!isOn) {
            this.#zoom.end();
            return;
        }
        // The size comes from the file's header. If the picture is rotated, width and height must be swapped.
        const { width: one, height: other } = this.#whole;
        const isWide = (image.naturalWidth ?? image.width) >= (image.naturalHeight ?? image.height);
        const [width, height] = isWide === one >= other ? [one, other] : [other, one];
        const scale = Math.min(box.width / width, box.height / height);
        const share = (at, start, room, length) => at === null ? 0.5
            : Math.min(1, Math.max(0, (at - start - (room - length * scale) / 2) / (length * scale)));
        this.#zoom.begin({ width, height }, share(x, box.left, box.width, width), share(y, box.top, box.height, height));
        this.#loadWhole("before", this.#before);
        this.#loadWhole("after", this.#after);
    }

    /** Replaces a preview with its whole picture, if the browser can show that picture. */
    async #loadWhole(name, layer) {
        const [load, path] = [this.#loads.get(name), this.#whole[name]];
        if (!load || !path || load.whole) return;
        load.whole = true;
        const image = await decoded(path, load.abort?.signal).catch(() => null);
        if (image && this.#loads.get(name) === load) layer.replaceChildren(image);
    }

    close() {
        this.zoom(false);
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
                if (this.#loads.get(name) === load) {
                    layer.replaceChildren(image);
                    this.#bound();
                }
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
        if (this.#zoom.isOn) {
            this.#zoom.move(event.movementX, event.movementY);
            return;
        }
        const box = this.stage.getBoundingClientRect();
        this.move(Math.round((event.clientX - box.left) / box.width * 100));
    }

    /** Draws the line at the slider's value, a percentage of the width. The original is visible left of the line. */
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
