import PipelineModel

extension SupervisorMessage: PackedMessage {
    func pack() -> Packer? {
        switch self {
        case .open(let request):
            // A request with outputs that are new to the worker is sent as JSON.
            guard request.outputs == nil else { return nil }
            var packer = Packer(1)
            packer.add(request.name)
            packer.add(request.maxPixels)
            packer.add(request.maxTexts)
            packer.add(request.onTruncated.rawValue)
            packer.add(request.raw.rawValue)
            packer.add(request.filterLines)
            packer.add(request.grant != nil)
            packer.add(request.grant ?? 0)
            return packer
        case .render: return Packer(2)
        case .cancel: return Packer(3)
        // Sent as JSON, because sheets are rare, and their messages are long anyway.
        case .compose: return nil
        }
    }

    init(_ packed: inout Unpacker) throws(PackedMessageError) {
        switch packed.kind {
        case 1:
            let (name, maxPixels, maxTexts) = (try packed.text(), try packed.number(), try packed.number())
            guard let onTruncated = TruncatedPolicy(rawValue: try packed.text()),
                let raw = RawPolicy(rawValue: try packed.text())
            else { throw PackedMessageError() }
            let lines = try packed.integer()
            let (isGranted, grant) = (try packed.flag(), try packed.number())
            self = .open(
                OpenRequest(
                    name: name, outputs: nil, maxPixels: maxPixels, maxTexts: maxTexts, onTruncated: onTruncated,
                    raw: raw, filterLines: lines, grant: isGranted ? grant : nil))
        case 2: self = .render
        case 3: self = .cancel
        default: throw PackedMessageError()
        }
    }
}

extension WorkerMessage: PackedMessage {
    func pack() -> Packer? {
        var packer: Packer
        switch self {
        // Sent as JSON, because facts are rare: only recipes with conditions ask for them.
        case .opened(let header) where header.facts != nil: return nil
        case .opened(let header):
            packer = Packer(1)
            header.pack(into: &packer)
        case .rendering(let header):
            packer = Packer(2)
            header.pack(into: &packer)
        case .rendered(let outputs):
            packer = Packer(3)
            packer.add(outputs) { $1.pack(into: &$0) }
        case .made(let header, let outputs):
            packer = Packer(4)
            header.pack(into: &packer)
            packer.add(outputs) { $1.pack(into: &$0) }
        case .progress(let done, let total):
            packer = Packer(5)
            packer.add(done)
            packer.add(total)
        case .loading, .hello, .failed, .cancelled, .said, .crashed: return nil
        }
        return packer
    }

    init(_ packed: inout Unpacker) throws(PackedMessageError) {
        switch packed.kind {
        case 1: self = .opened(try PictureHeader(&packed))
        case 2: self = .rendering(try PictureHeader(&packed))
        case 3: self = .rendered(try packed.list(RenderedOutput.init))
        case 4:
            let header = try PictureHeader(&packed)
            self = .made(header, try packed.list(RenderedOutput.init))
        case 5:
            let done = try packed.number()
            self = .progress(done: done, total: try packed.number())
        default: throw PackedMessageError()
        }
    }
}

extension PictureHeader {
    func pack(into packer: inout Packer) {
        packer.add(format)
        for number in [width, height, bands, bitsPerSample, pages, orientation] { packer.add(number) }
        packer.add(profile)
        packer.add(progressive)
        packer.add(decoderPaths) { $0.add($1) }
        packer.add(framesTaken) { $0.add($1) }
        packer.add(memory)
        packer.add(taken != nil)
        taken?.pack(into: &packer)
        packer.add(gainMap)
        packer.add(gainMapPlans) { $0.add($1) }
    }

    init(_ packed: inout Unpacker) throws(PackedMessageError) {
        format = try packed.text()
        width = try packed.integer()
        height = try packed.integer()
        bands = try packed.integer()
        bitsPerSample = try packed.integer()
        pages = try packed.integer()
        orientation = try packed.integer()
        profile = try packed.optionalText()
        progressive = try packed.flag()
        decoderPaths = try packed.list { (packed: inout Unpacker) throws(PackedMessageError) in try packed.text() }
        framesTaken = try packed.list { (packed: inout Unpacker) throws(PackedMessageError) in try packed.integer() }
        memory = try packed.number()
        if try packed.flag() { taken = try PictureDate(&packed) }
        gainMap = try packed.optionalText()
        gainMapPlans = try packed.list { (packed: inout Unpacker) throws(PackedMessageError) in try packed.text() }
    }
}

extension PictureDate {
    func pack(into packer: inout Packer) {
        packer.add(source.rawValue)
        for number in [year, month, day, hour, minute, second] { packer.add(number) }
    }

    init(_ packed: inout Unpacker) throws(PackedMessageError) {
        let source = Source(rawValue: try packed.text())
        let (year, month, day) = (try packed.integer(), try packed.integer(), try packed.integer())
        let (hour, minute, second) = (try packed.integer(), try packed.integer(), try packed.integer())
        // Checks the values, because a worker that has read a hostile file may send anything.
        guard let source,
            let date = PictureDate(
                year: year, month: month, day: day, hour: hour, minute: minute, second: second, source: source)
        else { throw PackedMessageError() }
        self = date
    }
}

extension RenderedOutput {
    func pack(into packer: inout Packer) {
        packer.add(format)
        for number in [width, height, pages ?? 1, bands] { packer.add(number) }
        packer.add(bytes)
        packer.add(hash)
        packer.add(lost != nil)
        if let lost { packer.add(lost) { $0.add($1) } }
        packer.add(dropped ?? []) { $0.add($1) }
        packer.add(gainMap)
    }

    init(_ packed: inout Unpacker) throws(PackedMessageError) {
        self.init(
            format: try packed.text(), width: try packed.integer(), height: try packed.integer(),
            pages: try packed.integer(), bands: try packed.integer(), bytes: try packed.number())
        hash = try packed.optionalText()
        if try packed.flag() { lost = try Self.texts(&packed) }
        let dropped = try Self.texts(&packed)
        self.dropped = dropped.isEmpty ? nil : dropped
        gainMap = try packed.optionalText()
    }

    private static func texts(_ packed: inout Unpacker) throws(PackedMessageError) -> [String] {
        try packed.list { (packed: inout Unpacker) throws(PackedMessageError) in try packed.text() }
    }
}
