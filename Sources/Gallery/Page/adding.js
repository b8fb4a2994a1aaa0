// Owns the panel for adding pictures: drop target, recipe, each file's state, and the warning before the user leaves the page.

import { isList } from "./addresses.js";
import { Addition } from "./uploads.js";
import { ask, panel } from "./ask.js";
import { call } from "./calls.js";
import { byID, keep, make, write } from "./dom.js";
import { chosen, dropped, pasted } from "./drop.js";
import { acts, attempt, speak, notify } from "./notices.js";
import { store, tell } from "./store.js";
import { bytes, counted, number } from "./words.js";

/** Maximum files that the panel lists. Further files are only counted. */
const mostLines = 300;

let view = null;
let addition = null;
let problems = [];

const files = make("input", { type: "file", multiple: true, hidden: true, "aria-label": "Files" });
const folder = make("input", { type: "file", webkitdirectory: true, hidden: true, "aria-label": "Folder" });
const pick = make("div.pick", null,
    make("p", { textContent: "Drop pictures or folders anywhere on the page, or choose them here." }),
    make("button.framed", { type: "button", textContent: "Choose files", onclick: () => files.click() }), " ",
    make("button.framed", { type: "button", textContent: "Choose a folder", onclick: () => folder.click() }));
const recipe = make("select.field", { id: "add-recipe" });
const chain = make("code");
const album = make("input.field", {
    type: "text", id: "add-album", placeholder: "optional", autocomplete: "off",
    onkeydown: ({ key, isComposing }) => { if (key === "Enter" && !isComposing && !send.hidden) send.click(); },
});
const words = make("p", { role: "status" });
const bar = make("progress", { max: 1, "aria-label": "Sent" });
const list = make("ul.files");
const send = make("button.framed.strong", {
    type: "button",
    onclick: () => attempt(send, () => finish(addition.send(recipe.value || null, album.value.trim() || null))),
});
const again = make("button.framed", { type: "button", onclick: () => attempt(again, () => finish(addition.again())) });
const stop = make("button.framed", { type: "button", textContent: "Stop sending", onclick: () => addition.stop() });
const see = make("button.framed", { type: "button", textContent: "Show the batch", onclick: () => show(addition.batch) });
const more = make("button.framed", { type: "button", onclick: () => attempt(more, chooseOthers) });
const into = make("div.into", null, make("label", { for: "add-recipe", textContent: "Recipe" }), recipe, chain,
    make("label", { for: "add-album", textContent: "Album" }), album);
const dialog = panel("adding", "Add pictures", pick, files, folder, acts(into), words, bar, list,
    make("div.acts", null, stop, see, more, acts(again, send)));

export function start(itsView) {
    view = itsView;
    const open = () => {
        loadRecipes();
        draw();
        if (!dialog.open) dialog.showModal();
    };
    byID("add").onclick = open;
    recipe.onchange = () => {
        localStorage.setItem("recipe", recipe.value);
        attempt(null, choose);
    };
    for (const input of [files, folder]) {
        input.onchange = () => {
            if (input.files.length) begin(chosen(input.files));
            input.value = "";
        };
    }
    addEventListener("dragover", event => {
        if (!isWanted(event)) return;
        event.preventDefault();
        event.dataTransfer.dropEffect = store.there ? "copy" : "none";
        document.body.classList.add("dropping");
    });
    addEventListener("dragleave", event => {
        if (!event.relatedTarget) document.body.classList.remove("dropping");
    });
    addEventListener("drop", async event => {
        document.body.classList.remove("dropping");
        if (!isWanted(event)) return;
        event.preventDefault();
        if (addition?.isRunning) {
            notify("Pictures are being sent; drop others after that", { isBad: true });
            return;
        }
        const drop = await dropped(event.dataTransfer);
        take(drop);
    });
    addEventListener("paste", event => {
        if (event.target.matches?.("input, textarea") || addition?.isRunning) return;
        const drop = event.clipboardData.files.length ? chosen(event.clipboardData.files)
            : pasted(event.clipboardData.getData("text/plain"));
        if (drop.files.length) take(drop);
    });
    const take = drop => {
        document.querySelectorAll("dialog[open]").forEach(other => { if (other !== dialog) other.close(); });
        open();
        begin(drop);
    };
    addEventListener("beforeunload", event => {
        if (addition?.isRunning || addition?.count("failed")) event.preventDefault();
    });
}

const isWanted = ({ dataTransfer, target }) => !target.closest?.("input, textarea")
    && ["Files", "text/uri-list"].some(type => dataTransfer?.types.includes(type));

/** Starts an addition with the dropped files. If `drop` is null, empties the panel for the next drop. */
function begin(drop) {
    // A name that the user typed before choosing files remains.
    if (drop?.name || addition || !drop) album.value = drop?.name ?? "";
    problems = drop?.problems ?? [];
    addition = drop ? new Addition(drop.files, soon) : null;
    list.replaceChildren();
    draw();
    if (addition) attempt(null, choose);
}

