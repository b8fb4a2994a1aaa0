// Reads lists of URLs from a drop, from the clipboard, or from a file whose name ends in .urls or .url.

import { call } from "./calls.js";

/** Maximum total length of the URLs in a call. The gallery accepts calls of 64 kB, which contain other parameters as well. */
const longest = 48_000;

export const isList = file => /\.urls?$/i.test(file.name);

/** Returns the URLs of a list that has one URL on each line, or the URL of a browser's shortcut file. */
export function addresses(text, isShortcut = false) {
    if (isShortcut) return [...text.matchAll(/^URL=(.+)$/gim)].map(([, url]) => url.trim()).slice(0, 1);
    return text.split(/\r?\n/).map(line => line.trim()).filter(line => line && !line.startsWith("#"));
}

/** Returns the URLs of a text that contains only URLs; for any other text an empty list. */
export function onlyAddresses(text) {
    const lines = addresses(text);
    return lines.length && lines.every(line => /^https?:\/\/\S+$/i.test(line)) ? lines : [];
}

/** Adds URLs, in several calls if necessary, and returns the first job. `batch` may be null. */
export async function addAddresses(urls, { recipe, batch }) {
    let first = null;
    for (let start = 0; start < urls.length;) {
        let [end, length] = [start, 0];
        while (end < urls.length && end - start < 1000 && (length += urls[end].length + 8) < longest) end += 1;
        const some = urls.slice(start, Math.max(end, start + 1));
        const reply = await call("AddUrls", { urls: some, recipe, batch });
        first ??= reply.first;
        batch = reply.batch;
        start += some.length;
    }
    return first;
}
