// Reads the files, folders and URLs that the user has dropped, pasted or chosen.

import { onlyAddresses } from "./addresses.js";

/** Returns the files of a drop as `{ file, folder, path }`. If a single folder was dropped, `name` is its name. */
export async function dropped(transfer) {
    const text = transfer.getData("text/uri-list") || transfer.getData("text/plain");
    // All entries must be read at once, because they become invalid after the event.
    const entries = [...transfer.items].map(item => item.kind === "file" && item.webkitGetAsEntry?.()).filter(Boolean);
    const files = [];
    const problems = [];
    if (!entries.length && !transfer.files.length) return pasted(text);
    if (!entries.length) return { files: [...transfer.files].map(file => one(file, "")), name: null, problems };
    for (const entry of entries) await walk(entry, "", files, problems);
    const folders = entries.filter(entry => entry.isDirectory);
    return { files, name: entries.length === 1 && folders.length ? folders[0].name : null, problems };
}

/** Returns the URLs of a pasted text as a list file, in the same form as `dropped`. */
export function pasted(text) {
    const urls = onlyAddresses(text);
    const file = new File([urls.join("\n")], urls.length === 1 ? "one URL.urls" : `${urls.length} URLs.urls`);
    return { files: urls.length ? [one(file, "")] : [], name: null, problems: [] };
}

/** Returns the files of an <input>. If the user chose a folder, each file has its path in the folder. */
export function chosen(list) {
    const parts = file => (file.webkitRelativePath || file.name).split("/");
    const files = [...list].filter(file => !parts(file).some(isHidden))
        .map(file => one(file, parts(file).slice(0, -1).join("/")));
    const folder = list[0]?.webkitRelativePath.split("/")[0];
    return { files, name: folder || null, problems: [] };
}

/** Hidden files and folders are ignored, as in pipectl. */
const isHidden = name => name.startsWith(".");

const one = (file, folder) => ({ file, folder, path: folder ? `${folder}/${file.name}` : file.name });

async function walk(entry, folder, files, problems) {
    if (isHidden(entry.name)) return;
    try {
        if (entry.isFile) {
            files.push(one(await new Promise((done, failed) => entry.file(done, failed)), folder));
            return;
        }
        const reader = entry.createReader();
        const inside = [];
        for (;;) {
            // Reads until nothing is returned, because a browser returns at most a hundred entries at a time.
            const some = await new Promise((done, failed) => reader.readEntries(done, failed));
            if (!some.length) break;
            inside.push(...some);
        }
        inside.sort((one, other) => one.name < other.name ? -1 : 1);
        for (const child of inside) await walk(child, folder ? `${folder}/${entry.name}` : entry.name, files, problems);
    } catch (error) {
        problems.push(`${folder ? `${folder}/` : ""}${entry.name} can't be read: ${error.message}`);
    }
}
