// Handles the keys and the pointer in the grid: moving the focus, choosing and opening pictures.

import { byID } from "./dom.js";
import { tell } from "./store.js";

export function start(view, grid) {
    const element = byID("grid");
    /** The job at which a range of chosen pictures starts. */
    let anchor = null;

    const idOf = event => event.target.closest?.(".cell")?.cell?.id ?? null;

    function choose(id, isRange) {
        const range = isRange && anchor !== null ? between(grid.layout, anchor, id) : [id];
        if (range.length > 1) range.forEach(id => grid.selection.add(id));
        else if (!grid.selection.delete(id)) grid.selection.add(id);
        anchor = id;
        changed();
    }

    function changed() {
        grid.refresh();
        tell("selection", grid.selection);
    }

    function clear() {
        grid.selection.clear();
        changed();
    }

    element.addEventListener("focusin", event => {
        if (idOf(event) !== null) grid.active = idOf(event);
    });
    element.addEventListener("click", event => {
        const id = idOf(event);
        if (id === null) return;
        if (event.shiftKey || event.ctrlKey || event.metaKey || event.target.closest(".tick")) choose(id, event.shiftKey);
        else tell("open", id);
    });
    // A long touch chooses a picture, as usual on phones.
    let touch = 0;
    element.addEventListener("pointerdown", event => {
        clearTimeout(touch);
        const id = event.pointerType === "touch" ? idOf(event) : null;
        if (id === null) return;
        touch = setTimeout(() => {
            choose(id, false);
            addEventListener("click", event => event.stopPropagation(), { capture: true, once: true });
        }, 500);
    });
    for (const kind of ["pointerup", "pointercancel", "pointermove"]) {
        element.addEventListener(kind, event => {
            if (kind !== "pointermove" || Math.hypot(event.movementX, event.movementY) > 4) clearTimeout(touch);
        });
    }
    element.addEventListener("contextmenu", event => {
        if (event.pointerType === "touch") event.preventDefault();
    });

    element.addEventListener("keydown", event => {
        const id = idOf(event);
        if (id === null || event.altKey) return;
        const place = grid.layout.find(id);
        const moves = {
            ArrowLeft: place => grid.layout.step(place, -1),
            ArrowRight: place => grid.layout.step(place, 1),
            ArrowUp: place => grid.layout.stepRows(place, -1),
            ArrowDown: place => grid.layout.stepRows(place, 1),
            PageUp: place => grid.layout.stepRows(place, -grid.rowsOnScreen),
            PageDown: place => grid.layout.stepRows(place, grid.rowsOnScreen),
            Home: place => grid.layout.step(place, -Infinity),
            End: place => grid.layout.step(place, Infinity),
        };
        const move = moves[event.key];
        if (move && place) {
            const next = grid.layout.id(move(place));
            if (next !== null) {
                if (event.shiftKey) {
                    anchor ??= id;
                    choose(next, true);
                }
                grid.focus(next);
            }
        } else if (event.key === "Enter" || (event.key === " " && !event.ctrlKey)) {
            tell("open", id);
        } else if (event.key.toLowerCase() === "x" && !event.ctrlKey && !event.metaKey) {
            choose(id, event.shiftKey);
        } else if (event.key === "a" && (event.ctrlKey || event.metaKey)) {
            for (const section of grid.layout.sections) {
                for (let at = 0; at < (section.ids?.count ?? 0) && grid.selection.size < most; at += 1) {
                    grid.selection.add(section.ids.at(at));
                }
            }
            changed();
        } else if (event.key === "Escape" && grid.selection.size) {
            clear();
        } else {
            return;
        }
        event.preventDefault();
        event.stopPropagation();
    });
    // If nothing has the focus, or only a button or link, the navigation keys move the focus to the pictures. On a
    // button or link, Enter keeps its usual meaning.
    addEventListener("keydown", event => {
        const { activeElement } = document;
        if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog:modal")) return;
        if (activeElement.matches("input, select, textarea, :popover-open *")) return;
        const isButton = activeElement.matches("button, a[href]");
        if (!(isButton ? /^(Arrow|Page|Home|End|x$)/ : /^(Arrow|Page|Home|End|Enter$|x$)/).test(event.key)) return;
        event.preventDefault();
        grid.focusNear();
    });
    return { clear };
}

/** Maximum IDs in a call. */
export const most = 1000;

function between(layout, from, to) {
    const [first, last] = [layout.find(from), layout.find(to)];
    if (!first || !last || first.section !== last.section) return [to];
    const [start, end] = [first.position, last.position].sort((one, other) => one - other);
    const length = Math.min(end - start + 1, most);
    return Array.from({ length }, (_, index) => first.section.ids.at(start + index));
}
