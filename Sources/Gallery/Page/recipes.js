// Owns the panel in which the user tries chains: a picture before and after, the field for the chain, recipes and filters.

import { panel } from "./ask.js";
import { call, send } from "./calls.js";
import { ChainField } from "./chain.js";
import { Compare } from "./compare.js";
import { byID, make, write } from "./dom.js";
import { filterLine, narrow, recipeLine, useFor } from "./filters.js";
import { acts, attempt } from "./notices.js";
import { imageOf, pathOf } from "./pictures.js";
import { answered, now } from "./store.js";
import { bytes, milliseconds, shortName } from "./words.js";

/** Maximum pictures to check in a search for a picture whose original still exists. */
const mostLooks = 30;

let id = null;
let stages = [];
let trial = null;

const compare = new Compare("Before and after the chain");
const name = make("h3");
const outcome = make("p.note", { role: "status" });
const field = new ChainField(() => stages, tryChain);
const go = make("button.framed.strong", { type: "button", textContent: "Try it", onclick: () => tryChain(field.value) });
const copy = make("button.framed", {
    type: "button", textContent: "Copy", title: "Copy the chain", onclick: () => attempt(copy, async () => {
        await navigator.clipboard.writeText(field.value);
        write(outcome, "copied");
    }),
});
const recipeList = make("ul.lines", { "aria-label": "Recipes" });
const filterList = make("ul.lines", { "aria-label": "Filters", hidden: true });
const search = make("input", { type: "search", placeholder: "Find", "aria-label": "Find a recipe or a filter" });
const none = () => make("p.note", { role: "status" });
const tabs = ["Recipes", "Filters"].map((textContent, index) =>
    make("button", { type: "button", role: "tab", textContent, onclick: () => choose(index) }));
const newer = make("button.framed", { type: "button", textContent: "‹", "aria-label": "Newer picture", onclick: () => step(-1) });
const older = make("button.framed", { type: "button", textContent: "›", "aria-label": "Older picture", onclick: () => step(1) });
let grid = null;

export function start(itsGrid, shown) {
    grid = itsGrid;
    const dialog = panel("finding", "Recipes and filters", make("div.found", null,
        make("div.tried", null, compare.element, make("div.which", null, newer, name, older, outcome),
            field.element, acts(make("div.acts", null, copy, go))),
        make("div.known", null, make("div.tabs", null, make("div", { role: "tablist" }, ...tabs), search),
            make("div.scrolls", null, recipeList, none(), filterList, none()))));
    search.oninput = () => {
        narrow(recipeList, search.value);
        narrow(filterList, search.value);
    };
    choose(0);
    dialog.onclose = () => {
        trial?.abort();
        compare.close();
    };
    byID("recipes").onclick = () => {
        dialog.showModal();
        field.field.focus();
        attempt(null, load);
        attempt(null, () => look(shown() ?? grid.active ?? grid.first, 1));
    };
}

function choose(index) {
    tabs.forEach((tab, at) => tab.setAttribute("aria-selected", at === index));
    [recipeList, filterList].forEach((list, at) => {
        list.hidden = at !== index;
        list.nextElementSibling?.toggleAttribute("hidden", at !== index);
    });
}

async function load() {
    const [{ recipes }, plugins] = await Promise.all([call("Recipes"), call("Plugins")]);
    stages = plugins.stages;
    recipeList.replaceChildren(...recipes.map(recipe => recipeLine(recipe, chain => {
        field.value = chain;
        tryChain(chain);
    })));
    filterList.replaceChildren(
        ...[...stages].sort((one, other) => (one.file === null) - (other.file === null)).map(stage => filterLine(stage, addStage)),
        ...plugins.skipped.map(({ file, reason }) => make("li", null, make("p.bad", { textContent: `${file}: ${reason}` }))));
    narrow(recipeList, search.value);
    narrow(filterList, search.value);
    useFor(id, filterList);
}

/** Adds a stage at the end of the chain, but before `save`. */
function addStage(stage) {
    const all = field.value.split("|").map(part => part.trim()).filter(Boolean);
    const place = all.findIndex(part => /^save\b/.test(part));
    all.splice(place < 0 ? all.length : place, 0, stage.name);
    field.value = all.join(" | ");
    field.field.focus();
    const needed = stage.parameters.some(({ required }) => required) || stage.atLeastOneOf.length > 0;
    if (!needed) tryChain(field.value);
}

/** Uses the picture `wanted`. If its original no longer exists, uses the next picture that still has one. */
async function look(wanted, by) {
    for (let looks = 0; wanted !== null && looks < mostLooks; looks += 1) {
        const since = now();
        const { story } = await call("Show", { id: wanted });
        answered([story.job], since);
        if (story.original !== null) {
            use(story.job);
            return;
        }
        const next = neighbour(wanted, by);
        if (next === wanted) break;
        wanted = next;
    }
    if (id === null) write(outcome, "There is no picture here whose original is kept, to try a chain on.");
}

function use(job) {
    trial?.abort();
    id = job.id;
    write(name, `${shortName(job)}`);
    write(outcome, "");
    compare.close();
    compare.show(pathOf(job, 0, 1280), null);
    useFor(id, filterList);
}

const neighbour = (from, by) => {
    const place = grid.layout.find(from);
    return place ? grid.layout.id(grid.layout.step(place, by)) : null;
};

function step(by) {
    if (id === null) return;
    const next = neighbour(id, by);
    if (next !== null && next !== id) attempt(null, () => look(next, by));
}

async function tryChain(chain) {
    if (id === null || !chain) return;
    trial?.abort();
    const mine = trial = new AbortController();
    go.setAttribute("aria-busy", "true");
    write(outcome, "is being made …");
    const start = performance.now();
    try {
        const blob = await (await send(`/try/${id}`, { chain }, mine.signal)).blob();
        const image = await imageOf(blob);
        if (trial !== mine) return;
        compare.put(image);
        write(outcome, `${image.naturalWidth} × ${image.naturalHeight}, ${bytes(blob.size)}, in ${milliseconds(performance.now() - start)}`);
    } catch (failure) {
        if (mine.signal.aborted) return;
        // The rendering may have succeeded: a browser can't show every format that a chain may save.
        write(outcome, failure.name === "EncodingError" ? "it was made, in a format that this browser does not show"
            : failure.message);
    } finally {
        if (trial === mine) go.removeAttribute("aria-busy");
    }
}
