// Owns what the page knows of the daemon: whether it answers, its status, its progress and the latest jobs.
// Listeners learn of a change by its topic: `there`, `status`, `progress`, `job`, `batch`, `load` (of everything).

const kept = 3000;
const target = new EventTarget();
const jobs = new Map();
/** Counts the events, so that an answer to an earlier call doesn't replace newer jobs. */
let clock = 0;

export const store = {
    there: true,
    why: "",
    /** An Overview, once it has arrived. */
    status: null,
    /** A reply of Progress. */
    progress: null,
    /** The progress of each job in progress, by ID. */
    fractions: new Map(),
};

export const on = (topic, listener) => target.addEventListener(topic, event => listener(event.detail));
export const tell = (topic, detail) => target.dispatchEvent(new CustomEvent(topic, { detail }));

export const job = id => jobs.get(id)?.job;
export const now = () => clock;

/** Stores a job from an event, which is newer than everything before. */
export function heard(job) {
    clock += 1;
    put(job);
    tell("job", job);
}

/** Stores the jobs of an answer to a call made at `since`, except those that have changed since then. */
export function answered(list, since) {
    for (const job of list) {
        if ((jobs.get(job.id)?.at ?? -1) <= since) put(job);
    }
}

function put(job) {
    jobs.delete(job.id);
    jobs.set(job.id, { job, at: clock });
    if (jobs.size > kept) jobs.delete(jobs.keys().next().value);
}

/** Forgets the jobs before everything is loaded again. */
export function forget() {
    jobs.clear();
    store.fractions = new Map();
}

export function setStatus(status) {
    store.status = status;
    tell("status", status);
}

export function setProgress(progress) {
    store.progress = progress;
    store.fractions = new Map(progress.jobs.map(entry => [entry.job.id, entry]));
    tell("progress", progress);
}

export function setThere(there, why) {
    if (store.there === there && store.why === why) return;
    store.there = there;
    store.why = why;
    tell("there", there);
}
