// Owns the one event stream of this tab: it is open while the tab is looked at, and nothing that happens meanwhile is missed.

import { request } from "./calls.js";
import { store, heard, forget, setProgress, setStatus, setThere, tell } from "./store.js";

/** A tab that is hidden for so long lets its stream go, because a browser has few connections to give. */
const patience = 60_000;
let source = null;
/** An event with a cursor has come, so the browser can go on from there by itself. */
let canResume = false;
let wasLost = false;
let retry = 1000;
let timer = 0;

export function start() {
    document.addEventListener("visibilitychange", () => {
        clearTimeout(timer);
        if (document.hidden) timer = setTimeout(close, patience);
        else if (!source) open();
    });
    addEventListener("pagehide", close);
    addEventListener("pageshow", () => { if (!source && !document.hidden) open(); });
    open();
}

function close() {
    source?.close();
    source = null;
}

function open() {
    clearTimeout(timer);
    close();
    const stream = source = new EventSource("/events");
    let isFirst = true;
    canResume = false;
    stream.onopen = () => {
        retry = 1000;
        if (isFirst || !canResume || wasLost) load();
        else if (!store.there) setThere(true, "");
        isFirst = wasLost = false;
    };
    stream.onmessage = message => {
        canResume ||= message.lastEventId !== "";
        take(JSON.parse(message.data));
    };
    stream.addEventListener("status", message => setStatus(JSON.parse(message.data)));
    stream.addEventListener("progress", message => setProgress(JSON.parse(message.data)));
    stream.addEventListener("lost", load);
    stream.addEventListener("daemon", message => {
        const { there, why } = JSON.parse(message.data);
        const isBack = there && !store.there;
        setThere(there, there ? "" : `The daemon is away${why ? `: ${why}` : ""}`);
        // A daemon that comes back may have done anything meanwhile.
        if (isBack) load();
    });
    stream.onerror = () => {
        if (source !== stream) return;
        setThere(false, "The connection is lost; it is tried again");
        if (stream.readyState !== EventSource.CLOSED) return;
        // The browser gives up when the answer is no stream: then it is asked again from here, ever more slowly.
        close();
        sayWhy();
        timer = setTimeout(() => { if (!document.hidden) open(); }, retry);
        retry = Math.min(retry * 2, 30_000);
    };
}

/** An event stream does not tell why it was refused; a request of the same does. */
async function sayWhy() {
    const asking = new AbortController();
    try {
        await request("/events", { signal: asking.signal });
    } catch (failure) {
        if (!source) setThere(false, failure.message);
    } finally {
        asking.abort();
    }
}

function load() {
    forget();
    setThere(true, "");
    tell("load");
}

function take(event) {
    if (event.kind === "lost") load();
    if (event.job) heard(event.job);
    if (event.batch) tell("batch", event.batch);
    tell("event", event);
}
