// Owns the loads of small pictures: at most three run at once, what stands first on the screen goes first, and a load that
// nobody wants any more is dropped, so that the daemon makes nothing for it.

import { request } from "./calls.js";
import { on, store } from "./store.js";

const most = 3;
/** A browser has six connections for the gallery. Uploads take three of them, and the event stream has one. */
const mostBesideUploads = 1;
/** Pictures that have been shown stay decoded for a while. */
const kept = 160;

const wishes = new Set();
const shown = new Map();
let running = 0;
let uploads = 0;

on("there", there => { if (there) pump(); });

/**
 * Wishes for the picture at `path`; `rank()` is lower for what is looked at sooner. `done(image, isNew)` gets a decoded
 * image that is nobody else's, or `failed(failure)` is called. `drop()` of the answer takes the wish back.
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

/** Leaves connections to that many uploads. */
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
            // The daemon has no time for it yet.
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

/** An image off the screen, ready to be put there without a flicker. */
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

/** The address of a job's original, or of its `result`-th result from 1. What changes with the picture stands in `v`. */
export function pathOf(job, result, width) {
    const version = result ? `${job.finished ?? ""}` : `${job.created}`;
    const place = result ? `${job.id}/${result}` : `${job.id}`;
    return `/pictures/${place}?width=${width}&v=${encodeURIComponent(version)}`;
}

/** The results that can be looked at: those of a job that is done, and the earlier ones of a job that is done again. */
export const hasResult = job => job.outputs.length > 0 && (job.state === "done" || job.redo !== null);

/** The original is there from the start, or when its download has come. */
export const hasOriginal = job => job.bytes !== null;
