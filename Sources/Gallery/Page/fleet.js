// Owns the fleet's panel beside the queues: this node, its server, and a line with job counts for each other node.

import { call } from "./calls.js";
import { below, keep, make, set, write } from "./dom.js";
import { on, store } from "./store.js";
import { counted, nameOf, number, sum, unended } from "./words.js";

/** Milliseconds between two calls to all nodes, while the panel is open. */
const pause = 3000;
/** Maximum number of a node's jobs to show. */
const most = 20;

/** Job counts of the other nodes, by name. */
let counts = new Map();
/** The node whose jobs are shown, together with these jobs once they have arrived; null if no node is chosen. */
let chosen = null;

export function start(parent) {
    const place = make("div.fleet");
    parent.append(place);
    on("status", ({ fleet }) => keep(place, fleet ? [fleet] : [], () => "fleet", create, update));
}

function create() {
    const button = make("button", { type: "button" },
        make("span.label", { textContent: "fleet" }), " ", make("span.figures"), " ", make("span.paused"));
    const titles = ["Node", "Taken", "Lent", "Waiting", "Running", "Done", "Failed", ""]
        .map(textContent => make("th", { textContent, scope: "col" }));
    const panel = make("div.popover.nodes", { id: "fleet", popover: "auto" },
        make("h2", { textContent: "fleet" }), make("p"), make("p.wrong"),
        make("table", null, make("thead", null, make("tr", null, ...titles)), make("tbody")), make("div.node-jobs"));
    below(button, panel, 620);
    const element = make("div.queue", null, button, panel);
    panel.addEventListener("toggle", event => {
        if (event.newState === "open") follow(element);
    });
    return element;
}

/** Asks the nodes for their jobs repeatedly while the panel is open. */
async function follow(element) {
    const isOpen = () => element.isConnected && element.lastElementChild.matches(":popover-open");
    if (element.isFollowed) return;
    element.isFollowed = true;
    while (isOpen() && store.status.fleet) {
        await Promise.all([askCounts(), askJobs()]);
        if (store.status.fleet) update(element, store.status.fleet);
        await new Promise(done => setTimeout(done, pause));
    }
    element.isFollowed = false;
}

/** The nodes to ask. Nodes of another version are not asked, because they might not understand the call. */
const asked = () => store.status.fleet.nodes.filter(node => node.version === store.status.version).map(node => node.name);

async function askCounts() {
    const nodes = asked();
    if (nodes.length === 0) return void (counts = new Map());
    try {
        const { answers } = await call("Ask", { nodes, call: "Status", parameters: "{}" });
        counts = new Map(answers.filter(answer => answer.reply).map(answer => [answer.node, JSON.parse(answer.reply).status.jobs]));
    } catch {
        counts = new Map();
    }
}

async function askJobs() {
    const wish = chosen;
    if (!wish) return;
    try {
        const parameters = JSON.stringify({ states: [], limit: most });
        const { answers: [answer] } = await call("Ask", { nodes: [wish.node], call: "List", parameters });
        Object.assign(wish, answer.reply ? { jobs: JSON.parse(answer.reply).jobs, why: "" } : { jobs: [], why: answer.error });
    } catch (error) {
        Object.assign(wish, { jobs: [], why: error.message });
    }
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
    const own = { ...fleet, word: "this node", kind: "own", jobs: store.status.jobs };
    // Silent nodes keep their lines.
    const others = [
        ...nodes.map(node => ({ ...node, word: lackText(node), kind: "node", jobs: counts.get(node.name) })),
        ...silent.map(name => ({ name, word: "silent", kind: "node" })),
    ].sort((one, other) => one.name < other.name ? -1 : 1);
    const known = [own, ...others].filter(node => node.jobs);
    const all = known.length < 2 ? [] : [{ name: "all", word: "", kind: "all", jobs: total(known.map(node => node.jobs)) }];
    const choose = name => {
        chosen = chosen?.node === name ? null : { node: name };
        update(element, store.status.fleet);
        askJobs().then(() => store.status.fleet && update(element, store.status.fleet));
    };
    keep(panel.querySelector("tbody"), [own, ...others, ...all],
        node => `${node.kind} ${node.name}`, node => createLine(node, choose), updateLine);
    updateJobs(panel.lastElementChild);
}

function createLine({ name, kind }, choose) {
    const label = kind === "all" ? name
        : make("button", { type: "button", textContent: name, title: `The latest jobs of ${name}`, onclick: () => choose(name) });
    return make("tr", { className: kind }, make("th", { scope: "row" }, label), ...Array.from({ length: 7 }, () => make("td")));
}

function updateLine(line, { name, places, taken, lent, jobs, word, kind }) {
    const isSilent = places === undefined;
    line.classList.toggle("silent", isSilent && kind !== "all");
    if (kind !== "all") set(line.firstElementChild.firstElementChild, { "aria-expanded": String(chosen?.node === name) });
    const shares = isSilent ? ["", ""] : [`${number(taken)} of ${number(places)}`, number(lent)];
    const figures = jobs ? [sum(jobs, waiting), sum(jobs, running), jobs.done, jobs.failed].map(number) : ["", "", "", ""];
    [...shares, ...figures, word].forEach((text, index) => write(line.children[index + 1], text));
}

/** The unfinished states, divided into two columns as in `pipectl fleet`. */
const waiting = ["waiting", "queued"];
const running = unended.filter(state => !waiting.includes(state));

const total = all => Object.fromEntries(Object.keys(all[0]).map(state => [state, all.reduce((sum, jobs) => sum + jobs[state], 0)]));

function updateJobs(place) {
    place.hidden = !chosen;
    if (!chosen) return;
    const title = chosen.jobs === undefined ? `Asking ${chosen.node} …`
        : chosen.why ? `${chosen.node}: ${chosen.why}`
        : chosen.jobs.length ? `The latest jobs of ${chosen.node}` : `${chosen.node} has no jobs`;
    if (!place.firstElementChild) place.append(make("h3"), make("ul"));
    write(place.firstElementChild, title);
    keep(place.lastElementChild, chosen.jobs ?? [], job => job.id, () => make("li"), (line, job) => {
        const why = job.error ?? job.reason;
        write(line, `${job.id} ${nameOf(job)}: ${job.state}${why ? `, ${why}` : ""}`);
    });
}

const lackText = ({ lacks }) => lacks.length ? `lacks ${lacks.join(", ")}` : "";
