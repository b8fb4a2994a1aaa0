// Loads previews, at most three at once, in the order of their positions on the screen. Withdraws a load that is no longer
// needed, so that the daemon does not render the preview.

import { request } from "./calls.js";
import { on, store } from "./store.js";

const most = 3;
/**
 * Maximum loads during uploads. A browser has six connections to the gallery: uploads use three, and the event stream uses one.
 */
const mostBesideUploads = 1;
/** Number of decoded previews that are kept for reuse. */
const kept = 160;

const wishes = new Set();
const shown = new Map();
let running = 0;
let uploads = 0;

on("there", there => { if (there) pump(); });

/**
 * Requests the picture at `path`. The request with the lowest `rank()` is loaded first. Calls `done(image, isNew)` with a
 * decoded image that no other caller uses, or `failed(failure)`. Returns an object whose `drop()` withdraws the request, or
 * null if `done` was called at once.
 */
export function wish(path, rank, done, failed) {
    const old = shown.get(path);
    if (old && !old.isConnected) {
        shown.delete(path);
        shown.set(path, old);
        done(old, false);
        return null;
    }
    const wish = { path, rank, done, failed, abort: null, notBefore: 0 };
    wish.drop = () => {
        wishes.delete(wish);
        wish.abort?.abort();
    };
    wishes.add(wish);
    soon();
    return wish;
}

/** Limits the loads while `count` uploads use connections. */
export function leaveRoom(count) {
    uploads = count;
    soon();
}

let isPlanned = false;
function soon() {
    if (isPlanned) return;
    isPlanned = true;
    queueMicrotask(() => {
        isPlanned = false;
        pump();
    });
}

function pump() {
    const now = Date.now();
    const limit = uploads > 0 ? mostBesideUploads : most;
    while (running < limit && store.there) {
        let next = null;
        for (const wish of wishes) {
            if (!wish.abort && wish.notBefore <= now && (!next || wish.rank() < next.rank())) next = wish;
        }
        if (!next) return;
        load(next);
    }
}

async function load(wish) {
    running += 1;
    wish.abort = new AbortController();
    try {
        const image = await decoded(wish.path, wish.abort.signal);
        if (!wishes.delete(wish)) return;
        remember(wish.path, image);
        wish.done(image, true);
    } catch (failure) {
        if (!wishes.has(wish)) return;
        wish.abort = null;
        if (failure.status === 503 || failure.name === "Unreachable") {
            // The daemon is busy or away: retry later.
            const pause = 1000 * Math.max(1, Number(failure.after) || 2);
            wish.notBefore = Date.now() + pause;
            setTimeout(soon, pause + 10);
        } else {
            wishes.delete(wish);
            wish.failed(failure);
        }
    } finally {
        running -= 1;
        soon();
    }
}

/** Loads and decodes an image, so that it can appear without flickering. */
export async function decoded(path, signal, options = {}) {
    const image = await imageOf(await (await request(path, { signal, ...options })).blob());
    image.dataset.path = path;
    return image;
}

export async function imageOf(blob) {
    const url = URL.createObjectURL(blob);
    const image = new Image();
    image.alt = "";
    image.draggable = false;
    image.src = url;
    try {
        await image.decode();
    } finally {
        URL.revokeObjectURL(url);
    }
    return image;
}

function remember(path, image) {
    shown.set(path, image);
    if (shown.size <= kept) return;
    for (const [other, old] of shown) {
        if (old.isConnected) continue;
        shown.delete(other);
        return;
    }
}

/**
 * Returns the URL path of a job's original (`result` is 0) or of a result (from 1). Its parameter `v` changes with the picture.
 */
export function pathOf(job, result, width) {
    const version = result ? `${job.finished ?? ""}` : `${job.created}`;
    const place = result ? `${job.id}/${result}` : `${job.id}`;
    return `/pictures/${place}?width=${width}&v=${encodeURIComponent(version)}`;
}

/** Whether the job has results to show. A done job has results, which remain visible while the job is redone. */
export const hasResult = job => job.outputs.length > 0 && (job.state === "done" || job.redo !== null);

/** Whether the original exists. A download's original does not exist before the download has finished. */
export const hasOriginal = job => job.bytes !== null;