async function chooseOthers() {
    const failed = addition.count("failed");
    const isSure = !failed || await ask(`Give up ${counted(failed, "file")}?`,
        "The failed files have not been added, and would have to be chosen again.", `Give up ${number(failed)}`);
    if (isSure) begin(null);
}

/** Checks again which files are ignored, because the newly chosen recipe may ignore different files. */
async function choose() {
    const found = recipes.find(({ name }) => name === recipe.value);
    write(chain, found ? Object.values(found.chains).join("\n") : "");
    if (addition && !addition.isRunning && !addition.count("added")) await addition.sift(recipe.value || null);
}

/** Closes the panel when everything was sent. After a failure, the panel stays open and shows the list. */
async function finish(sending) {
    const these = addition;
    await sending;
    const [added, failed] = [these.count("added"), these.count("failed")];
    const { batch } = these;
    if (failed) {
        notify(`${number(added)} added, ${number(failed)} failed`, { isBad: true });
        return;
    }
    dialog.close();
    begin(null);
    notify(`added ${counted(added, wordFor(these.items))}`, {
        act: batch === null ? { text: "Show it", run: () => tell("open", these.items.find(({ job }) => job !== null).job) }
            : { text: "Show the batch", run: () => show(batch) },
    });
}

function show(batch) {
    dialog.close();
    return view.show({ batch, states: [] });
}

let recipes = [];
/** Lists the recipes. Selects the recipe that the user has chosen last, or else the default recipe. */
async function loadRecipes() {
    await attempt(null, async () => {
        recipes = (await call("Recipes")).recipes.filter(({ problem }) => !problem);
        const last = localStorage.getItem("recipe");
        const wanted = recipes.find(({ name }) => name === last) ?? recipes.find(({ isDefault }) => isDefault) ?? recipes[0];
        keep(recipe, recipes, ({ name }) => name, ({ name, description }) =>
            make("option", { value: name, textContent: description ? `${name}: ${description}` : name }));
        recipe.value = wanted?.name ?? "";
        await choose();
    });
}

const wordFor = items => items.some(({ file }) => isList(file)) ? "file" : "picture";

let frame = 0;
function soon() {
    frame ||= requestAnimationFrame(() => {
        frame = 0;
        draw();
    });
}

function draw() {
    const items = addition?.items ?? [];
    const count = state => addition?.count(state) ?? 0;
    const [waits, sends, added, failed, left] = ["waits", "sends", "added", "failed", "left out"].map(count);
    const isRunning = Boolean(addition?.isRunning);
    const word = wordFor(items);
    const isOver = !isRunning && added + failed > 0;
    pick.hidden = items.length > 0;
    into.hidden = isRunning || isOver;
    bar.hidden = !isRunning && !isOver;
    bar.value = addition?.bytes ? addition.sent / addition.bytes : 0;
    const said = !addition ? ""
        : !items.length ? "It contains no files."
        : isRunning || isOver
            ? [`${number(added)} of ${number(items.length - left)} added`, failed ? `${number(failed)} failed` : null,
                isRunning ? `${bytes(Math.round(addition.sent))} of ${bytes(addition.bytes)}` : null].filter(Boolean).join(", ")
            : `${counted(waits, word)}, ${bytes(addition.bytes)}` + (left ? `; ${number(left)} left out` : "");
    write(words, [said, ...problems].join("\n"));
    send.hidden = isRunning || waits === 0;
    write(send, `Add ${counted(waits, word)}`);
    again.hidden = isRunning || failed === 0;
    write(again, `Send ${number(failed)} again`);
    stop.hidden = !isRunning;
    see.hidden = !isOver || addition.batch === null;
    more.hidden = isRunning || items.length === 0;
    write(more, isOver ? "Add others" : "Choose others");
    const rank = { sends: 0, failed: 1, waits: 2, added: 3, "left out": 4 };
    const lines = items.length > mostLines
        ? [...items].sort((one, other) => rank[one.state] - rank[other.state]).slice(0, mostLines) : items;
    keep(list, lines, item => item.path, item => make("li", null,
        make("span.name", { textContent: item.path, title: item.path }), make("span.state"), make("span.detail")),
    (line, item) => {
        line.dataset.state = item.state;
        write(line.children[1], item.state === "sends" ? (item.share < 1 ? `${Math.floor(item.share * 100)} %` : "being stored")
            : item.state === "added" ? `#${item.job}` : item.state);
        write(line.children[2], item.error ?? "");
    });
    if (sends && failed && !draw.said) speak(`${number(failed)} failed`);
    draw.said = failed > 0;
}
