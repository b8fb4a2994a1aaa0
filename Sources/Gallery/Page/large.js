// Owns the large view of a job: its pictures before and after, all results, its story, and its actions.

import { settled } from "./address.js";
import { ask } from "./ask.js";
import { call, send } from "./calls.js";
import { Compare } from "./compare.js";
import { exifOf } from "./exif.js";
import { keep, make, set, write } from "./dom.js";
import { acts, attempt, speak, notify } from "./notices.js";
import { decoded, hasOriginal, hasResult, imageOf, pathOf } from "./pictures.js";
import { answered, job as known, now, on, store, tell } from "./store.js";
import { fillStory } from "./story.js";
import { fileOf } from "./uploads.js";
import { fileName, shortName, titleOf, unended } from "./words.js";

let id = null;
/** The number of the visible result, from 1. */
let result = 1;
/** Whether the original no longer exists. */
let isRemoved = false;
/** The EXIF of the original and of the result, once read: `{ original, result }`. */
let exif = null;
/** The titles of batches, by ID. */
const titles = new Map();

const compare = new Compare();
const heading = make("h2", { id: "large-title" });
const state = make("span.state");
const results = make("div.results", { role: "group", "aria-label": "Results" });
const story = make("div.story");
const button = (text, run, title = "") => {
    const made = make("button.framed", { type: "button", textContent: text, title, onclick: () => attempt(made, run) });
    return made;
};
const cancel = button("Cancel", async () => { await call("Cancel", { ids: [id] }); });
const retry = button("Retry", async () => {
    const { retried } = await call("Retry", { ids: [id], states: [] });
    notify(retried.length ? `#${id} comes back` : `#${id} is under way already`);
});
const redo = button("Process again", async () => {
    const { refused } = await call("Redo", { ids: [id] });
    if (refused.length) notify(`#${id} can't be processed again: ${refused[0].reason}`, { isBad: true });
}, "with the current version of its recipe");
const undo = button("Undo", async () => {
    if (!await ask(`Undo #${id}?`, "Its results are withdrawn, and its original goes to the folder for cancelled originals.", "Undo")) return;
    const { refused } = await call("Undo", { ids: [id] });
    if (refused.length) notify(`#${id} can't be undone: ${refused[0].reason}`, { isBad: true });
});
const recipe = make("select.field", { "aria-label": "Another recipe" });
const again = button("Add a copy under it", async () => {
    const reply = await (await send(`/again/${id}`, { recipe: recipe.value })).json();
    notify(`#${reply.job.id} is a copy under ${recipe.value}`, { act: { text: "Show it", run: () => show(reply.job.id) } });
});
const another = make("div.another", null, recipe, again);
const downloads = make("div.downloads", { role: "group", "aria-label": "Download" });
const close = make("button.close", { type: "button", textContent: "×", "aria-label": "Close", title: "Close (Escape)" });
const previous = make("button.step", { type: "button", textContent: "‹", "aria-label": "Newer picture", title: "Newer (←)" });
const next = make("button.step", { type: "button", textContent: "›", "aria-label": "Older picture", title: "Older (→)" });
const dialog = make("dialog.large", { "aria-labelledby": "large-title" },
    make("div.picture", null, compare.element, previous, next),
    make("div.about", null,
        make("div.panel-top", null, make("div.heading", null, heading, state), close),
        make("div.told", null, results, acts(make("div.doing", null, cancel, retry, redo, undo)), downloads, story,
            acts(another))));

/** CSS pixels by which an arrow key moves a picture that is shown pixel by pixel. */
const panStep = 120;

let grid = null;
export const shown = () => dialog.open ? id : null;

