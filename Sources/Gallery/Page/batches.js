// Owns the list of batches above the pictures, with each batch's progress and actions.

import { call } from "./calls.js";
import { keep, make, write } from "./dom.js";
import { acts, attempt, notify } from "./notices.js";
import { on, store, tell } from "./store.js";
import { counted, counts, left, number, perMinute, sum, titleOf, unended } from "./words.js";

const most = 20;
/** Cursors of the batch-end events that were already announced. */
const announced = new Set();

export function start(parent, view) {
    const list = make("div.batches", { role: "list", "aria-label": "Unfinished batches" });
    parent.append(list);
    /** The batch to which the view is restricted. It stays listed even after it has finished. */
    let chosen = null;
    const draw = () => {
        const { batches = [], others = null, unfinished = 0 } = store.progress ?? {};
        const rows = batches.slice(0, most).map(({ batch, progress }) => ({ key: batch.id, batch, progress }));
        if (chosen && !rows.some(row => row.key === chosen.id)) rows.unshift({ key: chosen.id, batch: chosen });
        if (others?.total > 0 && others.done < others.total) rows.push({ key: "others", progress: others });
        const hidden = unfinished - Math.min(batches.length, most);
        if (hidden > 0) rows.push({ key: "more", hidden });
        keep(list, rows, row => row.key, row => create(row, view), update);
    };
    on("progress", draw);
    const find = async () => {
        const { batch } = view.filter;
        chosen = chosen?.id === batch ? chosen : null;
        if (batch !== null) {
            try {
                chosen = (await call("FindBatch", { batch: String(batch) })).batch;
            } catch (failure) {
                notify(failure.message, { isBad: true });
            }
        }
        tell("chosen batch", chosen);
        draw();
    };
    on("load", find);
    on("filter", find);
    on("event", event => {
        const { batch, kind, text } = event;
        if (batch && batch.id === chosen?.id) {
            chosen = batch;
            draw();
        }
        if (kind !== "batch" || text !== "ended" || announced.has(event.cursor)) return;
        announced.add(event.cursor);
        // A batch of one job needs no notice, because its picture shows the result.
        if (sum(batch) < 2) return;
        notify(`${titleOf(batch)} ended: ${counts(batch)}`, {
            about: batch.id,
            act: batch.failed ? { text: `Retry ${number(batch.failed)}`, run: () => retry(batch, ["failed"]) } : null,
        });
    });
}

function create(row, view) {
    if (row.key === "more") return make("p.more", { role: "listitem" });
    const title = make("button.title", { type: "button" });
    const bar = make("progress", { max: 1 });
    const figures = make("span.figures");
    const trouble = make("span.trouble");
    if (row.batch) title.onclick = () => view.show({ batch: row.batch.id });
    else title.disabled = true;
    return make("div.batch", { role: "listitem" }, title, bar, make("span.words", null, figures, trouble),
        make("span.set", null, row.batch ? batchActs() : null));
}

function update(element, { key, batch, progress, hidden }) {
    if (key === "more") {
        write(element, `… and ${counted(hidden, "more batch").replace(/chs$/, "ches")}`);
        return;
    }
    const [title, bar, words, { firstElementChild: set }] = element.children;
    const name = batch ? titleOf(batch) : "without a batch";
    write(title, name);
    title.title = batch ? `Show ${name}` : "";
    const fraction = progress ? progress.fraction ?? 0 : 1;
    if (Math.abs(bar.value - fraction) > 1e-4) bar.value = fraction;
    bar.setAttribute("aria-label", name);
    const rate = progress?.rate ? perMinute(progress.rate) : null;
    write(words.firstElementChild, progress
        ? [`${number(progress.done)} of ${progress.total === null ? "?" : number(progress.total)}`, rate, left(progress)]
            .filter(Boolean).join(" · ")
        : counts(batch));
    write(words.lastElementChild, !batch || !progress ? "" : ["failed", "cancelled", "waiting"]
        .filter(state => batch[state] > 0).map(state => ` · ${number(batch[state])} ${state}`).join(""));
    if (batch) updateActs(set, batch);
}

/** Makes the buttons for a batch's actions. Each button shows how many jobs it affects. */
export function batchActs() {
    const cancel = make("button", { type: "button", onclick: () => attempt(cancel, () => stop(set.batch)) });
    const again = make("button", { type: "button", onclick: () => attempt(again, () => retry(set.batch, [])) });
    const level = priority(level => prioritise({ ids: [], batch: set.batch.id }, level));
    const set = acts(cancel, again, level);
    return set;
}

export function updateActs(set, batch) {
    const [cancel, again, level] = set.children;
    set.batch = batch;
    const open = sum(batch, unended) - batch.cancelling, over = batch.failed + batch.cancelled;
    cancel.hidden = open === 0;
    write(cancel, `Cancel ${number(open)}`);
    again.hidden = over === 0;
    write(again, `Retry ${number(over)}`);
    level.hidden = batch.waiting + batch.queued === 0;
    level.setAttribute("aria-label", `Priority of ${titleOf(batch)}`);
}

/** Makes a menu of the three priorities, which calls `set(level)`. */
export function priority(set) {
    const select = make("select.priority", { "aria-label": "Priority" },
        make("option", { value: "", textContent: "Priority" }),
        ...["high", "normal", "low"].map(level => make("option", { value: level, textContent: level })));
    select.onchange = () => {
        const level = select.value;
        select.value = "";
        attempt(select, () => set(level));
    };
    return select;
}

export async function prioritise(which, level) {
    const { changed } = await call("Prioritise", { ...which, priority: level });
    notify(`${counted(changed, "job")} with priority ${level}`);
}

async function stop(batch) {
    const { cancelled } = await call("CancelMatching", { batch: batch.id, states: [] });
    notify(`cancelled ${counted(cancelled, "job")} of ${titleOf(batch)}`, cancelled ? {
        act: { text: "Bring them back", run: () => retry(batch, ["cancelled"]) },
    } : {});
}

async function retry(batch, states) {
    const { retried } = await call("Retry", { ids: [], states, batch: batch.id });
    notify(`${counted(retried.length, "job")} of ${titleOf(batch)} ${retried.length === 1 ? "comes" : "come"} back`);
}
