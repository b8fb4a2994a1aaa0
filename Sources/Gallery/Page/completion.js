// Completes the last stage of a chain, as pipectl does: the stage's name, a parameter, or a parameter's value.

/** Returns the completions as `{ text, word, help }`. `text` is the chain up to the caret, with the word completed. */
export function candidates(chain, stages) {
    const start = chain.lastIndexOf("|") + 1;
    const wordStart = Math.max(chain.lastIndexOf(" ") + 1, start);
    const name = chain.slice(start, wordStart).split(" ").filter(Boolean)[0];
    const [before, word] = [chain.slice(0, wordStart), chain.slice(wordStart)];
    const stage = stages.find(stage => stage.name === name);
    if (name && !stage) return [];
    const gap = before.endsWith("|") ? " " : "";
    return found(word, stage, stages)
        .filter(({ word: whole }) => whole.startsWith(word) && whole !== word)
        .map(({ word: whole, help }) => ({ text: before + gap + whole, word: whole, help }));
}

function found(word, stage, stages) {
    if (!stage) return stages.map(({ name, summary }) => ({ word: name, help: summary }));
    const equals = word.indexOf("=");
    if (equals < 0) return stage.parameters.map(parameter => ({ word: `${parameter.name}=`, help: about(parameter) }));
    const parameter = stage.parameters.find(({ name }) => name === word.slice(0, equals));
    if (!parameter) return [];
    const values = parameter.type === "boolean" ? ["yes", "no"] : parameter.choices;
    return values.map(value => ({ word: `${parameter.name}=${value}`, help: "" }));
}

/** Describes a parameter, for example `how much of it is applied; 0 to 1, else 1`. */
export function about({ help, minimum, maximum, default: usual, unit, choices, required }) {
    const range = minimum !== null && maximum !== null ? `${minimum} to ${maximum}`
        : minimum !== null ? `from ${minimum}` : maximum !== null ? `up to ${maximum}` : null;
    return [
        help, choices.length ? choices.join(", ") : null, range && unit ? `${range} ${unit}` : range ?? unit,
        required ? "needed" : usual !== null && usual !== "" ? `else ${usual}` : null,
    ].filter(Boolean).join("; ");
}
