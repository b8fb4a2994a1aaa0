import CWebP

/// Decodes a lossy WebP to the planes that it stores, and encodes planes as a WebP, without converting colours.
enum WebPPlanes {
    /// Whether the file is a lossy still picture without alpha; only such a WebP is decoded to planes. Nil when the
    /// header extends beyond these bytes.
    static func isPossible(_ start: [UInt8]) -> Bool? {
        guard let features = features(start) else { return nil }
        let isLossy = features.format == 1
        return isLossy && features.has_alpha == 0 && features.has_animation == 0
    }

    /// Nil when the file is truncated or unusual in any other way; libvips then decodes it. Shrinks by averaging,
    /// because libwebp's own rescaler is ten times as slow, and scales chroma even if only luma is needed. Averaging
    /// also smooths the edges of blocks, so libwebp's filter is bypassed, which saves a tenth of the decoding time.
    /// Compared with a filtered result, the PSNR is 48 dB at quality 85, and 41 dB at quality 10.
    static func decode(_ bytes: [UInt8], shrink: Int, withColours: Bool) -> Planes? {
        var config = WebPDecoderConfig()
        guard WebPInitDecoderConfig(&config) != 0, let features = features(bytes) else { return nil }
        let (width, height) = (Int(features.width), Int(features.height))
        let size = Planes.Subsampling.quarter.size(width, height)
        // libwebp decodes chroma even if only luma is needed.
        guard let luma = Plane(width, height), let blue = Plane(size.width, size.height),
            let red = Plane(size.width, size.height)
        else { return nil }
        config.output.colorspace = MODE_YUV
        config.output.is_external_memory = 1
        config.output.u.YUVA = WebPYUVABuffer(
            y: luma.bytes, u: blue.bytes, v: red.bytes, a: nil, y_stride: Int32(luma.stride),
            u_stride: Int32(blue.stride), v_stride: Int32(red.stride), a_stride: 0, y_size: luma.count,
            u_size: blue.count, v_size: red.count, a_size: 0)
        config.options.bypass_filtering = shrink > 1 ? 1 : 0
        let status = withExtendedLifetime((luma, blue, red)) { WebPDecode(bytes, bytes.count, &config) }
        WebPFreeDecBuffer(&config.output)
        guard status == VP8_STATUS_OK, let small = luma.averaged(shrink) else { return nil }
        let colours = withColours ? [blue, red].compactMap { $0.averaged(shrink) } : []
        guard colours.count == (withColours ? 2 : 0) else { return nil }
        return Planes(
            luma: small, colours: colours, shared: withColours ? .quarter : .none, range: .limited,
            exactSize: (Double(width) / Double(shrink), Double(height) / Double(shrink)))
    }

    /// A WebP of limited-range planes with chroma subsampled 2 × 2; nil when they can't be encoded. Calls `reached`
    /// with the finished fraction; the encoder stops when `reached` returns false.
    static func encode(
        _ planes: Planes, quality: Int32, effort: Int32, reached: (Double) -> Bool
    ) -> [UInt8]? {
        var (config, picture, writer) = (WebPConfig(), WebPPicture(), WebPMemoryWriter())
        guard WebPConfigPreset(&config, WEBP_PRESET_DEFAULT, Float(quality)) != 0, WebPPictureInit(&picture) != 0
        else { return nil }
        config.method = effort
        guard let colours = planes.withColours?.colours else { return nil }
        (picture.width, picture.height) = (Int32(planes.width), Int32(planes.height))
        (picture.y, picture.u, picture.v) = (planes.luma.bytes, colours[0].bytes, colours[1].bytes)
        (picture.y_stride, picture.uv_stride) = (Int32(planes.luma.stride), Int32(colours[0].stride))
        WebPMemoryWriterInit(&writer)
        defer { WebPMemoryWriterClear(&writer) }
        picture.writer = WebPMemoryWrite
        picture.progress_hook = { percent, picture in
            guard let hook = picture?.pointee.user_data else { return 1 }
            return hook.assumingMemoryBound(to: ((Double) -> Bool).self).pointee(Double(percent) / 100) ? 1 : 0
        }
        let status = withoutActuallyEscaping(reached) { reached in
            var hook = reached
            return withUnsafeMutablePointer(to: &hook) { hook in
                withUnsafeMutablePointer(to: &writer) { writer in
                    picture.user_data = UnsafeMutableRawPointer(hook)
                    picture.custom_ptr = UnsafeMutableRawPointer(writer)
                    return withExtendedLifetime((planes, colours)) { WebPEncode(&config, &picture) }
                }
            }
        }
        guard status != 0, let bytes = writer.mem else { return nil }
        return Array(UnsafeBufferPointer(start: bytes, count: writer.size))
    }

