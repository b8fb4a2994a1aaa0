// Lists the recipes and filters that the user can try on a picture.

import { send } from "./calls.js";
import { about } from "./completion.js";
import { make, write } from "./dom.js";
import { acts, attempt } from "./notices.js";
import { imageOf } from "./pictures.js";

/** A sample of each filter's result. Samples are rendered one after another, when their lines are visible. */
const pictures = new Map();
let waiting = [];
let isMaking = false;
let current = null;

const seen = new IntersectionObserver(entries => {
    for (const { isIntersecting, target } of entries) {
        waiting = waiting.filter(other => other !== target);
        if (isIntersecting) waiting.push(target);
    }
    makeNext();
});

/** Uses this subject (see `Subjects`) for all samples that are rendered from now on. */
export function useFor(subject, list) {
    current = subject;
    for (const box of list.querySelectorAll(".sample")) {
        seen.unobserve(box);
        box.replaceChildren();
        if (subject) seen.observe(box);
    }
}

async function makeNext() {
    if (isMaking || !waiting.length) return;
    const box = waiting.shift();
    seen.unobserve(box);
    isMaking = true;
    const key = `${current.trial} ${box.dataset.filter}`;
    try {
        if (!pictures.has(key)) {
            const chain = `resize edge=240 | ${box.dataset.filter} | save format=webp`;
            const blob = await (await send(current.trial, { chain })).blob();
            if (pictures.size > 200) pictures.clear();
            pictures.set(key, blob);
        }
        box.replaceChildren(await imageOf(pictures.get(key)));
    } catch {
        // A filter whose rendering fails has no sample. If the user tries the filter, the page shows the reason.
    } finally {
        isMaking = false;
        makeNext();
    }
}

export function recipeLine(recipe, tryChain, saving) {
    const remove = make("button.framed", { type: "button", textContent: "Remove", onclick: () => attempt(remove, () => saving.remove(recipe)) });
    const chains = Object.entries(recipe.chains).sort(([one], [other]) => one < other ? -1 : 1);
    const from = [recipe.inbox && `inbox ${recipe.inbox}`, `results in ${recipe.outbox}`].filter(Boolean).join(", ");
    return make("li", null,
        make("h3", { textContent: recipe.name }),
        recipe.description ? make("p", { textContent: recipe.description }) : null,
        ...chains.map(([name, chain]) => make("p.chained", null, name ? make("span.faint", { textContent: `${name}: ` }) : null,
            make("button.link", { type: "button", title: "Try this chain", onclick: () => tryChain(chain) },
                make("code", { textContent: chain })))),
        make("p.note", { textContent: `${from}; originals: ${recipe.original}` }),
        recipe.problem ? make("p.bad", { textContent: recipe.problem }) : null,
        recipe.own ? acts(make("div.own", null,
            make("button.framed", { type: "button", textContent: "Change …", onclick: () => saving.open(null, recipe) }), remove)) : null);
}

export function filterLine(stage, addStage) {
    const isFilter = stage.file !== null;
    const needed = stage.parameters.some(({ required }) => required) || stage.atLeastOneOf.length > 0;
    const sample = make("div.sample", { "aria-hidden": "true" });
    sample.dataset.filter = stage.name;
    return make("li.stage-line", null,
        isFilter && !needed && stage.state === "loaded" ? sample : make("div"),
        make("div", null,
            make("h3", null, make("button.link", {
                type: "button", textContent: stage.name, title: "Add it to the end of the chain", onclick: () => addStage(stage),
            }), make("span.note", { textContent: isFilter ? "" : " built in" })),
            make("p", { textContent: stage.summary }),
            stage.reason ? make("p.bad", { textContent: stage.reason }) : null,
            stage.parameters.length ? make("details", null,
                make("summary", { textContent: stage.parameters.map(({ name }) => name).join(", ") }),
                make("dl", null, ...stage.parameters.flatMap(parameter => [
                    make("dt", { textContent: parameter.name }), make("dd", { textContent: about(parameter) })])),
                rule(stage)) : null));
}

function rule({ atLeastOneOf, atMostOneOf }) {
    const words = [atLeastOneOf.length ? `at least one of ${atLeastOneOf.join(", ")}` : null,
        atMostOneOf.length ? `at most one of ${atMostOneOf.join(", ")}` : null].filter(Boolean).join("; ");
    return words ? make("p.note", { textContent: words }) : null;
}

/** Shows only the lines that contain all the words. */
export function narrow(list, words) {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const line of list.children) {
        line.hidden = !wanted.every(word => line.textContent.toLowerCase().includes(word));
        count += line.hidden ? 0 : 1;
    }
    write(list.nextElementSibling, count ? "" : "Nothing has this name.");
}
