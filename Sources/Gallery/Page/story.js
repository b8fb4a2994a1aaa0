// Shows a job's story beside its picture: facts, reasons, advice, and a line for each operation.

import { make } from "./dom.js";
import { store } from "./store.js";
import { bytes, dimensions, fileName, full, local, milliseconds, nameOf, progress } from "./words.js";

const meanings = {
    input: "the picture or its chain is at fault",
    transient: "a passing failure",
    room: "no space in the outbox, or for the download",
    crash: "its worker crashed",
    timeout: "it took too long",
    configuration: "something that the recipe needs is missing, or not permitted",
    dependency: "a job before it has failed, or was cancelled",
};

/**
 * Fills `parent` with the story. Its links call `open(id)` to show another job, and `showBatch(id)` to show the jobs of a
 * batch.
 */
export function fillStory(parent, story, { open, showBatch }) {
    const list = make("dl");
    for (const [name, value, kind] of facts(story, { open, showBatch })) {
        if (value === null || value === undefined || value === "") continue;
        list.append(make("dt", { textContent: name }), make(kind ? `dd.${kind}` : "dd", null, ...[value].flat()));
    }
    parent.replaceChildren(list, operations(story));
}

function facts({ job, ...story }, { open, showBatch }) {
    const link = (text, run) => make("button.link", { type: "button", textContent: text, onclick: run });
    const near = ({ jobs, count }) => !count ? null : [
        ...jobs.slice(0, 10).flatMap(({ id, state }, index) =>
            [index ? ", " : "", state ? link(`#${id}`, () => open(id)) : `#${id}`, ` ${state ?? "forgotten"}`]),
        count > 10 ? ` and ${count - Math.min(10, jobs.length)} more` : ""];
    const results = job.outputs.flatMap((output, index) => {
        const made = job.after.length === job.outputs.length ? job.after[index] : null;
        return [[index ? "" : job.outputs.length > 1 ? "results" : "result",
            [fileName(output), made ? make("span.faint", { textContent: `  ${dimensions(made)}, ${bytes(made.bytes)}` }) : ""]]];
    });
    const chains = Object.entries(story.chains).sort(([one], [other]) => one < other ? -1 : 1)
        .map(([name, chain]) => [name ? `chain ${name}` : "chain", make("code", { textContent: chain })]);
    return [
        ["error", job.error, "bad"],
        ["class", job.failure ? `${job.failure}${meanings[job.failure] ? `: ${meanings[job.failure]}` : ""}` : null],
        ["what to do", story.advice],
        [job.state === "waiting" ? "waiting for" : "reason", job.reason, "halted"],
        ["setbacks", job.setbacks > 0 ? String(job.setbacks) : null],
        ["next try", job.due && job.state === "waiting" ? local(job.due) : null],
        ["after", near(story.after)],
        ["followed by", near(story.followers)],
        ["priority", story.priority === "normal" ? null : story.priority],
        ["recipe", job.recipe],
        ["batch", job.batch === null ? null : link(story.batchTitle ?? `batch ${job.batch}`, () => showBatch(job.batch))],
        ["url", job.url ? nameOf(job) : null],
        ["input", job.input],
        ["caption", story.caption],
        ["credit", story.credit],
        ["picture", story.header],
        ...photograph(story.exif),
        ["original", story.removed ?? story.original, story.removed ? "halted" : ""],
        ...results,
        ["size", size(job)],
        ["created", full(job.created)],
        ["started", story.started ? full(story.started) : null],
        ["finished", job.finished ? full(job.finished) : null],
        ["took", job.milliseconds === null ? null : milliseconds(job.milliseconds)],
        ["tries", story.tries > 1 ? String(story.tries) : null],
        ...chains,
    ];
}

/** The camera's data. Also says whether the result still contains the place where the picture was taken. */
function photograph(exif) {
    const own = exif?.original ?? exif?.result;
    if (!own) return [];
    const isKept = Boolean(exif.result?.place);
    const where = own.place && exif.original && exif.result !== undefined
        ? `${own.place} (${isKept ? "the result has it, too" : "not in the result"})` : own.place;
    return [["camera", own.camera], ["lens", own.lens], ["exposure", own.exposure], ["taken", own.taken], ["place", where]];
}

function size({ before, after }) {
    if (!before) return null;
    if (!after.length) return bytes(before.bytes);
    const made = after.reduce((all, picture) => all + picture.bytes, 0);
    const share = before.bytes > 0 ? ` (${Math.round(made / before.bytes * 100)} %)` : "";
    return `${bytes(before.bytes)} → ${bytes(made)}${share}`;
}

function operations({ job, operations }) {
    if (!operations.length) return "";
    const hasTries = operations.some(operation => operation.attempt > 1);
    const now = store.fractions.get(job.id);
    return make("ol.operations", { "aria-label": "Operations" }, ...operations.map(operation => {
        const { kind, state, started, finished, detail, failure, attempt } = operation;
        const took = started && finished ? milliseconds(new Date(finished) - new Date(started)) : null;
        const moving = state === "executing" ? now?.progress ?? operation.progress : null;
        const about = state === "failed" ? detail && (failure ? `${detail} (${failure})` : detail)
            : moving ? progress(moving) : detail;
        return make("li", null,
            make("span.kind", { textContent: hasTries ? `${attempt}. ${kind}` : kind }),
            make(`span.${state}`, { textContent: [state, took].filter(Boolean).join(", ") }),
            about ? make(state === "failed" ? "span.detail.bad" : "span.detail", { textContent: about }) : null);
    }));
}
