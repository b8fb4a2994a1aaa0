// Starts the page and connects its parts. Also owns the headings, the text of an empty grid, and the button that leads to new
// pictures.

import * as address from "./address.js";
import * as adding from "./adding.js";
import * as events from "./events.js";
import * as focus from "./focus.js";
import * as help from "./help.js";
import * as keys from "./keys.js";
import * as large from "./large.js";
import * as notices from "./notices.js";
import * as recipes from "./recipes.js";
import * as top from "./top.js";
import * as chosen from "./chosen.js";
import * as work from "./work.js";
import { batchActs, updateActs } from "./batches.js";
import { byID, make, write } from "./dom.js";
import { Grid } from "./grid.js";
import { View } from "./view.js";
import { on, store } from "./store.js";
import { counted, counts, number, titleOf } from "./words.js";

const grid = new Grid(byID("scroller"), byID("grid"));
const view = new View(grid);

address.start(view, large);
notices.start();
top.start(view, grid);
work.start(view);
const { clear } = keys.start(view, grid);
chosen.start(grid, clear);
large.start(view, grid);
address.begin();
adding.start(view);
recipes.start(grid, large.shown);
help.start();
focus.start(grid);
document.querySelector(".skip").onclick = event => {
    event.preventDefault();
    grid.focusNear();
};

grid.heading = {
    create: () => make("div.title", { role: "rowheader" },
        make("button", { type: "button", onclick: event => view.show({ batch: event.target.batch }) }), make("span"),
        batchActs()),
    update: (element, { batch, title, count }) => {
        const [button, text, set] = element.children;
        button.hidden = !batch;
        button.batch = batch?.id;
        if (batch) write(button, titleOf(batch));
        set.hidden = !batch;
        if (batch) updateActs(set, batch);
        write(text, batch ? counts(batch) : `without a batch: ${counted(count, "picture")}`);
    },
};

const moved = grid.moved;
grid.moved = () => {
    moved();
    drawNewer();
};

let topOfAll = 0;
/** Shows how many new pictures are above the visible part of the page. */
function drawNewer() {
    const ids = grid.layout.sections[0]?.ids;
    const newest = ids?.count ? ids.at(0) : 0;
    if (grid.isAtTop || topOfAll === 0) topOfAll = newest;
    const count = view.order === "newest" && ids?.count ? ids.position(topOfAll) : 0;
    const button = byID("newer");
    button.hidden = count === 0;
    write(button, `${number(count)} new ↑`);
}
byID("newer").onclick = () => {
    grid.scroll.y = 0;
    grid.refresh();
};

on("filter", () => { topOfAll = 0; });
on("view", drawEmpty);
on("status", drawEmpty);

function drawEmpty() {
    const empty = byID("empty");
    const { isLoaded, failure, filter } = view;
    empty.hidden = !failure && (!isLoaded || grid.layout.count > 0);
    if (empty.hidden) return;
    // The default recipe's inbox contains the other inboxes, so its path is the shortest.
    const [inbox] = (store.status?.inboxes ?? []).map(({ path }) => path).sort((one, other) => one.length - other.length);
    const isFiltered = filter.states.length > 0 || filter.recipe || filter.batch !== null;
    const lines = failure ? [failure.message]
        : isFiltered ? ["No pictures match."]
        : ["No pictures yet.", `Drop some onto this page${inbox ? `, or into ${inbox}` : ""}.`];
    empty.replaceChildren(...lines.map(textContent => make("p", { textContent })));
}

on("status", status => {
    const { running, failed } = status.jobs;
    document.title = `${running ? `${running} running` : failed ? `${failed} failed` : "pictures"} · pipelined`;
});

events.start();
