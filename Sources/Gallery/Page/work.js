// Owns the strip above the pictures: queues, fleet, reasons for waiting, actions on all jobs, and running batches.

import * as batches from "./batches.js";
import * as fleet from "./fleet.js";
import * as queues from "./queues.js";
import { ask } from "./ask.js";
import { call } from "./calls.js";
import { byID, make, write } from "./dom.js";
import { acts, attempt, notify } from "./notices.js";
import { on, store } from "./store.js";
import { counted, number, sum, unended } from "./words.js";

export function start(view) {
    const strip = make("div.strip");
    const waiting = make("p.waiting");
    byID("work").append(strip, waiting);
    queues.start(strip);
    fleet.start(strip);
    strip.append(allActs(view));
    batches.start(byID("work"), view);
    on("status", status => {
        const reasons = status.waiting.map(({ jobs, reason }) => `${number(jobs)} ${jobs === 1 ? "waits" : "wait"}: ${reason}`);
        waiting.hidden = reasons.length === 0;
        waiting.title = reasons.join("\n");
        write(waiting, reasons.slice(0, 3).join(" · ")
            + (reasons.length > 3 ? ` · and ${counted(reasons.length - 3, "more reason")}` : ""));
    });
}

function allActs(view) {
    const cancel = make("button", { type: "button", onclick: () => attempt(cancel, () => cancelAll()) });
    const again = make("button", { type: "button", onclick: () => attempt(again, () => retry(retryable(view))) });
    const set = acts(again, cancel);
    const draw = () => {
        if (!store.status) return;
        const { jobs } = store.status;
        const open = sum(jobs, unended) - jobs.cancelling;
        cancel.hidden = open === 0;
        write(cancel, `Cancel all ${number(open)}`);
        const state = retryable(view);
        again.hidden = !state || jobs[state] === 0;
        if (state) write(again, `Retry ${number(jobs[state])} ${state}`);
    };
    on("status", draw);
    on("filter", draw);
    return make("div.all", null, set);
}

/** The state (failed or cancelled) whose jobs can be retried together. Null unless the view shows all jobs in this state. */
const retryable = ({ filter: { states: [state], batch, recipe } }) =>
    (state === "failed" || state === "cancelled") && batch === null && !recipe ? state : null;

async function retry(state) {
    const { retried } = await call("Retry", { ids: [], states: [state] });
    notify(`${counted(retried.length, "job")} ${retried.length === 1 ? "comes" : "come"} back`);
}

async function cancelAll() {
    const open = sum(store.status.jobs, unended);
    const isSure = await ask(`Cancel ${counted(open, "job")}?`,
        "Their originals go to the folder for cancelled originals. Retry brings them back.", `Cancel ${number(open)}`);
    if (!isSure) return;
    // Offers to retry the cancelled jobs only if no job was cancelled earlier. The retry would include such a job.
    const isFirst = store.status.jobs.cancelled === 0;
    const { cancelled } = await call("CancelAll");
    notify(`cancelled ${counted(cancelled, "job")}; none of them is running`, isFirst && cancelled ? {
        act: { text: "Bring them back", run: () => retry("cancelled") },
    } : {});
}
