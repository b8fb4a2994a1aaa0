// Owns the page's knowledge of the daemon: whether it answers, its status, its progress and the latest jobs. Listeners
// subscribe to a topic: `there`, `status`, `progress`, `job`, `batch`, or `load`, which asks them to reload everything.

const kept = 3000;
const target = new EventTarget();
const jobs = new Map();
/** Counts the events. A reply does not replace jobs from events that arrived after its call was made. */
let clock = 0;

export const store = {
    there: true,
    why: "",
    /** The daemon's status (`Overview`), once it has arrived. */
    status: null,
    /** The latest reply of the Progress call. */
    progress: null,
    /** The progress of each running job, by ID. */
    fractions: new Map(),
};

export const on = (topic, listener) => target.addEventListener(topic, event => listener(event.detail));
export const tell = (topic, detail) => target.dispatchEvent(new CustomEvent(topic, { detail }));

export const job = id => jobs.get(id)?.job;
export const now = () => clock;

/** Stores the job of an event, which is newer than all stored data. */
export function heard(job) {
    clock += 1;
    put(job);
    tell("job", job);
}

/** Stores the jobs in the reply to a call that was made at `since`, except jobs that have changed since then. */
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

/** Forgets all jobs, because everything will be loaded again. */
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
