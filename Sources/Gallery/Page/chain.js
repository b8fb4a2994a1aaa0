// Owns the input field for a chain, with completion and the daemon's explanation of the chain.

import { call } from "./calls.js";
import { candidates } from "./completion.js";
import { make, write } from "./dom.js";

/** `stages()` must return the known stages. `enter(chain)` is called when the user presses Enter. */
export class ChainField {
    isRight = false;
    #stages;
    #enter;
    #offered = [];
    #choice = -1;
    #timer = 0;
    #asked = null;

    constructor(stages, enter) {
        this.#stages = stages;
        this.#enter = enter;
        this.list = make("ul.offers", { role: "listbox", id: "chain-offers", "aria-label": "Completions", hidden: true });
        this.field = make("textarea", {
            id: "chain", rows: 2, spellcheck: false, autocomplete: "off", placeholder: "noir | resize edge=1600",
            "aria-autocomplete": "list", "aria-controls": "chain-offers", "aria-describedby": "chain-words",
        });
        this.words = make("p.words", { id: "chain-words", role: "status" });
        this.wrong = make("code.wrong", { "aria-hidden": "true" });
        this.element = make("div.chain", null, make("label", { for: "chain", textContent: "Chain" }),
            make("div.typed", null, this.field, this.list), this.wrong, this.words);
        this.field.oninput = () => {
            this.#offer();
            this.#soon();
        };
        this.field.onkeydown = event => this.#key(event);
        this.field.onblur = () => this.#close();
    }

    get value() { return this.field.value.replace(/\s+/g, " ").trim(); }

    set value(chain) {
        this.field.value = chain;
        this.#close();
        this.#explain();
    }

    #soon() {
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => this.#explain(), 250);
    }

    async #explain() {
        this.#asked?.abort();
        this.isRight = false;
        const chain = this.field.value.replace(/\n/g, " ");
        if (!chain.trim()) {
            this.#say("", null);
            return;
        }
        const asked = this.#asked = new AbortController();
        try {
            const { explanation } = await call("Explain", { chain }, asked.signal);
            this.isRight = explanation.problem === null;
            const does = explanation.operations.filter(({ kind }) => kind === "render").map(({ does }) => does);
            this.#say(explanation.problem ?? does.join("; "), null);
        } catch (failure) {
            if (asked.signal.aborted) return;
            this.#say(failure.message, failure.parameters?.column ?? null);
        }
    }

    /** Shows a text below the field. If `column` is given, the text is an error, and the word at that column is marked. */
    #say(text, column) {
        write(this.words, text);
        this.words.classList.toggle("bad", column !== null);
        this.field.setAttribute("aria-invalid", column !== null);
        this.wrong.replaceChildren();
        if (column === null) return;
        const chain = [...this.field.value.replace(/\n/g, " ")];
        const start = Math.min(column - 1, chain.length);
        const rest = chain.slice(start).join("");
        const word = rest.match(/^\s*[^\s|]*/)[0] || " ";
        this.wrong.append(chain.slice(0, start).join(""), make("mark", { textContent: word }), rest.slice(word.length));
    }

    #offer() {
        const before = this.field.value.slice(0, this.field.selectionStart);
        this.#offered = candidates(before, this.#stages()).slice(0, 12);
        this.#choose(-1);
        this.list.replaceChildren(...this.#offered.map(({ word, help }, index) => make("li", {
            role: "option", id: `chain-offer-${index}`,
            onpointerdown: event => {
                event.preventDefault();
                this.#take(index);
            },
        }, make("b", { textContent: word }), " ", make("span", { textContent: help }))));
        this.list.hidden = !this.#offered.length;
    }

    #choose(index) {
        this.#choice = index;
        [...this.list.children].forEach((option, at) => option.setAttribute("aria-selected", at === index));
        this.list.children[index]?.scrollIntoView({ block: "nearest" });
        this.field.setAttribute("aria-activedescendant", index < 0 ? "" : `chain-offer-${index}`);
    }

    #take(index) {
        const after = this.field.value.slice(this.field.selectionStart);
        const { text } = this.#offered[index];
        const space = text.endsWith("=") || after.startsWith(" ") ? "" : " ";
        this.field.value = text + space + after;
        this.field.selectionStart = this.field.selectionEnd = text.length + space.length;
        this.#offer();
        this.#soon();
    }

    #close() {
        this.list.hidden = true;
        this.#choice = -1;
        this.field.setAttribute("aria-activedescendant", "");
    }

    #key(event) {
        const { length } = this.#offered, isOpen = !this.list.hidden;
        if (event.key === "ArrowDown" && isOpen) this.#choose((this.#choice + 1) % length);
        else if (event.key === "ArrowUp" && isOpen) this.#choose((Math.max(this.#choice, 0) + length - 1) % length);
        else if (event.key === "ArrowDown") this.#offer();
        else if ((event.key === "Tab" && !event.shiftKey && isOpen && this.field.value.trim())
            || (event.key === "Enter" && isOpen && this.#choice >= 0)) this.#take(Math.max(0, this.#choice));
        else if (event.key === "Enter") {
            this.#close();
            this.#enter(this.value);
        } else if (event.key === "Escape" && isOpen) this.#close();
        else return;
        event.preventDefault();
        event.stopPropagation();
    }
}
