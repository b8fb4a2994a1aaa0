// Owns the tab's event stream, which is open while the tab is visible. If events may have been missed, reloads everything.

import { request } from "./calls.js";
import { store, heard, forget, setProgress, setStatus, setThere, tell } from "./store.js";

/**
 * Milliseconds after which a hidden tab closes its stream. Browsers limit the connections to a server, and all tabs share them.
 */
const patience = 60_000;
let source = null;
/** Whether an event with a cursor has arrived. The browser can then resume the stream after that event on its own. */
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
        // Reloads everything, because events may have been missed while the daemon did not answer.
        if (isBack) load();
    });
    stream.onerror = () => {
        if (source !== stream) return;
        setThere(false, "The connection is lost; trying again");
        if (stream.readyState !== EventSource.CLOSED) return;
        // If the answer is not an event stream, the browser does not reconnect. So this code reopens the stream, with
        // increasing delays.
        close();
        sayWhy();
        timer = setTimeout(() => { if (!document.hidden) open(); }, retry);
        retry = Math.min(retry * 2, 30_000);
    };
}

/** Shows why the stream was refused. Requests the same path with fetch, because an EventSource gives no reason. */
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