    private static func features(_ bytes: [UInt8]) -> WebPBitstreamFeatures? {
        var features = WebPBitstreamFeatures()
        let status = WebPGetFeatures(bytes, bytes.count, &features)
        return status == VP8_STATUS_OK && features.width > 0 && features.height > 0 ? features : nil
    }
}

extension Plane {
    /// A chroma plane without any colour.
    convenience init?(grey size: (width: Int, height: Int)) {
        self.init(size.width, size.height)
        fill(128)
    }

    /// Averages each square of `side` pixels. A square that extends beyond an edge repeats the last pixels.
    fileprivate func averaged(_ side: Int) -> Plane? {
        guard side > 1 else { return self }
        guard let result = Plane((width + side - 1) / side, (height + side - 1) / side) else { return nil }
        // With a constant side the compiler unrolls the inner loops.
        switch side {
        case 2: average(2, into: result)
        case 4: average(4, into: result)
        default: average(side, into: result)
        }
        return result
    }

    /// Averages squares of 2 × 2 pixels from two rows, in whole vectors only. Returns the number of averaged squares.
    @inline(__always)
    private static func halve(
        _ upper: UnsafePointer<UInt8>, _ lower: UnsafePointer<UInt8>, into row: UnsafeMutablePointer<UInt8>,
        _ count: Int
    ) -> Int {
        func pairs(_ row: UnsafePointer<UInt8>, _ x: Int) -> SIMD16<UInt16> {
            let pixels = UnsafeRawPointer(row + 2 * x).loadUnaligned(as: SIMD32<UInt8>.self)
            return SIMD16(truncatingIfNeeded: pixels.evenHalf) &+ SIMD16(truncatingIfNeeded: pixels.oddHalf)
        }
        var x = 0
        while x + 16 <= count {
            let sums = (pairs(upper, x) &+ pairs(lower, x) &+ 2) &>> 2
            UnsafeMutableRawPointer(row + x).storeBytes(
                of: SIMD16<UInt8>(truncatingIfNeeded: sums), as: SIMD16<UInt8>.self)
            x += 16
        }
        return x
    }

    @inline(__always)
    private func average(_ side: Int, into result: Plane) {
        let area = UInt32(side * side)
        for y in 0..<result.height {
            let inside = (y + 1) * side <= height ? width / side : 0
            let (top, row) = (bytes + y * side * stride, result.bytes + y * result.stride)
            let begun = side == 2 ? Self.halve(top, top + stride, into: row, inside) : 0
            for x in begun..<inside {
                var sum = area / 2
                for line in 0..<side {
                    let start = top + (line &* stride &+ x &* side)
                    for column in 0..<side { sum &+= UInt32(start[column]) }
                }
                row[x] = UInt8(truncatingIfNeeded: sum / area)
            }
            for x in inside..<result.width {
                var sum = area / 2
                for line in y * side..<(y + 1) * side {
                    for column in x * side..<(x + 1) * side {
                        sum += UInt32(bytes[min(line, height - 1) * stride + min(column, width - 1)])
                    }
                }
                row[x] = UInt8(truncatingIfNeeded: sum / area)
            }
        }
    }
}
