// Computes the position of each picture in a view. The view has sections with headings and rows, whose heights are known before
// any cell exists.

/**
 * A section's `ids` is a Ranges, or null while only its `count` is known; its `title` is null if it has no heading. `lead` is
 * the number of empty places before the first picture. They keep visible pictures in their columns when new pictures arrive
 * above.
 */
export class Layout {
    sections = [];
    columns = 1;
    rowHeight = 100;
    headHeight = 44;
    lead = 0;
    height = 0;
    rows = 0;

    place() {
        let [y, row] = [0, 0];
        for (const section of this.sections) {
            if (section.ids) section.count = section.ids.count;
            section.y = y;
            section.row = row;
            // A batch without matching pictures has no heading.
            section.head = section.title === null || section.count === 0 ? 0 : this.headHeight;
            section.lead = section === this.sections[0] && section.title === null ? this.lead : 0;
            section.rows = Math.ceil((section.count + section.lead) / this.columns);
            y += section.head + section.rows * this.rowHeight;
            row += section.rows + (section.head ? 1 : 0);
        }
        this.height = y;
        this.rows = row;
    }

    get count() {
        return this.sections.reduce((all, section) => all + section.count, 0);
    }

    /**
     * Yields the headings and rows between two vertical positions, as `{ section, y, row }`. Rows also have `from` and `to`.
     */
    *between(top, bottom) {
        for (let index = this.#sectionAt(top); index < this.sections.length; index += 1) {
            const section = this.sections[index];
            if (section.y >= bottom) return;
            if (section.head && section.y + section.head > top) yield { section, y: section.y, row: section.row };
            const start = section.y + section.head;
            const first = Math.max(0, Math.floor((top - start) / this.rowHeight));
            const last = Math.min(section.rows, Math.ceil((bottom - start) / this.rowHeight));
            for (let row = first; row < last; row += 1) {
                const from = row * this.columns - section.lead;
                yield {
                    section, y: start + row * this.rowHeight, row: section.row + (section.head ? 1 : 0) + row, from,
                    to: Math.min(from + this.columns, section.count),
                };
            }
        }
    }

    #sectionAt(y) {
        let low = 0, high = this.sections.length - 1;
        while (low < high) {
            const middle = (low + high + 1) >> 1;
            if (this.sections[middle].y <= y) low = middle;
            else high = middle - 1;
        }
        return Math.max(0, low);
    }

    /** Returns a job's place; null if the view does not contain the job. */
    find(id) {
        for (const section of this.sections) {
            if (section.ids?.has(id)) return { section, position: section.ids.position(id) };
        }
        return null;
    }

    slot({ section, position }) {
        const place = position + section.lead;
        return { row: Math.floor(place / this.columns), column: place % this.columns };
    }

    y(place) {
        return place.section.y + place.section.head + this.slot(place).row * this.rowHeight;
    }

    /** Returns the place `by` pictures further, across sections, but not beyond the first or last place. */
    step({ section, position }, by) {
        let index = this.sections.indexOf(section);
        position += by;
        while (position < 0 && index > 0) position += this.sections[--index].count;
        while (position >= this.sections[index].count && index < this.sections.length - 1) {
            position -= this.sections[index++].count;
        }
        section = this.sections[index];
        return { section, position: Math.max(0, Math.min(position, section.count - 1)) };
    }

    /** Returns the place `by` rows further, in the same column if possible. */
    stepRows(place, by) {
        let index = this.sections.indexOf(place.section);
        const { row, column } = this.slot(place);
        let wanted = row + by;
        while (wanted < 0 && index > 0) wanted += this.sections[--index].rows;
        while (wanted >= this.sections[index].rows && index < this.sections.length - 1) {
            wanted -= this.sections[index++].rows;
        }
        const section = this.sections[index];
        wanted = Math.max(0, Math.min(wanted, section.rows - 1));
        const position = wanted * this.columns + column - section.lead;
        return { section, position: Math.max(0, Math.min(position, section.count - 1)) };
    }

    id({ section, position }) {
        return section.ids && position < section.ids.count ? section.ids.at(position) : null;
    }
}
