// Owns the scroll position of a page that may be taller than browsers allow for an element.

/** Chromium limits an element to 33,554,426 px, Firefox to about 17.9 million. */
const highest = 16_000_000;

/**
 * If the page is taller than `highest`, the scroll bar shows the proportional position. The wheel, touch and keys still scroll
 * by pixels.
 */
export class Scroll {
    #element;
    #spacer;
    /** The height of the whole page. */
    #height = 0;
    /** The position of the element's first pixel in the whole page. */
    #base = 0;
    #last = 0;
    #idle = 0;

    constructor(element, spacer, moved) {
        this.#element = element;
        this.#spacer = spacer;
        element.addEventListener("scroll", () => {
            this.#follow();
            moved();
        }, { passive: true });
    }

    get view() { return this.#element.clientHeight; }
    get base() { return this.#base; }
    get y() { return this.#base + this.#element.scrollTop; }
    get #room() { return Math.max(0, this.#height - this.view); }
    get #bar() { return Math.max(0, Math.min(this.#height, highest) - this.view); }

    set height(height) {
        if (height === this.#height) return;
        const y = this.y;
        this.#height = height;
        this.#spacer.style.height = `${Math.min(height, highest)}px`;
        if (this.#base > 0 || height > highest) this.y = y;
    }

    set y(y) {
        y = Math.max(0, Math.min(y, this.#room));
        const top = this.#room > this.#bar ? Math.round(y / this.#room * this.#bar) : y;
        this.#base = Math.round(y - top);
        this.#last = y - this.#base;
        if (this.#element.scrollTop !== this.#last) this.#element.scrollTop = this.#last;
    }

    #follow() {
        const top = this.#element.scrollTop;
        const isFar = Math.abs(top - this.#last) > this.view * 2;
        this.#last = top;
        if (this.#room <= this.#bar) {
            this.#base = 0;
        } else if (isFar) {
            this.#base = Math.round(top / this.#bar * this.#room - top);
        } else if (top <= 0 || top >= this.#bar - 1) {
            this.y = this.y;
        } else {
            clearTimeout(this.#idle);
            this.#idle = setTimeout(() => { this.y = this.y; }, 400);
        }
    }
}
