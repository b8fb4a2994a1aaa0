// Owns the dialog in which a recipe is made, changed or removed, and the undo of these changes.

import { panel } from "./ask.js";
import { call, Failure } from "./calls.js";
import { make, write } from "./dom.js";
import { acts, attempt, notify } from "./notices.js";

/** `recipes()` must return the recipes. `changed()` is called after each change to a recipe. */
export class Saving {
    #recipes;
    #changed;
    #known = make("datalist", { id: "save-known" });
    #name = make("input", { type: "text", id: "save-name", required: true, autocomplete: "off", spellcheck: false, list: "save-known" });
    #about = make("input", { type: "text", id: "save-about", autocomplete: "off" });
    #outputs = make("div.outputs");
    /** Number of rows made so far, for their IDs. */
    #rows = 0;
    #words = make("p.bad", { role: "alert" });
    #save = make("button.framed.strong", { textContent: "Save" });

    constructor(recipes, changed) {
        this.#recipes = recipes;
        this.#changed = changed;
        const more = make("button.framed", { type: "button", textContent: "Another result", onclick: () => this.#add().focus() });
        const form = make("form", { onsubmit: event => {
            event.preventDefault();
            attempt(this.#save, () => this.#send());
        } }, make("div.into", null, make("label", { for: "save-name", textContent: "Name" }), this.#name, this.#known,
            make("label", { for: "save-about", textContent: "What for" }), this.#about), this.#outputs, this.#words,
        acts(make("div.acts", null, more, this.#save)));
        this.dialog = panel("saving", "Save a recipe", form);
    }

    /** Opens the dialog with this chain, or with the recipe to edit. */
    open(chain, recipe = null) {
        this.#known.replaceChildren(...this.#recipes().filter(({ own }) => own).map(({ name }) => make("option", { value: name })));
        this.#outputs.replaceChildren();
        this.#rows = 0;
        write(this.#words, "");
        const draft = recipe ? draftOf(recipe) : { name: "", description: null, outputs: [{ name: null, chain, naming: null }] };
        this.#name.value = draft.name;
        this.#about.value = draft.description ?? "";
        for (const output of draft.outputs) this.#add(output);
        this.dialog.showModal();
        this.#name.focus();
    }

    async remove(recipe) {
        await change("RemoveRecipe", { name: recipe.name });
        this.#changed();
        notify(`The recipe ${recipe.name} is removed`, {
            about: `recipe ${recipe.name}`, act: { text: "Undo", run: () => this.#restore(recipe.name, draftOf(recipe)) },
        });
    }

    #add({ name = "", chain = "", naming = null } = {}) {
        const number = this.#rows++;
        const title = make("input", { type: "text", id: `save-output-${number}`, value: name ?? "", autocomplete: "off", spellcheck: false });
        const field = make("textarea", { id: `save-chain-${number}`, rows: 2, value: chain, spellcheck: false, required: true });
        const row = make("div.into.output", null,
            ...(number ? [make("label", { for: title.id, textContent: "Result" }), title] : []),
            make("label", { for: field.id, textContent: "Chain" }), field,
            number ? make("button.framed", { type: "button", textContent: "Leave it out", onclick: () => row.remove() }) : null);
        row.draft = () => ({ name: title.value.trim() || null, chain: field.value.replace(/\s+/g, " ").trim(), naming });
        this.#outputs.append(row);
        return number ? title : field;
    }

    async #send() {
        const draft = {
            name: this.#name.value.trim(), description: this.#about.value.trim() || null,
            outputs: [...this.#outputs.children].map(row => row.draft()),
        };
        const before = this.#recipes().find(({ name, own }) => own && name === draft.name);
        try {
            await change("SaveRecipe", draft);
        } catch (failure) {
            write(this.#words, failure.message);
            return;
        }
        this.dialog.close();
        this.#changed();
        notify(`The recipe ${draft.name} is saved`, {
            about: `recipe ${draft.name}`,
            act: { text: "Undo", run: () => this.#restore(draft.name, before ? draftOf(before) : null) },
        });
    }

    async #restore(name, draft) {
        await (draft ? change("SaveRecipe", draft) : change("RemoveRecipe", { name }));
        this.#changed();
        notify(draft ? `The recipe ${name} is as it was` : `The recipe ${name} has been removed again`, { about: `recipe ${name}` });
    }
}

/** Makes the call. Throws if the daemon found problems; in that case, the daemon has changed nothing. */
async function change(method, parameters) {
    const { problems } = await call(method, parameters);
    if (problems.length) throw new Failure(problems.map(({ message }) => message).join("\n"));
}

function draftOf({ name, description, chains, names }) {
    const namings = new Map(names.map(naming => [naming.output ?? "", naming.name]));
    const outputs = Object.entries(chains).sort(([one], [other]) => one < other ? -1 : 1);
    return {
        name, description,
        outputs: outputs.map(([output, chain]) => ({ name: output || null, chain, naming: namings.get(output) ?? null })),
    };
}