export function start(view, itsGrid) {
    grid = itsGrid;
    document.body.append(dialog);
    close.onclick = () => dialog.close();
    previous.onclick = () => step(-1);
    next.onclick = () => step(1);
    dialog.onclose = () => {
        compare.close();
        const last = id;
        id = null;
        tell("shown", { id });
        grid.focus(last);
    };
    dialog.addEventListener("keydown", keys);
    on("open", show);
    on("job", job => { if (job.id === id) draw(job); });
    on("progress", () => { if (id !== null && store.fractions.has(id)) soon(); });
    on("load", () => { if (id !== null) load(); });
    dialog.showBatch = batch => {
        dialog.addEventListener("close", async () => {
            await settled();
            view.show({ batch, states: [] });
        }, { once: true });
        dialog.close();
    };
}

/** Shows the job with this ID; null closes the view. */
export function showOnly(wanted) {
    if (wanted === null && dialog.open) dialog.close();
    else if (wanted !== null && wanted !== id) show(wanted);
}

function keys(event) {
    const isField = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const way = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (event.key === "z" && !isField) compare.zoom();
    else if (way && compare.isZoomed && !isField) compare.pan(...way.map(one => one * panStep));
    else if (event.key === "Escape" && compare.isZoomed) compare.zoom(false);
    else if ((event.key === "ArrowLeft" || event.key === "ArrowRight") && !isField) step(event.key === "ArrowLeft" ? -1 : 1);
    else if (event.key === " " && event.target.tagName !== "BUTTON" && !isField) compare.flip();
    else if (event.key === " " && event.target === compare.slider) compare.flip();
    else if (/^[1-9]$/.test(event.key) && !isField) choose(Number(event.key));
    else return;
    event.preventDefault();
}

function step(by) {
    const place = grid.layout.find(id);
    const wanted = place ? grid.layout.id(grid.layout.step(place, by)) : null;
    if (wanted !== null && wanted !== id) show(wanted);
}

function choose(number) {
    const job = known(id);
    if (!job || number > job.outputs.length) return;
    result = number;
    compare.zoom(false);
    draw(job);
}

function show(wanted) {
    if (id !== wanted) {
        [result, isRemoved, exif] = [1, false, null];
        compare.zoom(false);
    }
    id = wanted;
    story.replaceChildren();
    const isOpen = dialog.open;
    if (!isOpen) {
        dialog.showModal();
        compare.stage.focus();
    }
    tell("shown", { id, isFirst: !isOpen });
    grid.active = wanted;
    grid.reveal(wanted);
    const job = known(wanted);
    if (job) draw(job);
    load();
    loadRecipes();
}

let timer = 0;
function soon() {
    timer ||= setTimeout(() => {
        timer = 0;
        if (id !== null) load();
    }, 400);
}

async function load() {
    const wanted = id, since = now();
    try {
        const reply = await call("Show", { id: wanted });
        if (id !== wanted) return;
        answered([reply.story.job], since);
        const job = known(wanted) ?? reply.story.job;
        draw(job, reply.story);
        if (await learn(job, reply.story) && id === wanted) draw(known(wanted) ?? job, reply.story);
    } catch (failure) {
        if (id === wanted) story.replaceChildren(make("p.bad", { textContent: failure.message }));
    }
}

/** Fetches the batch's name and the pictures' EXIF. Returns whether anything is new. */
async function learn(job, { original }) {
    const [hadExif, hadTitle] = [exif !== null, job.batch === null || titles.has(job.batch)];
    if (!hadTitle) {
        const found = await call("FindBatch", { batch: String(job.batch) }).catch(() => null);
        titles.set(job.batch, found ? titleOf(found.batch) : `batch ${job.batch}`);
    }
    if (!hadExif && id === job.id && (hasResult(job) || unended.indexOf(job.state) < 0)) {
        const read = path => path ? exifOf(path).catch(() => null) : null;
        const [before, after] = await Promise.all([
            read(original !== null && hasOriginal(job) ? `/pictures/${job.id}` : null),
            read(hasResult(job) ? `/pictures/${job.id}/1` : null)]);
        if (id === job.id) exif = { original: before, result: after };
    }
    return !hadExif || !hadTitle;
}

