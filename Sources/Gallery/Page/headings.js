// Owns the headings of the grid's sections. They come after the cells, so that the Tab key reaches a picture first.

import { make } from "./dom.js";

export class Headings {
    /** Functions that create and update a section's heading. */
    heading = { create: () => make(), update: () => {} };
    element = make("div", { id: "headings", role: "rowgroup" });
    #shown = new Map();

    constructor(grid, table) {
        grid.append(this.element);
        table.setAttribute("aria-owns", this.element.id);
    }

    /**
     * Shows these headings. `heads` maps a section's key to the section, its position and its row. `base` is the grid's
     * offset.
     */
    draw(heads, base) {
        for (const [key, element] of this.#shown) {
            if (heads.has(key)) continue;
            element.remove();
            this.#shown.delete(key);
        }
        for (const [key, { section, y, row }] of heads) {
            let element = this.#shown.get(key);
            if (!element) {
                element = make("div.head", { role: "row" }, this.heading.create(section));
                this.#shown.set(key, element);
                this.element.append(element);
            }
            element.style.transform = `translateY(${y - base}px)`;
            element.setAttribute("aria-rowindex", row + 1);
            this.heading.update(element.firstElementChild, section);
        }
    }
}
