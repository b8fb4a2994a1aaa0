/// A fact that a condition can compare.
enum Fact: String, CaseIterable {
    case rating, label, keyword, orientation, format, width, height, edge, megapixels, pages, hdr, camera, lens, iso,
        date,
        folder, name

    /// The values that the fact can have.
    enum Kind: Equatable {
        case number
        case word([String])
        /// Any text. The value in a condition is a pattern, which may have wildcards.
        case text
        case date
    }

    enum Value {
        case number(Double)
        /// One or several texts.
        case texts([String])
    }

    var kind: Kind {
        switch self {
        case .rating, .width, .height, .edge, .megapixels, .pages, .iso: .number
        case .orientation: .word(["landscape", "portrait", "square"])
        case .format: .word(["jpeg", "png", "webp", "tiff", "gif", "heif", "avif", "bmp", "raw"])
        case .hdr: .word(["yes", "no"])
        case .label, .keyword, .camera, .lens, .folder, .name: .text
        case .date: .date
        }
    }

    /// Returns nil if the picture does not have the fact.
    func value(_ facts: PictureFacts, _ place: PicturePlace) -> Value? {
        func texts(_ text: String?) -> Value? { text.map { .texts([$0]) } }
        func number(_ number: Int?) -> Value? { number.map { .number(Double($0)) } }
        switch self {
        case .rating: return number(facts.rating)
        case .width: return number(facts.width)
        case .height: return number(facts.height)
        case .edge: return number(max(facts.width, facts.height))
        case .megapixels: return .number(Double(facts.width) * Double(facts.height) / 1_000_000)
        case .pages: return number(facts.pages)
        case .iso: return number(facts.iso)
        case .orientation:
            let isSquare = facts.width == facts.height
            return texts(isSquare ? "square" : facts.width > facts.height ? "landscape" : "portrait")
        case .format: return texts(facts.format)
        case .hdr: return texts(facts.isHDR ? "yes" : "no")
        case .label: return texts(facts.label)
        case .keyword: return facts.keywords.isEmpty ? nil : .texts(facts.keywords)
        case .camera: return texts(facts.camera)
        case .lens: return texts(facts.lens)
        case .date: return texts(facts.date?.dayText)
        case .folder: return texts(place.folder)
        case .name: return texts(place.name)
        }
    }
}
