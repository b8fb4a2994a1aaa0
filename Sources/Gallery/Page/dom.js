// Makes elements. Data enters the page as text and as properties, never as HTML.

/**
 * Makes an element: `make("p.note", { hidden: true, onclick: f }, "words", child, …)`. Keys set properties. Keys with a hyphen,
 * `role`, `for` and `list` set attributes.
 */
export function make(kind, properties, ...children) {
    const [tag, ...classes] = kind.split(".");
    const element = document.createElement(tag || "div");
    if (classes.length) element.className = classes.join(" ");
    set(element, properties);
    element.append(...children.filter(child => child !== null && child !== undefined && child !== false));
    return element;
}

export function set(element, properties) {
    for (const [key, value] of Object.entries(properties ?? {})) {
        if (key.includes("-") || key === "role" || key === "for" || key === "list") {
            if (value === null || value === undefined) element.removeAttribute(key);
            else element.setAttribute(key, value);
        } else if (key === "textContent") {
            write(element, value);
        } else {
            element[key] = value;
        }
    }
    return element;
}

/** Makes the button open the panel below the button. The panel is at most `width` wide. */
export function below(button, panel, width) {
    button.popoverTargetElement = panel;
    button.setAttribute("aria-haspopup", "dialog");
    panel.addEventListener("beforetoggle", event => {
        if (event.newState !== "open") return;
        const box = button.getBoundingClientRect();
        panel.style.left = `${Math.max(8, Math.min(box.left, innerWidth - width - 8))}px`;
        panel.style.top = `${box.bottom + 4}px`;
    });
}

export const byID = id => document.getElementById(id);

/** Sets the text only if it differs, because a new text would disturb the user's selection and screen readers. */
export function write(element, text) {
    if (element.textContent !== text) element.textContent = text;
}

/**
 * Keeps one child for each item, identified by the item's key. Moves as few children as possible, so that the focus is kept.
 * `create(item)` makes a child, and `update(child, item)` updates it.
 */
export function keep(parent, items, key, create, update) {
    const old = new Map([...parent.children].map(child => [child.dataset.key, child]));
    let next = parent.firstElementChild;
    for (const item of items) {
        const name = String(key(item));
        let child = old.get(name);
        old.delete(name);
        if (!child) {
            child = create(item);
            child.dataset.key = name;
        }
        update?.(child, item);
        if (child === next) next = next.nextElementSibling;
        else parent.insertBefore(child, next);
    }
    for (const child of old.values()) child.remove();
}
