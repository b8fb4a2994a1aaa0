// Owns the fleet beside the queues: this node, its server, and a line for each other node.

import { below, keep, make, write } from "./dom.js";
import { on } from "./store.js";
import { counted, number } from "./words.js";

export function start(parent) {
    const place = make("div.fleet");
    parent.append(place);
    on("status", ({ fleet }) => keep(place, fleet ? [fleet] : [], () => "fleet", create, update));
}

function create() {
    const button = make("button", { type: "button" },
        make("span.label", { textContent: "fleet" }), " ", make("span.figures"), " ", make("span.paused"));
    const titles = ["Node", "Taken", "Lent", ""].map(textContent => make("th", { textContent, scope: "col" }));
    const panel = make("div.popover.nodes", { id: "fleet", popover: "auto" },
        make("h2", { textContent: "fleet" }), make("p"), make("p.wrong"),
        make("table", null, make("thead", null, make("tr", null, ...titles)), make("tbody")));
    below(button, panel, 480);
    return make("div.queue", null, button, panel);
}

function update(element, fleet) {
    const [button, panel] = element.children;
    const { name, server, problem, nodes, silent } = fleet;
    const trouble = server === null ? "not connected" : silent.length ? `${number(silent.length)} silent` : "";
    button.classList.toggle("halted", trouble !== "");
    button.classList.toggle("busy", fleet.lent + fleet.taken > 0);
    write(button.children[1], [counted(nodes.length, "other node"), fleet.lent ? `${number(fleet.lent)} lent` : null,
        fleet.taken ? `${number(fleet.taken)} taken` : null].filter(Boolean).join(" · "));
    write(button.children[2], trouble);
    write(panel.children[1], server === null ? `${name}, not connected` : `${name} at ${server}`);
    write(panel.children[2], problem ?? "");
    // A node that falls silent keeps its line.
    const others = [...nodes.map(node => ({ ...node, word: lackText(node) })), ...silent.map(name => ({ name, word: "silent" }))]
        .sort((one, other) => one.name < other.name ? -1 : 1);
    keep(panel.querySelector("tbody"), [{ ...fleet, word: "this node", isOwn: true }, ...others],
        node => `${node.isOwn ? "own" : "node"} ${node.name}`, createLine, updateLine);
}

const createLine = () => make("tr", null, make("th", { scope: "row" }), make("td"), make("td"), make("td"));

function updateLine(line, { name, places, taken, lent, word, isOwn }) {
    const isSilent = places === undefined;
    line.classList.toggle("silent", isSilent);
    line.classList.toggle("own", isOwn === true);
    const texts = [name, isSilent ? "" : `${number(taken)} of ${number(places)}`, isSilent ? "" : number(lent), word];
    texts.forEach((text, index) => write(line.children[index], text));
}

const lackText = ({ lacks }) => lacks.length ? `lacks ${lacks.join(", ")}` : "";
