/// Measures for comparing two renders of the same picture.
extension Pixels {
    var luma: Pixels { map { [($0[0] * 299 + $0[1] * 587 + $0[2] * 114 + 500) / 1000] } }
    var turned: Pixels { Pixels(height, width) { self[$1, $0] } }

    /// Returns the distance, in a row, between the edge of the luma and the edge of the colours.
    func shift(inRow y: Int) -> Double {
        let row = (0..<width).map { self[$0, y] }
        func edge(_ value: ([Int]) -> Int) -> Double {
            let values = row.map { Double(value($0)) }
            let (first, last) = (values[4], values[width - 5])
            return values.map { ($0 - last) / (first - last) }.reduce(0, +)
        }
        return edge { $0[0] - $0[2] } - edge { $0[0] * 299 + $0[1] * 587 + $0[2] * 114 }
    }
}
