// Shows a picture pixel by pixel in its stage, and moves it within the stage's edges.

/** `stage` contains the layers. This class sets CSS properties, by which `large.css` places the images. */
export class Zoom {
    #stage;
    /** The picture's size in CSS pixels while it is zoomed; otherwise null. */
    #size = null;
    #x = 0;
    #y = 0;

    constructor(stage) { this.#stage = stage; }

    get isOn() { return this.#size !== null; }

    /**
     * Shows a picture of this size in pixels, with the point (`x`, `y`) in the middle. `x` and `y` are fractions of the
     * picture's size.
     */
    begin({ width, height }, x, y) {
        this.#size = { width: width / devicePixelRatio, height: height / devicePixelRatio };
        const { clientWidth, clientHeight } = this.#stage;
        [this.#x, this.#y] = [clientWidth / 2 - x * this.#size.width, clientHeight / 2 - y * this.#size.height];
        this.move(0, 0);
    }

    end() { this.#size = null; }

    /** Moves the picture by CSS pixels. A picture that is smaller than the stage stays in the stage's middle. */
    move(x, y) {
        const within = (offset, room, length) => length <= room ? (room - length) / 2 : Math.min(0, Math.max(room - length, offset));
        const { clientWidth, clientHeight, style } = this.#stage;
        this.#x = within(this.#x + x, clientWidth, this.#size.width);
        this.#y = within(this.#y + y, clientHeight, this.#size.height);
        style.setProperty("--width", `${this.#size.width}px`);
        style.setProperty("--height", `${this.#size.height}px`);
        style.setProperty("--x", `${Math.round(this.#x)}px`);
        style.setProperty("--y", `${Math.round(this.#y)}px`);
    }
}
