// Sends calls to the daemon through the gallery, and turns every error into a Failure.

/** `message` describes the error. `parameters` are the error's details, such as the column in an invalid chain. */
export class Failure extends Error {
    constructor(message, { name = "", status = 0, parameters = {}, after = null } = {}) {
        super(message);
        Object.assign(this, { name: name.split(".").pop(), status, parameters, after });
    }
}

export const call = async (method, parameters = {}, signal) =>
    (await send(`/call/${method}`, parameters, signal)).json();

/** Posts `body` as JSON and returns the response, which may be a picture. */
export const send = (path, body, signal) =>
    request(path, {
        method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" }, signal,
    });

export async function request(path, options) {
    let response;
    try {
        response = await fetch(path, options);
    } catch (error) {
        if (error.name === "AbortError") throw error;
        throw new Failure("the gallery does not answer", { name: "Unreachable" });
    }
    if (response.ok) return response;
    throw failure(response.status, response.headers.get("Retry-After"), await response.text().catch(() => ""));
}

/** Makes a Failure from an answer's status and text. */
export function failure(status, after, text) {
    if (status === 401) return new Failure("this login has expired: `pipectl gallery` prints a new address", { status });
    try {
        const { error, message, parameters } = JSON.parse(text);
        return new Failure(message, { name: error, status, parameters, after });
    } catch {
        return new Failure(text.trim() || `the gallery answers with ${status}`, { status, after });
    }
}
