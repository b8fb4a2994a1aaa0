// Formats sizes, rates, times and names as pipectl does.

const tenths = value => (Math.round(value * 10) / 10).toFixed(1);

/** Formats a size: `820 B`, `4.1 MB`. */
export function bytes(count) {
    let value = count, unit = "B";
    for (const larger of ["kB", "MB", "GB", "TB"]) {
        if (value < 1000) break;
        value /= 1000;
        unit = larger;
    }
    return unit === "B" || value >= 100 ? `${Math.round(value)} ${unit}` : `${tenths(value)} ${unit}`;
}

/** Formats a number of pixels: `12.1 MP`. */
function pixels(count) {
    const millions = count / 1e6;
    if (millions < 1) return `${Math.floor(count / 1000)} kP`;
    return millions >= 100 ? `${Math.round(millions)} MP` : `${tenths(millions)} MP`;
}

/** Formats a rate per second as `34/min`, or as `20/h` if it is below one per minute. */
export function perMinute(rate) {
    const minute = rate * 60;
    if (minute >= 10) return `${Math.round(minute)}/min`;
    return minute >= 1 ? `${tenths(minute)}/min` : `${Math.round(minute * 60)}/h`;
}

/** Formats a time: `35 ms`, `2.4 s`. */
export function milliseconds(count) {
    if (count < 10) return `${tenths(count)} ms`;
    if (count < 1000) return `${Math.round(count)} ms`;
    return count < 60_000 ? `${tenths(count / 1000)} s` : duration(count / 1000);
}

/** Formats a duration in at most its two largest units: `3 h 12 min`. */
export function duration(seconds) {
    const whole = Math.round(Math.max(0, seconds));
    const [minutes, hours, days] = [Math.floor(whole / 60), Math.floor(whole / 3600), Math.floor(whole / 86400)];
    if (days > 0) return `${days} d ${hours % 24} h`;
    if (hours > 0) return `${hours} h ${minutes % 60} min`;
    if (minutes > 0) return minutes < 10 ? `${minutes} min ${whole % 60} s` : `${minutes} min`;
    return `${whole} s`;
}

/** Formats a count with its noun: `1 job`, `3 jobs`. */
export const counted = (count, word) => `${number(count)} ${word}${count === 1 ? "" : "s"}`;

/** Formats a count with narrow spaces between its thousands. */
export const number = count => String(count).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");

const two = value => String(value).padStart(2, "0");

/** Formats a date in the user's time zone: `2026-03-01`. */
export function day(text) {
    const date = new Date(text);
    return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

const clock = date => `${two(date.getHours())}:${two(date.getMinutes())}`;

/** Formats a time as `14:03:22`, or as `2026-03-01 14:03` if it is not today. */
export function local(text) {
    const date = new Date(text);
    if (day(text) === day(Date.now())) return `${clock(date)}:${two(date.getSeconds())}`;
    return `${day(text)} ${clock(date)}`;
}

/** Formats a date and time: `2026-03-01 14:03:22`. */
export function full(text) {
    const date = new Date(text);
    return `${day(text)} ${clock(date)}:${two(date.getSeconds())}`;
}

/** Formats a picture's dimensions: `480 × 270`, or `480 × 270 × 24` with the number of frames or pages. */
export const dimensions = picture =>
    `${picture.width} × ${picture.height}` + (picture.pages > 1 ? ` × ${picture.pages}` : "");

/** The job's displayed name: its path in the inbox, or the host and path of its URL. */
export const nameOf = job => job.url ? job.url.replace(/^[^:]*:\/\//, "").replace(/[?#].*$/, "") : job.input;

/** The last part of the job's name, which is shown below its picture. */
export const shortName = job => {
    const name = nameOf(job);
    return name.replace(/\/+$/, "").split("/").pop() || name;
};

/** The last part of a path: `noir.jpg`. */
export const fileName = path => path.split("/").pop();

export const unended = ["waiting", "queued", "running", "cancelling"];
export const states = [...unended, "done", "failed", "cancelled"];

/** Formats the counts of all states: `19 done, 1 failed`. */
export const counts = jobs =>
    states.filter(state => jobs[state] > 0).map(state => `${number(jobs[state])} ${state}`).join(", ");

export const sum = (jobs, some = states) => some.reduce((all, state) => all + (jobs[state] ?? 0), 0);

export const titleOf = batch => `batch ${batch.id}` + (batch.name ? ` ${batch.name}` : "");

/** Formats a job's progress: `38 % of 4.1 MB, 1.2 MB/s, 2 s left`. */
export function progress(value) {
    const amount = count => value.unit === "bytes" ? bytes(count) : value.unit === "pixels" ? pixels(count) : `${count}`;
    const share = value.fraction !== null && value.total !== null
        ? `${Math.floor(value.fraction * 100)} % of ${amount(value.total)}` : amount(value.done);
    const rate = value.rate !== null ? `${amount(Math.round(value.rate))}/s` : null;
    return [share, rate, left(value)].filter(Boolean).join(", ");
}

/** Formats the remaining time. It is at least one second, because the work is not finished yet. */
export const left = value => value.remaining === null ? null : `${duration(Math.max(1, value.remaining))} left`;
