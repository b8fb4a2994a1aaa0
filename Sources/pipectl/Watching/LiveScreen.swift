/// Redraws a block of text in place while other lines scroll by above it. This code calls the block the picture. The
/// cursor stays below the picture, so that the picture remains intact even if the program is killed.
struct LiveScreen {
    private static let hideCursor = "\u{1b}[?25l"
    private static let showCursor = "\u{1b}[?25h"
    private static let clearBelow = "\u{1b}[J"

    let output: Output
    /// The widths of the lines on the screen.
    private var drawn: [Int] = []

    init(output: Output) { self.output = output }

    /// The usable width. The last column stays empty, because a full line would move the cursor to the next line.
    var width: Int { max(1, (output.columns ?? 80) - 1) }
    /// Maximum lines of the picture.
    var height: Int { max(1, output.rows - 1) }

    mutating func draw(above lines: [Text] = [], _ picture: [Text]) throws {
        let picture = picture.map { $0.shortened(to: width) }
        try output.raw(Self.hideCursor + rewind)
        try output.lines(lines)
        try output.lines(picture)
        try output.flush()
        drawn = picture.map(\.columns)
    }

    /// Replaces the picture with lines that remain on the screen.
    mutating func finish(_ lines: [Text]) throws {
        try draw(above: lines, [])
        try output.raw(Self.showCursor)
        try output.flush()
    }

    /// The escape sequences that move the cursor to the start of the picture and clear the screen from there. A line of
    /// the picture counts as several rows if the terminal has become narrower and has wrapped the line.
    private var rewind: String {
        let columns = width + 1
        let rows = drawn.reduce(0) { $0 + max(1, ($1 + columns - 1) / columns) }
        return (rows > 0 ? "\u{1b}[\(min(rows, height))A" : "") + "\r" + Self.clearBelow
    }
}
