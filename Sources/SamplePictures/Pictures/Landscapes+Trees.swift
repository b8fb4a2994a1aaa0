import Foundation

extension Landscapes {
    /// Curtains of northern lights above a dark forest and a lake.
    @Sendable static func aurora(_ width: Int, _ height: Int) -> Drawing.Painter {
        let (w, h) = (Float(width), Float(height))
        let night = [Colour(0x050818), Colour(0x0c1c3c), Colour(0x1c4258)]
        let shore = h * 0.78
        let forest = (0..<width).map { x -> Float in
            let hill = Noise.fractal(Float(x) / w * 5, 0.5, octaves: 3, 61)
            // Firs: a row of triangles of different heights.
            let place = Float(x) / w * 150
            let tip = 1 - abs(place - place.rounded(.down) - 0.5) * 2
            return h * (0.055 + 0.08 * hill + 0.045 * tip * (0.4 + 0.6 * Noise.hash(Int(place), 9, 62)))
        }
        let curtains = (0..<3).map { index in
            Noise.ridge(width, perPixel: 3.2 / w, octaves: 4, 500 + index * 19)
                .map { h * (0.30 + 0.16 * Float(index) + ($0 - 0.5) * 0.50) }
        }
        let rays = Noise.ridge(width, perPixel: 120 / w, octaves: 3, 71)
        let tints = [Colour(0x7be8a0), Colour(0x45d6b0), Colour(0x9a6be0)]
        @Sendable func sky(_ x: Int, _ py: Float) -> Colour {
            var colour = ramp(night, py / shore)
            for (index, curtain) in curtains.enumerated() {
                let above = (curtain[x] - py) / h
                guard above > -0.03 else { continue }
                let glow = smoothstep(-0.03, 0.012, above) * exp(-max(0, above) * (5.5 + Float(index)))
                colour = colour.lit(tints[index].mixed(Colour(0xb04fd0), above * 2.4), glow * (0.25 + 0.75 * rays[x]))
            }
            return colour
        }
        return { x, y in
            let py = Float(y)
            if py > shore {
                let ripple = Noise.fractal(Float(x) / w * 22, py / h * 190, octaves: 2, 81) - 0.5
                let mirrored = 2 * shore - py + ripple * h * 0.035
                let under = shore - mirrored < forest[x]
                return (under ? Colour(0x04070f) : sky(x, max(0, mirrored)).scaled(0.72)).lit(Colour(0x5a8aa0), 0.05)
            }
            if shore - py < forest[x] {
                return Colour(0x03050a).lit(Colour(0x1d4a3c), Noise.hash(x / 2, y / 3, 8) * 0.12)
            }
            let star = Noise.hash(x / 2, y / 2, 99)
            return sky(x, py).lit(Colour(0xe8f0ff), star > 0.9988 ? (star - 0.9988) * 700 : 0)
        }
    }

    /// Poplars along a canal in autumn, in portrait format.
    @Sendable static func poplars(_ width: Int, _ height: Int) -> Drawing.Painter {
        let (w, h) = (Float(width), Float(height))
        let day = [Colour(0x4f8fd0), Colour(0xa9d0ea), Colour(0xf8e6c8)]
        let bank = h * 0.70
        let trees: [(x: Float, top: Float, width: Float, tint: Colour)] = (0..<9).map { index in
            let chance = Noise.hash(index, 3, 7)
            let tint = ramp([Colour(0xd9822b), Colour(0xe8b53a), Colour(0x9c9a35), Colour(0xc4532a)], chance)
            return (w * (0.06 + 0.11 * Float(index)), h * (0.13 + 0.16 * Noise.hash(index, 1, 7)), w * 0.052, tint)
        }
        @Sendable func scene(_ px: Float, _ py: Float) -> Colour {
            let ragged = (Noise.fractal(px / w * 60, py / h * 90, octaves: 2, 31) - 0.5) * w * 0.034
            for tree in trees {
                let along = (py - tree.top) / (bank - tree.top)
                guard along > 0 else { continue }
                let aside = px + ragged - tree.x
                if along > 0.93 {
                    if abs(aside) < w * 0.006 { return Colour(0x3a2a22) }
                    continue
                }
                let reach = tree.width * sin(.pi * pow(along, 0.65)) * 0.9 + w * 0.004
                guard abs(aside) < reach else { continue }
                let leaves = Noise.fractal(px / w * 120, py / h * 170, octaves: 3, 32)
                return tree.tint.scaled(0.45 + 0.75 * leaves).lit(Colour(0xffe0a0), max(0, -aside / reach) * 0.20)
            }
            if py > bank - h * 0.03 {
                return Colour(0x5f7a35).scaled(0.6 + 0.7 * Noise.fractal(px / w * 80, py / h * 200, octaves: 2, 33))
            }
            let cloud = Noise.fractal(px / w * 3, py / h * 6, octaves: 5, 34)
            return ramp(day, py / bank)
                .mixed(Colour(0xffffff), smoothstep(0.48, 0.8, cloud) * 0.85)
        }
        return { x, y in
            let (px, py) = (Float(x), Float(y))
            guard py > bank else { return scene(px, py) }
            let depth = (py - bank) / (h - bank)
            let ripple = Noise.fractal(px / w * 12, py / h * 120, octaves: 2, 35) - 0.5
            let mirrored = max(0, bank - h * 0.03 - (py - bank) * 1.9 + ripple * h * 0.03 * (0.3 + depth))
            return scene(px + ripple * w * 0.02, mirrored).scaled(0.72).mixed(Colour(0x1f3a4a), 0.15 + depth * 0.25)
        }
    }
}
