// Reads camera, lens, exposure, date and place from the first bytes of a picture. The browser reads them, not the daemon.

import { request } from "./calls.js";

/** Maximum bytes to read. In most files, EXIF is at the beginning. */
const most = 512 * 1024;

/** Returns `{ camera, lens, exposure, taken, place }` of the file at `path`, or null. Missing values are undefined. */
export async function exifOf(path, signal) {
    const reader = (await request(path, { signal })).body.getReader();
    const bytes = new Uint8Array(most);
    let length = 0;
    while (length < most) {
        const { done, value } = await reader.read();
        if (done) break;
        bytes.set(value.subarray(0, most - length), length);
        length += value.length;
    }
    reader.cancel().catch(() => {});
    try {
        return parse(bytes.subarray(0, Math.min(length, most)));
    } catch {
        // A directory's offset may point beyond the bytes that were read.
        return null;
    }
}

function parse(bytes) {
    const start = startOf(bytes);
    if (start === null) return null;
    const view = new DataView(bytes.buffer, bytes.byteOffset + start, bytes.length - start);
    const isLittle = view.getUint8(0) === 0x49;
    const first = directory(view, view.getUint32(4, isLittle), isLittle);
    const more = first.has(0x8769) ? directory(view, first.get(0x8769)[0], isLittle) : new Map();
    const gps = first.has(0x8825) ? directory(view, first.get(0x8825)[0], isLittle) : new Map();
    const number = tag => more.get(tag)?.[0];
    const [maker, model] = [first.get(0x10f) ?? "", first.get(0x110) ?? ""];
    const exposure = [
        number(0x829a) > 0 ? seconds(number(0x829a)) : null, number(0x829d) > 0 ? `f/${short(number(0x829d))}` : null,
        number(0x8827) > 0 ? `ISO ${number(0x8827)}` : null, number(0x920a) > 0 ? `${short(number(0x920a))} mm` : null,
    ].filter(Boolean).join(", ");
    return {
        camera: (model.startsWith(maker.split(" ")[0]) ? model : `${maker} ${model}`).trim(), lens: more.get(0xa434), exposure,
        taken: (more.get(0x9003) ?? first.get(0x132))?.replace(/^(\d{4}):(\d\d):/, "$1-$2-"), place: place(gps),
    };
}

/**
 * Returns the offset of EXIF's TIFF header. Looks for the EXIF markers of JPEG, HEIF, WebP and PNG; a TIFF begins with the
 * header.
 */
function startOf(bytes) {
    const is = (at, text) => [...text].every((letter, index) => bytes[at + index] === letter.charCodeAt(0));
    const isHeader = at => is(at, "II*\0") || is(at, "MM\0*");
    if (isHeader(0)) return 0;
    for (let at = 0; at + 16 < bytes.length; at += 1) {
        if (bytes[at] !== 0x45 && bytes[at] !== 0x65) continue;
        const after = is(at, "Exif\0\0") ? [6] : is(at, "EXIF") ? [8, 14] : is(at, "eXIf") ? [4] : [];
        for (const length of after) if (isHeader(at + length)) return at + length;
    }
    return null;
}

/** Maximum entries of a directory to read, and maximum values of an entry. */
const [mostEntries, mostValues] = [200, 200];

/** Returns a directory's entries, keyed by tag. A value is a text or a list of numbers. */
function directory(view, offset, isLittle) {
    const entries = new Map();
    const count = Math.min(view.getUint16(offset, isLittle), mostEntries);
    for (let at = offset + 2; at < offset + 2 + 12 * count; at += 12) {
        const [tag, type] = [view.getUint16(at, isLittle), view.getUint16(at + 2, isLittle)];
        const size = { 1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 10: 8 }[type];
        const length = Math.min(view.getUint32(at + 4, isLittle), mostValues);
        if (!size || !length) continue;
        const start = size * length <= 4 ? at + 8 : view.getUint32(at + 8, isLittle);
        const values = Array.from({ length }, (_, index) => value(view, start + index * size, type, isLittle));
        entries.set(tag, type === 2 ? text(values) : values);
    }
    return entries;
}

function value(view, at, type, isLittle) {
    if (type <= 2) return view.getUint8(at);
    if (type === 3) return view.getUint16(at, isLittle);
    if (type === 4) return view.getUint32(at, isLittle);
    const read = type === 5 ? "getUint32" : "getInt32";
    return view[read](at, isLittle) / view[read](at + 4, isLittle);
}

const text = values => new TextDecoder().decode(Uint8Array.from(values)).split("\0")[0].trim();
const short = number => String(Math.round(number * 10) / 10);
const seconds = time => time >= 0.3 ? `${short(time)} s` : `1/${Math.round(1 / time)} s`;

function place(gps) {
    const degrees = tag => gps.get(tag)?.reduce((all, part, index) => all + part / 60 ** index, 0);
    const [latitude, longitude] = [degrees(2), degrees(4)];
    if (!Number.isFinite(latitude) || !Number.isFinite(longitude)) return undefined;
    return `${latitude.toFixed(4)}° ${gps.get(1) ?? ""}, ${longitude.toFixed(4)}° ${gps.get(3) ?? ""}`;
}
