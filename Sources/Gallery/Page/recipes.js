// Owns the panel in which the user tries chains: a picture before and after, the field for the chain, recipes and filters.

import { panel } from "./ask.js";
import { call, send } from "./calls.js";
import { ChainField } from "./chain.js";
import { Compare } from "./compare.js";
import { byID, make, write } from "./dom.js";
import { filterLine, narrow, recipeLine, useFor } from "./filters.js";
import { acts, attempt } from "./notices.js";
import { imageOf } from "./pictures.js";
import { Saving } from "./saving.js";
import { Subjects } from "./subjects.js";
import { bytes, milliseconds } from "./words.js";

/** The picture on which chains are tried. */
let subject = null;
const subjects = new Subjects();
let stages = [];
let recipes = [];
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
const saving = new Saving(() => recipes, () => attempt(null, load));
const save = make("button.framed", { type: "button", textContent: "Save …", title: "Save the chain as a recipe", onclick: () => saving.open(field.value) });
const recipeList = make("ul.lines", { "aria-label": "Recipes" });
const filterList = make("ul.lines", { "aria-label": "Filters", hidden: true });
const search = make("input", { type: "search", placeholder: "Find", "aria-label": "Find a recipe or a filter" });
const none = () => make("p.note", { role: "status" });
const tabs = ["Recipes", "Filters"].map((textContent, index) =>
    make("button", { type: "button", role: "tab", textContent, onclick: () => choose(index) }));
const newer = make("button.framed", { type: "button", textContent: "‹", disabled: true, "aria-label": "Newer picture", onclick: () => attempt(newer, () => step(-1)) });
const older = make("button.framed", { type: "button", textContent: "›", disabled: true, "aria-label": "Older picture", onclick: () => attempt(older, () => step(1)) });

export function start(grid, shown) {
    const dialog = panel("finding", "Recipes and filters", make("div.found", null,
        make("div.tried", null, compare.element, make("div.which", null, newer, name, older, outcome),
            field.element, acts(make("div.acts", null, copy, save, go))),
        make("div.known", null, make("div.tabs", null, make("div", { role: "tablist" }, ...tabs), search),
            make("div.scrolls", null, recipeList, none(), filterList, none()))));
    search.oninput = () => {
        narrow(recipeList, search.value);
        narrow(filterList, search.value);
    };
    choose(0);
    dialog.onclose = () => {
        trial?.abort();
        subjects.stop();
        compare.close();
    };
    byID("recipes").onclick = () => {
        dialog.showModal();
        field.field.focus();
        attempt(null, load);
        find(subjects.begin(shown() ?? grid.active ?? grid.first));
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
    const [known, plugins] = await Promise.all([call("Recipes"), call("Plugins")]);
    stages = plugins.stages;
    recipes = known.recipes;
    recipeList.replaceChildren(...recipes.map(recipe => recipeLine(recipe, chain => {
        field.value = chain;
        tryChain(chain);
    }, saving)));
    filterList.replaceChildren(
        ...[...stages].sort((one, other) => (one.file === null) - (other.file === null)).map(stage => filterLine(stage, addStage)),
        ...plugins.skipped.map(({ file, reason }) => make("li", null, make("p.bad", { textContent: `${file}: ${reason}` }))));
    narrow(recipeList, search.value);
    narrow(filterList, search.value);
    useFor(subject, filterList);
}

/** Adds a stage at the end of the chain, before a `save`. */
function addStage(stage) {
    const all = field.value.split("|").map(part => part.trim()).filter(Boolean);
    const place = all.findIndex(part => /^save\b/.test(part));
    all.splice(place < 0 ? all.length : place, 0, stage.name);
    field.value = all.join(" | ");
    field.field.focus();
    const needed = stage.parameters.some(({ required }) => required) || stage.atLeastOneOf.length > 0;
    if (!needed) tryChain(field.value);
}

function use(wanted) {
    trial?.abort();
    subject = wanted;
    write(name, subject.name);
    write(outcome, subject.note);
    compare.close();
    compare.show(subject.picture, null);
    newer.disabled = subject.id === null;
    older.disabled = subject.at === null;
    useFor(subject, filterList);
}

const step = by => find(subjects.next(subject, by), `There is no ${by > 0 ? "older" : "newer"} picture that can be shown.`);

/** Uses the picture that the search returns, or shows the text `none`. */
async function find(search, none) {
    write(outcome, "looks for a picture …");
    try {
        const found = await search;
        if (found) use(found);
        else write(outcome, none);
    } catch (failure) {
        if (failure.name !== "AbortError") write(outcome, failure.message);
    }
}

async function tryChain(chain) {
    if (!subject || !chain) return;
    trial?.abort();
    const mine = trial = new AbortController();
    go.setAttribute("aria-busy", "true");
    write(outcome, "is being made …");
    const start = performance.now();
    try {
        const blob = await (await send(subject.trial, { chain }, mine.signal)).blob();
        const image = await imageOf(blob);
        if (trial !== mine) return;
        compare.put(image);
        write(outcome, `${image.naturalWidth} × ${image.naturalHeight}, ${bytes(blob.size)}, in ${milliseconds(performance.now() - start)}`);
    } catch (failure) {
        if (mine.signal.aborted) return;
        // The rendering may have succeeded: a browser can't show every format that a chain may save.
        write(outcome, failure.name === "EncodingError" ? "it was rendered in a format that this browser can't show"
            : failure.message);
    } finally {
        if (trial === mine) go.removeAttribute("aria-busy");
    }
}
