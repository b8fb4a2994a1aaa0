import Glibc
import SystemCalls
import WorkerProtocol

extension EXIF {
    /// The EXIF block in the form in which libvips stores it in `exif-data`.
    var block: [UInt8] {
        let header = 8
        let order: [UInt8] = Array((form.isBigEndian ? "MM" : "II").utf8)
        let plain = TIFFForm(isBigEndian: form.isBigEndian, isBig: false)
        let (bytes, first) = directories(at: header, in: plain, joining: [], next: 0)
        return Self.prefix + order + plain.bytes(42, 2) + plain.bytes(first, 4) + bytes
    }

    /// Adds EXIF to a TIFF, because libvips omits it. Also adds the complete IPTC, because libvips writes only a
    /// quarter of it.
    static func complete(_ target: Descriptor, of picture: Picture) throws {
        let exif = picture.blob("exif-data").flatMap(EXIF.init(block:))?.sized(picture.width, picture.height)
        let iptc = picture.blob("iptc-data").map {
            Entry(tag: iptcTag, type: 7, count: $0.count, value: .bytes($0))
        }
        guard exif != nil || iptc != nil else { return }
        try (exif ?? EXIF(TIFFForm(isBigEndian: false, isBig: false))).add(to: target, replacing: iptc)
    }

    /// Appends a copy of the first directory with EXIF's entries added, and makes the header point to the copy. Keeps
    /// the file's own entries, but `entry` replaces an entry with the same tag.
    private func add(to target: Descriptor, replacing entry: Entry?) throws {
        guard let directory = TIFFDirectory(SourceBytes.file(target, called: "the result").exactly) else {
            return
        }
        let form = directory.form
        let own = directory.entries.filter { $0.key != entry?.tag }.map { tag, entry in
            let value = entry.isInline ? directory.value(tag, most: form.placeSize).map(Value.bytes) : nil
            return Entry(tag: tag, type: entry.type, count: entry.count, value: value ?? .place(entry.offset))
        }
        // Directories begin at even offsets.
        let size = Int(try target.status().st_size)
        let start = size + size % 2
        var added = swapped(to: form)
        added.main.removeAll { directory.has($0.tag) }
        if let entry { added.main.append(entry) }
        let (bytes, first) = added.directories(at: start, in: form, joining: own, next: directory.next)
        // A classic TIFF has offsets of 32 bits.
        guard form.isBig || start + bytes.count <= Int(UInt32.max) else { return }
        try Self.write(bytes, to: target, at: start)
        try Self.write(form.bytes(first, form.placeSize), to: target, at: form.firstPlace)
    }

    private static func write(_ bytes: [UInt8], to target: Descriptor, at start: Int) throws {
        var written = 0
        while written < bytes.count {
            let count = uninterrupted {
                bytes[written...].withUnsafeBytes {
                    pwrite(target.number, $0.baseAddress, $0.count, off_t(start + written))
                }
            }
            guard count >= 0 else { throw WorkerFailure(writing: errno) }
            written += count
        }
    }

    /// Serialises all directories. The first directory comes last in the bytes, because it contains the offsets of the
    /// other directories. `first` is the offset of the first directory.
    private func directories(
        at start: Int, in form: TIFFForm, joining own: [Entry], next: Int
    ) -> (bytes: [UInt8], first: Int) {
        var bytes: [UInt8] = []
        func pointer(_ tag: Int, to entries: [Entry]) -> [Entry] {
            guard !entries.isEmpty else { return [] }
            let at = Self.append(entries, next: 0, to: &bytes, at: start, form)
            return [Entry(tag: tag, type: 4, count: 1, value: .bytes(form.bytes(at, 4)))]
        }
        let photo = pointer(Self.photoTag, to: photo + pointer(Self.exchangeTag, to: exchange))
        let place = pointer(Self.placeTag, to: place)
        let first = Self.append(own + main + photo + place, next: next, to: &bytes, at: start, form)
        return (bytes, first)
    }

    /// Appends the values that don't fit into entries, then the directory. Returns the offset of the directory.
    private static func append(
        _ entries: [Entry], next: Int, to bytes: inout [UInt8], at start: Int, _ form: TIFFForm
    ) -> Int {
        var table = form.bytes(entries.count, form.countSize)
        for entry in entries.sorted(by: { $0.tag < $1.tag }) {
            table += form.bytes(entry.tag, 2) + form.bytes(entry.type, 2) + form.bytes(entry.count, form.placeSize)
            switch entry.value {
            case .place(let place): table += form.bytes(place, form.placeSize)
            case .bytes(let value) where value.count <= form.placeSize:
                table += value + Array(repeating: 0, count: form.placeSize - value.count)
            case .bytes(let value):
                table += form.bytes(start + bytes.count, form.placeSize)
                bytes += value + (value.count % 2 == 1 ? [0] : [])
            }
        }
        defer { bytes += table + form.bytes(next, form.placeSize) }
        return start + bytes.count
    }

    /// The same EXIF in another file's byte order.
    private func swapped(to form: TIFFForm) -> EXIF {
        guard form.isBigEndian != self.form.isBigEndian else { return self }
        func swapped(_ entries: [Entry]) -> [Entry] {
            entries.map { entry in
                let unit = TIFFForm.unit(of: entry.type)
                guard unit > 1, case .bytes(let value) = entry.value else { return entry }
                var result = entry
                let numbers = stride(from: 0, to: value.count, by: unit).map { value[$0..<min($0 + unit, value.count)] }
                result.value = .bytes(numbers.flatMap { $0.reversed() })
                return result
            }
        }
        var result = self
        (result.main, result.photo) = (swapped(main), swapped(photo))
        (result.place, result.exchange) = (swapped(place), swapped(exchange))
        return result
    }
}

extension EXIF {
    /// Sets EXIF's own tags for the size of the picture.
    static func setSize(in bytes: inout [UInt8], from start: Int, _ width: Int, _ height: Int) {
        guard let directory = TIFFDirectory(in: bytes[start...]),
            let photo = directory.numbers(photoTag).first.flatMap(directory.directory)
        else { return }
        for (tag, size) in [(0xa002, width), (0xa003, height)] {
            guard let entry = photo.entries[tag], entry.isInline, entry.count == 1, [3, 4].contains(entry.type) else {
                continue
            }
            let value = directory.form.bytes(size, TIFFForm.size(of: entry.type))
            bytes.replaceSubrange(start + entry.offset..<start + entry.offset + value.count, with: value)
        }
    }

    /// Returns a copy of the block with another picture size. The block may begin with `prefix`.
    static func sized(_ block: [UInt8], _ width: Int, _ height: Int) -> [UInt8] {
        var block = block
        setSize(in: &block, from: block.starts(with: prefix) ? prefix.count : 0, width, height)
        return block
    }
}