function draw(job, itsStory = null) {
    if (itsStory) isRemoved = itsStory.original === null;
    const name = shortName(job);
    if (heading.textContent !== name) speak(`${name}, ${job.state}`);
    write(heading, name);
    write(state, job.redo ? `#${job.id} done; redo ${job.redo}` : `#${job.id} ${job.state}`);
    state.dataset.state = job.state;
    result = Math.max(1, Math.min(result, job.outputs.length));
    const isMade = hasResult(job);
    const small = side => result === 1 && side === (isMade ? "after" : "before") ? copy(job.id) : null;
    // If the original no longer exists, the browser may still have an image of it: the file that was added in this tab, or the
    // grid's cached preview.
    const file = fileOf(job.id);
    const kept = () => decoded(pathOf(job, 0, 320), undefined, { cache: "only-if-cached", mode: "same-origin" });
    compare.show(hasOriginal(job) ? pathOf(job, 0, 1280) : null, isMade ? pathOf(job, result, 1280) : null, {
        small, spares: file ? [() => imageOf(file), kept] : [kept], whole: wholeOf(job, isMade),
    });
    keep(results, job.outputs.length > 1 ? job.outputs : [], output => output, () => make("button", { type: "button" }),
        (made, output) => {
            const number = job.outputs.indexOf(output) + 1;
            set(made, { textContent: fileName(output), onclick: () => choose(number) });
            made.setAttribute("aria-pressed", number === result);
        });
    cancel.hidden = !unended.slice(0, 3).includes(job.state);
    retry.hidden = job.state !== "failed" && job.state !== "cancelled" && !(job.state === "waiting" && job.due);
    redo.hidden = undo.hidden = job.state !== "done" || job.redo === "underway" || isRemoved;
    const files = [...(isMade ? job.outputs.map((output, index) => [`/pictures/${job.id}/${index + 1}`, fileName(output)]) : []),
        ...(hasOriginal(job) && !isRemoved ? [[`/pictures/${job.id}`, "Original"]] : [])];
    keep(downloads, files, ([path]) => path, () => make("a.button", { download: "" }), (link, [path, text]) => {
        set(link, { href: path, textContent: `↓ ${text}`, title: `Download ${text}` });
    });
    if (itsStory) {
        another.hidden = isRemoved || recipes.length === 0;
        fillStory(story, { ...itsStory, job, exif, batchTitle: titles.get(job.batch) },
            { open: show, showBatch: dialog.showBatch });
    } else {
        soon();
    }
}

/**
 * The pictures for the zoom: the result, and the original scaled to the result's size. Leaves out formats that browsers can't
 * show.
 */
function wholeOf(job, isMade) {
    const picture = isMade ? job.after[result - 1] : job.before;
    if (!picture) return null;
    const path = (picture, path) => shownFormats.includes(picture?.format) ? path : null;
    return {
        width: picture.width, height: picture.height, before: hasOriginal(job) ? path(job.before, `/pictures/${job.id}`) : null,
        after: isMade ? path(picture, `/pictures/${job.id}/${result}`) : null,
    };
}

const shownFormats = ["jpeg", "png", "webp", "gif", "avif"];

/** Copies the grid's preview, which is shown until the larger picture is loaded. */
function copy(id) {
    const image = grid.element(id)?.querySelector(".frame img:last-child");
    if (!image) return null;
    const canvas = make("canvas", { width: image.naturalWidth, height: image.naturalHeight });
    canvas.getContext("2d").drawImage(image, 0, 0);
    return canvas;
}

let recipes = [];
async function loadRecipes() {
    try {
        recipes = (await call("Recipes")).recipes.filter(recipe => !recipe.problem);
    } catch {
        recipes = [];
    }
    another.hidden = isRemoved || recipes.length === 0;
    const chosen = recipe.value;
    keep(recipe, recipes, ({ name }) => name, ({ name }) => make("option", { value: name, textContent: name }));
    const other = recipes.find(({ name }) => name !== known(id)?.recipe) ?? recipes[0];
    recipe.value = recipes.some(({ name }) => name === chosen) ? chosen : other?.name ?? "";
}
