// Stores IDs as runs of consecutive IDs. A view of 100,000 jobs therefore needs only a few numbers, and the position of
// every ID is exact.

export class Ranges {
    /** The runs as pairs [first, last], in ascending order. */
    #runs;
    /** The number of IDs before each run. */
    #before = null;
    #count = 0;

    constructor(ranges = []) {
        this.#runs = ranges.map(({ first, last }) => [first, last]);
    }

    get count() {
        this.#measure();
        return this.#count;
    }

    /** Returns the ID at a position. Position 0 is the newest (highest) ID. */
    at(position) {
        this.#measure();
        const wanted = this.#count - 1 - position;
        let low = 0, high = this.#runs.length - 1;
        while (low < high) {
            const middle = (low + high + 1) >> 1;
            if (this.#before[middle] <= wanted) low = middle;
            else high = middle - 1;
        }
        return this.#runs[low][0] + wanted - this.#before[low];
    }

    /** Returns an ID's position, which is the number of higher IDs. A missing ID has the next lower ID's position. */
    position(id) {
        this.#measure();
        const run = this.#find(id);
        if (run === this.#runs.length) return 0;
        const [first] = this.#runs[run];
        return this.#count - this.#before[run] - (id >= first ? id - first + 1 : 0);
    }

    has(id) {
        const run = this.#runs[this.#find(id)];
        return run !== undefined && run[0] <= id;
    }

    /** Adds an ID, and returns whether it was missing before. */
    add(id) {
        if (this.has(id)) return false;
        const place = this.#find(id);
        const [lower, upper] = [this.#runs[place - 1], this.#runs[place]];
        const joinsLower = lower?.[1] === id - 1, joinsUpper = upper?.[0] === id + 1;
        if (joinsLower && joinsUpper) {
            lower[1] = upper[1];
            this.#runs.splice(place, 1);
        } else if (joinsLower) {
            lower[1] = id;
        } else if (joinsUpper) {
            upper[0] = id;
        } else {
            this.#runs.splice(place, 0, [id, id]);
        }
        this.#before = null;
        return true;
    }

    remove(id) {
        if (!this.has(id)) return false;
        const place = this.#find(id);
        const [first, last] = this.#runs[place];
        const rest = [[first, id - 1], [id + 1, last]].filter(([from, to]) => from <= to);
        this.#runs.splice(place, 1, ...rest);
        this.#before = null;
        return true;
    }

    /** Removes all IDs of `others`. */
    subtract(others) {
        const result = [];
        let theirs = 0;
        for (let [first, last] of this.#runs) {
            while (theirs < others.#runs.length && others.#runs[theirs][1] < first) theirs += 1;
            for (let other = theirs; other < others.#runs.length && others.#runs[other][0] <= last; other += 1) {
                const [from, to] = others.#runs[other];
                if (from > first) result.push([first, from - 1]);
                first = to + 1;
            }
            if (first <= last) result.push([first, last]);
        }
        this.#runs = result;
        this.#before = null;
    }

    /** Returns the index of the first run whose last ID is not lower than this ID. */
    #find(id) {
        let low = 0, high = this.#runs.length;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (this.#runs[middle][1] < id) low = middle + 1;
            else high = middle;
        }
        return low;
    }

    #measure() {
        if (this.#before) return;
        let count = 0;
        this.#before = this.#runs.map(([first, last]) => {
            const before = count;
            count += last - first + 1;
            return before;
        });
        this.#count = count;
    }
}
