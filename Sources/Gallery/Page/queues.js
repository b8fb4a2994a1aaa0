// Owns the queues above the pictures. Shows each queue's running and waiting operations, its limit and its pause.

import { call } from "./calls.js";
import { below, keep, make, write } from "./dom.js";
import { acts, attempt, speak } from "./notices.js";
import { on, setStatus, store } from "./store.js";
import { counted, number } from "./words.js";

/** A description of each queue, in the order in which a picture passes through them. */
const does = {
    download: "Fetches pictures from their URLs.",
    render: "Makes the results of each picture.",
    publish: "Puts the results into their folders.",
    announce: "Reports the results to logs, hooks and watchers.",
};
const order = Object.keys(does);
/** The slider's maximum is never lower than `least`. The number field's maximum is `most`. */
const least = 8;
const most = 1024;

export function start(parent) {
    const row = make("div.queues", { role: "group", "aria-label": "Queues" });
    parent.append(row);
    on("status", status => {
        const place = name => (order.indexOf(name) + order.length + 1) % (order.length + 1);
        const queues = Object.entries(status.queues).sort(([one], [other]) => place(one) - place(other));
        keep(row, queues, ([name]) => name, create, update);
    });
}

function create([name]) {
    const panel = make("div.popover", { id: `queue-${name}`, popover: "auto" });
    const button = make("button", { type: "button" },
        make("span.label", { textContent: name }), " ", make("span.figures"), " ", make("span.paused"));
    below(button, panel, 328);
    const facts = make("p");
    const slider = make("input", { type: "range", min: "0", step: "1", "aria-label": `Limit of ${name}` });
    const figure = make("input", { type: "number", min: "0", max: `${most}`, "aria-label": `Limit of ${name}, as a number` });
    const auto = make("input", { type: "checkbox" });
    const why = make("input", { type: "text", placeholder: "reason (optional)", "aria-label": "Reason for the pause", maxLength: 200 });
    const pause = make("button.framed", { type: "button" });
    const limit = () => make("div.limit", null, slider, figure, make("label", null, auto, " auto"));
    panel.append(make("h2", { textContent: name }), facts, acts(limit(), make("div.pause", null, why, pause)), make("p.note"));
    slider.oninput = () => {
        figure.value = slider.value;
        change(name, slider.value, panel);
    };
    figure.onchange = () => change(name, String(Math.max(0, Math.min(most, Math.round(Number(figure.value) || 0)))), panel);
    auto.onchange = () => change(name, auto.checked ? "auto" : slider.value, panel);
    pause.onclick = () => attempt(pause, async () => {
        const isPaused = store.status.queues[name].paused;
        const reason = why.value.trim() || null;
        take(isPaused ? await call("Resume", { queue: name }) : await call("Pause", { queue: name, reason }));
        why.value = "";
        speak(`${name} ${isPaused ? "goes on" : "is paused"}`);
    });
    return make("div.queue", null, button, panel);
}

function update(element, [name, queue]) {
    const [button, panel] = element.children;
    const { paused, running, waiting, effective } = queue;
    // Announcing takes no time, so the announce queue is shown only if something is unusual.
    element.hidden = name === "announce" && !paused && waiting === 0 && queue.configured !== 0
        && !panel.matches(":popover-open");
    button.classList.toggle("halted", paused);
    button.classList.toggle("busy", running > 0);
    const figures = [running ? `${number(running)} running` : null, waiting ? `${number(waiting)} waiting` : null];
    write(button.children[1], figures.filter(Boolean).join(", ") || (paused ? "" : "idle"));
    write(button.children[2], paused ? "paused" : "");
    const reason = paused ? pauseText(queue) : queue.held;
    button.title = reason ?? "";
    const [slider, figure] = panel.querySelectorAll("input");
    const [auto, why, pause] = [panel.querySelector("[type=checkbox]"), panel.querySelector("[type=text]"),
        panel.querySelector(".pause button")];
    write(panel.children[1], [does[name], `${number(running)} running, ${number(waiting)} waiting, at most ${limitText(queue)} at once.`,
        paused ? `It is ${pauseText(queue)}.` : queue.held && `${queue.held}.`].filter(Boolean).join(" "));
    const isChanging = changing.has(name);
    slider.max = Math.max(least, 2 * (queue.automatic ?? 0), queue.configured ?? 0, Number(slider.value) || 0);
    if (!isChanging) {
        const value = queue.configured ?? effective;
        if (document.activeElement !== figure) figure.value = value;
        slider.value = value;
        auto.checked = queue.configured === null;
    }
    auto.parentElement.hidden = queue.automatic === null;
    auto.parentElement.title = queue.automatic === null ? "" : `auto means ${queue.automatic}`;
    why.hidden = paused;
    write(pause, paused ? "Resume" : "Pause");
    write(panel.lastElementChild, Number(slider.value) === 0 && !paused
        ? "With 0, running operations finish, and nothing new starts." : "A limit lasts until the daemon restarts.");
}

/** Describes a limit: `4`, `4 (auto)`, or `2 (4 wanted)` if the effective limit differs from the configured limit. */
function limitText({ configured, effective }) {
    if (configured === null) return `${number(effective)} (auto)`;
    return configured === effective ? number(effective) : `${number(effective)} (${number(configured)} wanted)`;
}

const pauseText = queue => queue.reason ? `paused: ${queue.reason}` : "paused";

/**
 * The wanted limit of each queue whose limit is being changed. Each queue has one call at a time, and the last wanted limit
 * wins.
 */
const changing = new Map();

async function change(queue, limit, panel) {
    const isUnderway = changing.has(queue);
    changing.set(queue, limit);
    if (isUnderway) return;
    await attempt(null, async () => {
        let sent = null;
        try {
            while (sent !== changing.get(queue)) {
                sent = changing.get(queue);
                take(await call("Concurrency", { queue, limit: sent, save: false }));
            }
        } finally {
            changing.delete(queue);
        }
    });
    if (store.status) setStatus(store.status);
    speak(`limit of ${queue}: ${panel.querySelector("[type=checkbox]").checked ? "auto" : counted(Number(limit), "operation")}`);
}

/** Stores the queues from the reply to a change, because they are newer than the stored status. */
function take({ queues }) {
    if (store.status) setStatus({ ...store.status, queues });
}

