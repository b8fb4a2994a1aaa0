// Recognises lists of URLs: files by their names, and dropped or pasted texts by their content.

/** Whether the daemon reads the file as a list of pictures. */
export const isList = file => /\.(urls?|csv|tsv)$/i.test(file.name);

/** Returns the URLs of a text that contains only URLs; for any other text an empty list. */
export function onlyAddresses(text) {
    const lines = text.split(/\r?\n/).map(line => line.trim()).filter(line => line && !line.startsWith("#"));
    return lines.length && lines.every(line => /^https?:\/\/\S+$/i.test(line)) ? lines : [];
}
