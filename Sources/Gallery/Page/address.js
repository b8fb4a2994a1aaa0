// Keeps the page's URL in step with the view, so that a reload, a bookmark and the back button restore the view.

import { byID } from "./dom.js";
import { on } from "./store.js";

let view = null;
let large = null;
let leaving = null;

/** Whether a picture was closed, but the browser has not yet gone back from the picture's URL. */
let isLeaving = false;

/** Resolves when the URL is the grid's URL again, after a picture was closed. */
export const settled = () => leaving;

export function start(itsView, itsLarge) {
    [view, large] = [itsView, itsLarge];
    const { order, filter } = wanted();
    [view.order, view.filter] = [order, filter];
    on("filter", () => history.replaceState(history.state, "", text()));
    on("shown", ({ id, isFirst }) => {
        if (id === wanted().job || isLeaving) return;
        // If the picture was opened from the grid, closing it goes back in the history.
        if (id === null && history.state?.isOpened) {
            isLeaving = true;
            leaving = new Promise(done => addEventListener("popstate", done, { once: true }));
            history.back();
        }
        else if (isFirst) history.pushState({ isOpened: true }, "", text(id));
        else history.replaceState(history.state, "", text(id));
    });
    addEventListener("popstate", follow);
}

/** Opens the picture that the URL names, if any. */
export function begin() {
    if (wanted().job !== null) large.showOnly(wanted().job);
}

function follow() {
    if (isLeaving) {
        isLeaving = false;
        // Another picture was opened in the meantime.
        if (large.shown() !== null) history.pushState({ isOpened: true }, "", text());
        return;
    }
    const { order, filter, job } = wanted();
    if (order !== view.order || JSON.stringify(filter) !== JSON.stringify(view.filter)) {
        byID("by").value = order;
        view.show(filter, order);
    }
    large.showOnly(job);
}

function text(job = large.shown()) {
    const { states, recipe, batch } = view.filter;
    const words = new URLSearchParams();
    if (view.order !== "newest") words.set("by", view.order);
    if (states.length) words.set("state", states.join(","));
    if (recipe) words.set("recipe", recipe);
    if (batch !== null) words.set("batch", batch);
    if (job !== null) words.set("job", job);
    return words.size ? `#${words}` : location.pathname;
}

function wanted() {
    const words = new URLSearchParams(location.hash.slice(1));
    const number = name => /^\d{1,15}$/.test(words.get(name) ?? "") ? Number(words.get(name)) : null;
    return {
        order: words.get("by") === "batch" ? "batch" : "newest",
        filter: {
            states: words.get("state")?.split(",").filter(Boolean) ?? [], recipe: words.get("recipe"), batch: number("batch"),
        },
        job: number("job"),
    };
}
