// Owns the line at the top of the page: filters, order, and jump to a day.

import { call } from "./calls.js";
import { byID, keep, make, set, write } from "./dom.js";
import { attempt, notify } from "./notices.js";
import { job, on, store } from "./store.js";
import { day, number, sum, titleOf, unended } from "./words.js";

const filters = [
    { key: "all", title: "All", states: [] },
    { key: "work", title: "Unfinished", states: unended },
    { key: "done", title: "Done", states: ["done"] },
    { key: "failed", title: "Failed", states: ["failed"] },
    { key: "cancelled", title: "Cancelled", states: ["cancelled"] },
];
export const sizes = [160, 220, 340, 620];
/** The batch to which the view is restricted, once its name is known. */
let chosen = null;

export function start(view, grid) {
    const draw = () => drawFilters(view);
    on("status", draw);
    on("filter", draw);
    on("chosen batch", batch => {
        chosen = batch;
        draw();
    });
    draw();

    const by = byID("by");
    by.value = view.order;
    by.onchange = () => view.show({}, by.value);
    const recipe = byID("recipe");
    recipe.onchange = () => view.show({ recipe: recipe.value || null });
    on("load", async () => {
        const { recipes } = await call("Recipes").catch(() => ({ recipes: [] }));
        // The menu is hidden if there is only one recipe to choose.
        recipe.hidden = recipes.length < 2 && !view.filter.recipe;
        const names = ["", ...recipes.map(recipe => recipe.name)];
        if (view.filter.recipe && !names.includes(view.filter.recipe)) names.push(view.filter.recipe);
        keep(recipe, names, name => name, name => make("option", { value: name, textContent: name || "All recipes" }));
        recipe.value = view.filter.recipe ?? "";
    });

    const size = byID("size");
    const resize = () => {
        grid.least = sizes[size.value];
        localStorage.setItem("size", size.value);
    };
    size.value = localStorage.getItem("size") ?? 1;
    size.oninput = resize;
    grid.least = sizes[size.value] ?? sizes[1];
    addEventListener("keydown", event => {
        const step = { "+": 1, "-": -1 }[event.key];
        if (!step || event.ctrlKey || event.metaKey || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
        size.value = Number(size.value) + step;
        resize();
    });

    const date = byID("day");
    date.onchange = () => { if (date.value) attempt(null, () => jump(date.value, view, grid)); };
    const moved = grid.moved;
    grid.moved = () => {
        moved();
        const first = job(grid.first);
        if (first && document.activeElement !== date && date.value !== day(first.created)) date.value = day(first.created);
    };
}

function drawFilters(view) {
    const jobs = store.status?.jobs;
    const { states, batch } = view.filter;
    const items = filters.map(filter => ({ ...filter, count: jobs && sum(jobs, filter.states.length ? filter.states : undefined) }))
        .filter(filter => !filter.states.length || filter.count > 0 || same(filter.states, states));
    if (batch !== null) items.push({ key: "batch", title: chosen?.id === batch ? titleOf(chosen) : `batch ${batch}`, isBatch: true });
    keep(byID("filters"), items, item => item.key, item => make("button", {
        type: "button",
        onclick: () => view.show(item.isBatch ? { batch: null } : { states: item.states }),
    }, make("span", { textContent: item.title }), " ", make("span.count")), (button, item) => {
        const count = item.isBatch ? "×" : item.count === undefined ? "" : number(item.count);
        write(button.lastElementChild, count);
        button.classList.toggle("framed", Boolean(item.isBatch));
        if (item.isBatch) set(button, { title: "Show all batches again", "aria-label": `${item.title}: show all batches again` });
        else button.setAttribute("aria-pressed", same(item.states, states));
        write(button.firstElementChild, item.title);
        button.dataset.filter = item.key;
    });
}

const same = (some, others) => some.length === others.length && some.every(one => others.includes(one));

/** Scrolls to the newest job that existed at the end of a day in the user's time zone. */
async function jump(wanted, view, grid) {
    const [year, month, date] = wanted.split("-").map(Number);
    const until = new Date(year, month - 1, date + 1).toISOString();
    const { jobs } = await call("List", { ...view.conditions, until, limit: 1 });
    if (!jobs.length) {
        notify(`There is nothing from ${wanted} or earlier`);
        return;
    }
    const id = jobs[0].id;
    if (!grid.reveal(id, true)) return;
    grid.scroll.y = grid.layout.y(grid.layout.find(id));
    grid.focus(id);
}
