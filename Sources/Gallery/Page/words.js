// Writes sizes, rates, times and names as pipectl does.

const tenths = value => (Math.round(value * 10) / 10).toFixed(1);

/** `820 B`, `4.1 MB` */
export function bytes(count) {
    let value = count, unit = "B";
    for (const larger of ["kB", "MB", "GB", "TB"]) {
        if (value < 1000) break;
        value /= 1000;
        unit = larger;
    }
    return unit === "B" || value >= 100 ? `${Math.round(value)} ${unit}` : `${tenths(value)} ${unit}`;
}

/** `12.1 MP` */
function pixels(count) {
    const millions = count / 1e6;
    if (millions < 1) return `${Math.floor(count / 1000)} kP`;
    return millions >= 100 ? `${Math.round(millions)} MP` : `${tenths(millions)} MP`;
}

/** A rate per second, shown as `34/min`, or as `20/h` if it is below one per minute. */
export function perMinute(rate) {
    const minute = rate * 60;
    if (minute >= 10) return `${Math.round(minute)}/min`;
    return minute >= 1 ? `${tenths(minute)}/min` : `${Math.round(minute * 60)}/h`;
}

/** `35 ms`, `2.4 s` */
export function milliseconds(count) {
    if (count < 10) return `${tenths(count)} ms`;
    if (count < 1000) return `${Math.round(count)} ms`;
    return count < 60_000 ? `${tenths(count / 1000)} s` : duration(count / 1000);
}

/** At most the two largest units: `3 h 12 min`. */
export function duration(seconds) {
    const whole = Math.round(Math.max(0, seconds));
    const [minutes, hours, days] = [Math.floor(whole / 60), Math.floor(whole / 3600), Math.floor(whole / 86400)];
    if (days > 0) return `${days} d ${hours % 24} h`;
    if (hours > 0) return `${hours} h ${minutes % 60} min`;
    if (minutes > 0) return minutes < 10 ? `${minutes} min ${whole % 60} s` : `${minutes} min`;
    return `${whole} s`;
}

/** `1 job`, `3 jobs` */
export const counted = (count, word) => `${number(count)} ${word}${count === 1 ? "" : "s"}`;

/** A count with narrow spaces between its thousands, for lines with several counts. */
export const number = count => String(count).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");

const two = value => String(value).padStart(2, "0");

/** `2026-03-01`, in the reader's own zone. */
export function day(text) {
    const date = new Date(text);
    return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

const clock = date => `${two(date.getHours())}:${two(date.getMinutes())}`;

/** `14:03:22`, or `2026-03-01 14:03` if it is not today. */
export function local(text) {
    const date = new Date(text);
    if (day(text) === day(Date.now())) return `${clock(date)}:${two(date.getSeconds())}`;
    return `${day(text)} ${clock(date)}`;
}

/** `2026-03-01 14:03:22` */
export function full(text) {
    const date = new Date(text);
    return `${day(text)} ${clock(date)}:${two(date.getSeconds())}`;
}

/** `480 × 270 × 24`: frames or pages come last. */
export const dimensions = picture =>
    `${picture.width} × ${picture.height}` + (picture.pages > 1 ? ` × ${picture.pages}` : "");

/** The job's name for people: a path in the inbox, or host and path of its URL. */
export const nameOf = job => job.url ? job.url.replace(/^[^:]*:\/\//, "").replace(/[?#].*$/, "") : job.input;

/** The last part of the name, shown below a picture. */
export const shortName = job => {
    const name = nameOf(job);
    return name.replace(/\/+$/, "").split("/").pop() || name;
};

/** `noir.jpg` of a path */
export const fileName = path => path.split("/").pop();

export const unended = ["waiting", "queued", "running", "cancelling"];
export const states = [...unended, "done", "failed", "cancelled"];

/** `19 done, 1 failed` */
export const counts = jobs =>
    states.filter(state => jobs[state] > 0).map(state => `${number(jobs[state])} ${state}`).join(", ");

export const sum = (jobs, some = states) => some.reduce((all, state) => all + (jobs[state] ?? 0), 0);

export const titleOf = batch => `batch ${batch.id}` + (batch.name ? ` ${batch.name}` : "");

/** `38 % of 4.1 MB, 1.2 MB/s, 2 s left` */
export function progress(value) {
    const amount = count => value.unit === "bytes" ? bytes(count) : value.unit === "pixels" ? pixels(count) : `${count}`;
    const share = value.fraction !== null && value.total !== null
        ? `${Math.floor(value.fraction * 100)} % of ${amount(value.total)}` : amount(value.done);
    const rate = value.rate !== null ? `${amount(Math.round(value.rate))}/s` : null;
    return [share, rate, left(value)].filter(Boolean).join(", ");
}

/** The remaining time. It is at least a second, because the work is not done yet. */
export const left = value => value.remaining === null ? null : `${duration(Math.max(1, value.remaining))} left`;
