// Owns the dialogs: confirmations of actions that can't be undone, and panels over the page.

import { make } from "./dom.js";

/** Shows a panel over the page. The panel's button, the Escape key and a press outside the panel close the panel. */
export function panel(kind, title, ...children) {
    const heading = make("h2", { textContent: title, id: `${kind}-title` });
    const close = make("button.close", { type: "button", textContent: "×", "aria-label": "Close", title: "Close (Escape)" });
    const dialog = make(`dialog.panel.${kind}`, { "aria-labelledby": heading.id },
        make("div.panel-top", null, heading, close), ...children);
    close.onclick = () => dialog.close();
    dialog.addEventListener("pointerdown", event => {
        if (event.target !== dialog) return;
        const box = dialog.getBoundingClientRect();
        const isInside = event.clientX >= box.left && event.clientX <= box.right
            && event.clientY >= box.top && event.clientY <= box.bottom;
        if (!isInside) dialog.close();
    });
    document.body.append(dialog);
    return dialog;
}

/** Asks the user for confirmation. Resolves to whether the user agrees. */
export function ask(question, detail, yes) {
    return new Promise(answer => {
        const dialog = panel("ask", question, make("p", { textContent: detail }),
            make("div.acts", null,
                make("button.framed", { type: "button", textContent: "Leave it", onclick: () => dialog.close() }),
                make("button.framed.strong", { type: "button", textContent: yes, onclick: () => dialog.close("yes") })));
        dialog.onclose = () => {
            dialog.remove();
            answer(dialog.returnValue === "yes");
        };
        dialog.showModal();
    });
}
