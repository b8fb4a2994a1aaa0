import CVips

extension Picture {
    /// EXIF orientation, 1 to 8.
    var orientation: Int {
        let value = integer("orientation") ?? 1
        return (1...8).contains(value) ? value : 1
    }

    /// Orientation 2, a horizontal mirror image, streams row by row; all higher orientations need the whole picture in
    /// memory.
    static func needsMemory(toTurn orientation: Int) -> Bool { orientation > 2 }

    /// The upright picture, without the orientation tag, so that no reader rotates it again.
    func upright(_ cancellation: Cancellation) throws -> Picture {
        guard orientation > 1 else { return self }
        let source = Self.needsMemory(toTurn: orientation) ? try inMemory(cancellation) : self
        return try source.then { cvips_autorot($0, $1) }
    }
}
