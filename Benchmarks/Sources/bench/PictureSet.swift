import Foundation

/// Pictures of one format and size, derived from the photograph. pictures.py makes them, and knows their names.
struct PictureSet {
    var name: String
    var suffix: String
    var width: Int
    var height: Int
    var count: Int

    static let jpeg12 = PictureSet(name: "jpeg-12", suffix: "jpg", width: 4000, height: 3000, count: 8)
    static let jpeg24 = PictureSet(name: "jpeg-24", suffix: "jpg", width: 6000, height: 4000, count: 4)
    static let jpeg128 = PictureSet(name: "jpeg-128", suffix: "jpg", width: 16000, height: 8000, count: 1)
    static let progressive12 = PictureSet(name: "progressive-12", suffix: "jpg", width: 4000, height: 3000, count: 4)
    static let gainMap12 = PictureSet(name: "hdr-12", suffix: "jpg", width: 4000, height: 3000, count: 4)
    static let png12 = PictureSet(name: "png-12", suffix: "png", width: 4000, height: 3000, count: 4)
    static let webp12 = PictureSet(name: "webp-12", suffix: "webp", width: 4000, height: 3000, count: 4)
    static let heic12 = PictureSet(name: "heic-12", suffix: "heic", width: 4000, height: 3000, count: 4)
    static let progressive24 = PictureSet(name: "progressive-24", suffix: "jpg", width: 6000, height: 4000, count: 2)
    static let png24 = PictureSet(name: "png-24", suffix: "png", width: 6000, height: 4000, count: 2)
    static let webp24 = PictureSet(name: "webp-24", suffix: "webp", width: 6000, height: 4000, count: 2)
    static let heic24 = PictureSet(name: "heic-24", suffix: "heic", width: 6000, height: 4000, count: 2)
    /// Pictures of about 1 KB, and of about 10 KB.
    static let tiny = PictureSet(name: "jpeg-tiny", suffix: "jpg", width: 24, height: 18, count: 8)
    static let small = PictureSet(name: "jpeg-small", suffix: "jpg", width: 296, height: 222, count: 8)

    /// The set's name for pictures.py.
    var order: String { "\(name)-\(count)" }

    /// Returns `number` paths; repeats the set's pictures if it has fewer.
    func files(_ number: Int, in folder: String) -> [String] {
        (0..<number).map { "\(folder)/\(name)/\(Text.padded($0 % count, 3)).\(suffix)" }
    }
}
