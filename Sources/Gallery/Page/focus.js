// Keeps the keyboard's focus somewhere sensible: if the focused element vanishes, its dialog or else a picture gets the focus.

/** The element that has the focus, followed by its ancestors, from the inside out. */
let last = [];
let isPlanned = false;

export function start(grid) {
    document.addEventListener("focusin", ({ target }) => {
        last = [];
        for (let element = target; element; element = element.parentElement) last.push(element);
    });
    // A click outside all controls removes the focus on purpose.
    document.addEventListener("pointerdown", () => { last = []; }, { capture: true });
    new MutationObserver(() => {
        if (!last.length || isPlanned) return;
        isPlanned = true;
        requestAnimationFrame(() => {
            isPlanned = false;
            check(grid);
        });
    }).observe(document.body, { subtree: true, childList: true, attributeFilter: ["hidden", "disabled", "open"] });
}

function check(grid) {
    const [element, ...around] = last;
    const { activeElement } = document;
    if (!element || isUsable(element)) return;
    if (activeElement && activeElement !== document.body && activeElement !== element) return;
    last = [];
    const host = around.find(other => other.matches("dialog[open], :popover-open"))
        ?? [...document.querySelectorAll("dialog:modal")].pop();
    if (host) (host.querySelector("[data-rest]") ?? [...host.querySelectorAll(controls)].find(isUsable))?.focus();
    else grid.focusNear();
}

const controls = "button, input, select, textarea, a[href]";
const isUsable = element => element.isConnected && element.checkVisibility({ visibilityProperty: true })
    && !element.matches(":disabled");
