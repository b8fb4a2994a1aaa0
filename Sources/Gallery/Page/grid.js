// Owns the cells on the screen. There are about sixty cells. When the page is scrolled, they are reused for other jobs.

import { make } from "./dom.js";
import { Cell } from "./cell.js";
import { Headings } from "./headings.js";
import { Layout } from "./layout.js";
import { Scroll } from "./scroll.js";
import { on, store, job as known } from "./store.js";

const calm = matchMedia("(prefers-reduced-motion: reduce)");

export class Grid {
    layout = new Layout();
    selection = new Set();
    /** The job whose cell gets the focus when the user presses Tab. */
    active = null;
    /** Called with `(section, ids)` for visible jobs that are not loaded. */
    need = () => {};
    /** Functions that create and update a section's heading. */
    set heading(heading) { this.#headings.heading = heading; }
    /** Called after the page has been scrolled or changed. */
    moved = () => {};

    #element;
    #table;
    #scroller;
    #cells = new Map();
    #free = [];
    #rows = [];
    #headings;
    #frame = 0;
    #least = 220;
    #caption = 34;
    #cell = 0;

    constructor(scroller, element) {
        this.#scroller = scroller;
        this.#element = element;
        this.#table = element.firstElementChild;
        this.#headings = new Headings(element, this.#table);
        this.scroll = new Scroll(scroller, element, () => {
            if (this.scroll.y < 1 && this.layout.lead) this.#closeGap();
            this.#draw();
        });
        new ResizeObserver(() => this.#resized()).observe(scroller);
        on("job", job => {
            const cell = this.#cells.get(job.id);
            if (cell) this.#show(cell, job);
        });
        on("progress", () => this.#cells.forEach(cell => cell.progress()));
    }

    set least(least) {
        this.#least = least;
        this.#keepPlace(() => this.#measure());
    }

    get isAtTop() { return this.scroll.y < 1; }

    /** Schedules one redraw for any number of changes. */
    refresh() {
        this.#frame ||= requestAnimationFrame(() => this.#draw());
    }

    /**
     * Calls `change`, which changes the sections. The visible pictures stay in place, unless the page is scrolled to its top.
     */
    change(change) {
        if (this.isAtTop && !this.layout.lead) this.#flow(change);
        else this.#keepPlace(change);
    }

    /** Shows other sections, from the top. */
    begin(sections) {
        this.layout.sections = sections;
        this.layout.lead = 0;
        this.layout.place();
        this.scroll.height = this.layout.height;
        this.scroll.y = 0;
        this.refresh();
    }

    element(id) { return this.#cells.get(id)?.element; }

    /** The first job that is at least half on the screen. */
    get first() {
        for (const row of this.layout.between(this.scroll.y + 1, this.scroll.y + this.scroll.view)) {
            if (row.from === undefined || row.y < this.scroll.y - this.layout.rowHeight / 2) continue;
            const id = this.layout.id({ section: row.section, position: Math.max(0, row.from) });
            if (id !== null) return id;
        }
        return null;
    }

    /** Scrolls until a job is visible. If `inTheMiddle` is true, puts the job in the middle of the screen. */
    reveal(id, inTheMiddle = false) {
        const place = this.layout.find(id);
        if (!place) return false;
        const y = this.layout.y(place), { view } = this.scroll, height = this.layout.rowHeight;
        if (inTheMiddle) this.scroll.y = y - Math.max(0, (view - height) / 2);
        else if (y - place.section.head < this.scroll.y) this.scroll.y = y - place.section.head;
        else if (y + height > this.scroll.y + view) this.scroll.y = y + height - view;
        this.#draw();
        return true;
    }

    focus(id) {
        this.active = id;
        if (!this.reveal(id)) return;
        this.#tabs();
        this.element(id)?.focus({ preventScroll: true });
    }

    /** Focuses a picture on the screen. If there is no picture, the scroller has the focus until one appears. */
    focusNear() {
        const id = this.#cells.has(this.active) ? this.active : this.first;
        this.#isAwaited = id === null;
        if (id === null) this.#scroller.focus({ preventScroll: true });
        else this.focus(id);
    }
    #isAwaited = false;

    get rowsOnScreen() { return Math.max(1, Math.floor(this.scroll.view / this.layout.rowHeight)); }

    /** Keeps the visible pictures in place when the height of the strip above the grid changes. */
    #resized() {
        const { top } = this.#scroller.getBoundingClientRect();
        const shift = this.isAtTop ? 0 : top - this.#top;
        this.#top = top;
        this.#keepPlace(() => this.#measure());
        if (shift) this.scroll.y += shift;
    }
    #top = 0;

    #measure() {
        const style = getComputedStyle(this.#scroller);
        const width = this.#scroller.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
        if (width <= 0) return;
        this.layout.columns = Math.max(width < 520 && this.#least < 300 ? 2 : 1, Math.floor(width / this.#least));
        this.#cell = width / this.layout.columns;
        this.layout.rowHeight = Math.round(Math.min(this.#cell * 0.84, innerHeight * 0.8) + this.#caption);
        this.#element.style.setProperty("--cell", `${this.#cell}px`);
        this.#element.style.setProperty("--row", `${this.layout.rowHeight}px`);
        this.#cells.forEach(cell => { if (known(cell.id)) this.#show(cell, known(cell.id)); });
    }

    /** Shows changes at the top: new pictures push the older pictures onwards, with an animation. */
    #flow(change) {
        change();
        this.layout.place();
        this.scroll.height = this.layout.height;
        if (!calm.matches) {
            this.#element.classList.add("flowing");
            clearTimeout(this.flowing);
            this.flowing = setTimeout(() => this.#element.classList.remove("flowing"), 400);
        }
        this.refresh();
    }

    #closeGap() {
        this.#flow(() => { this.layout.lead = 0; });
    }

    #keepPlace(change) {
        const { layout, scroll } = this;
        layout.place();
        const id = this.isAtTop ? null : this.first;
        const before = id === null ? null : layout.find(id);
        const offset = before ? layout.y(before) - scroll.y : 0;
        const column = before ? layout.slot(before).column : 0;
        const columns = layout.columns;
        change();
        layout.place();
        const after = id === null ? null : layout.find(id);
        if (after && columns === layout.columns) {
            layout.lead = ((column - after.position) % columns + columns) % columns;
            layout.place();
        } else {
            layout.lead = 0;
            layout.place();
        }
        scroll.height = layout.height;
        if (after) scroll.y = layout.y(after) - offset;
        this.refresh();
    }

    #draw() {
        cancelAnimationFrame(this.#frame);
        this.#frame = 0;
        const { layout, scroll } = this;
        const [top, bottom] = [scroll.y, scroll.y + scroll.view];
        const rows = [...layout.between(top - layout.rowHeight / 2, bottom + layout.rowHeight)];
        const wanted = new Map();
        const heads = new Map();
        const missing = new Map();
        for (const row of rows) {
            if (row.from === undefined) {
                heads.set(row.section.key, row);
                continue;
            }
            const isSeen = row.y + layout.rowHeight > top && row.y < bottom;
            row.ids = [];
            for (let position = Math.max(0, row.from); position < row.to; position += 1) {
                const id = layout.id({ section: row.section, position });
                if (id === null) continue;
                row.ids.push(id);
                wanted.set(id, {
                    x: (position - row.from) * this.#cell, y: row.y - scroll.base, column: position - row.from,
                    rank: wanted.size + (isSeen ? 0 : 10_000),
                });
                if (!known(id)) missing.set(row.section, [...(missing.get(row.section) ?? []), id]);
            }
        }
        this.#recycle(wanted);
        for (const [id, place] of wanted) this.#put(id, place);
        this.#drawRows(rows.filter(row => row.ids?.length));
        this.#headings.draw(heads, this.scroll.base);
        this.#tabs();
        for (const [section, ids] of missing) this.need(section, ids);
        this.moved();
        if (this.#isAwaited && this.first !== null && document.activeElement === this.#scroller) this.focusNear();
        if (this.#successor === null) return;
        const next = this.#successor;
        this.#successor = null;
        this.focus(next);
    }

    #recycle(wanted) {
        for (const [id, cell] of this.#cells) {
            if (wanted.has(id)) continue;
            // A cell with the focus is kept outside the screen, because removing it would lose the focus.
            if (cell.element === document.activeElement && this.layout.find(id)) {
                const y = this.layout.y(this.layout.find(id)) - this.scroll.base;
                cell.element.style.transform = `translate(0, ${Math.max(-2000, y)}px)`;
                continue;
            }
            if (cell.element === document.activeElement) this.#successor = this.#after(id);
            cell.release();
            this.#cells.delete(id);
            this.#free.push(cell);
        }
    }

    /** The job that gets the focus after drawing, because the focused job is no longer in the view. */
    #successor = null;

    /** Returns the job that is now at the place of a removed job. */
    #after(id) {
        const { sections } = this.layout;
        const section = sections.find(section => section.batch?.id === known(id)?.batch && section.ids?.count)
            ?? sections.find(section => section.ids?.count);
        return section?.ids.at(Math.min(section.ids.position(id), section.ids.count - 1)) ?? null;
    }

    #put(id, { x, y, column, rank }) {
        let cell = this.#cells.get(id);
        if (!cell) {
            cell = this.#free.pop() ?? new Cell();
            cell.assign(id);
            this.#cells.set(id, cell);
            if (!cell.element.isConnected) this.#headings.element.before(cell.element);
            cell.element.hidden = false;
        }
        cell.rank = rank;
        cell.element.style.transform = `translate(${x}px, ${y}px)`;
        cell.element.setAttribute("aria-colindex", column + 1);
        cell.element.setAttribute("aria-selected", this.selection.has(id));
        const job = known(id);
        if (job) this.#show(cell, job);
    }

    #show(cell, job) {
        cell.show(job, this.#cell * Math.min(devicePixelRatio, 2) > 480);
    }

    /**
     * Cells are elements outside the table, so that a cell can change its row. ARIA assigns them to the rows for screen
     * readers.
     */
    #drawRows(rows) {
        this.#table.setAttribute("aria-rowcount", this.layout.rows);
        this.#table.setAttribute("aria-colcount", this.layout.columns);
        while (this.#rows.length < rows.length) {
            this.#rows.push(this.#table.appendChild(make("div", { role: "row" })));
        }
        while (this.#rows.length > rows.length) this.#rows.pop().remove();
        rows.forEach((row, index) => {
            this.#rows[index].setAttribute("aria-rowindex", row.row + 1);
            this.#rows[index].setAttribute("aria-owns", row.ids.map(id => `job-${id}`).join(" "));
        });
        for (const cell of this.#free) cell.element.hidden = true;
    }

    #tabs() {
        if (!this.#cells.has(this.active)) this.reachable = this.first;
        else this.reachable = this.active;
        for (const [id, cell] of this.#cells) cell.element.tabIndex = id === this.reachable ? 0 : -1;
    }
}
