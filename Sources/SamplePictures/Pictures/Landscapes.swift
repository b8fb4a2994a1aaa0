import Foundation

/// Imaginary landscapes. Each function prepares a painter for a picture of the given size.
enum Landscapes {
    /// Several layers of wooded hills in the mist, with the sun just above them.
    @Sendable static func hills(_ width: Int, _ height: Int) -> Drawing.Painter {
        let layers = 7
        let (w, h) = (Float(width), Float(height))
        let sky = [Colour(0x3c6ea8), Colour(0x8fb4d8), Colour(0xf3c98b), Colour(0xfde9b8)]
        let far = Colour(0xd8b48c), near = Colour(0x14301f)
        let ridges = (0..<layers).map { layer in
            let depth = Float(layer) / Float(layers - 1)
            let wide = Noise.ridge(width, perPixel: (3 + 3 * depth) / w, octaves: 4, layer * 31 + 7)
            // Treetops show on the near hills.
            let trees = Noise.ridge(width, perPixel: (220 - 90 * depth) / w, octaves: 2, layer * 17 + 3)
            return zip(wide, trees).map { wide, trees in
                h * (0.42 + 0.075 * Float(layer) - wide * (0.20 - 0.06 * depth) - trees * 0.018 * (0.3 + depth))
            }
        }
        return { x, y in
            let (px, py) = (Float(x), Float(y))
            guard let layer = ridges.lastIndex(where: { py >= $0[x] }) else {
                let position = py / (h * 0.5)
                let sun = hypot(px - w * 0.68, py - h * 0.235) / h
                let cloud = Noise.fractal(px / w * 5, py / h * 22, octaves: 4, 90)
                return ramp(sky, position)
                    .mixed(Colour(0xfff6e6), smoothstep(0.5, 0.85, cloud) * 0.6)
                    .lit(Colour(0xffdf9a), exp(-sun * 5) * 0.45)
                    .mixed(Colour(0xfffbe8), smoothstep(0.047, 0.044, sun))
            }
            let depth = Float(layer) / Float(layers - 1)
            let below = (py - ridges[layer][x]) / h
            let texture = Noise.fractal(px / w * (140 + 60 * depth), py / h * 130, octaves: 2, layer * 5)
            let light = Colour(0x9a7b3a).scaled(0.35 * depth * max(0, 1 - below * 14))
            let mist = exp(-below * 6) * (1 - depth) * 0.25 + smoothstep(0.02, 0.16, below) * (1 - depth) * 0.55
            return far.mixed(near, pow(depth, 0.75))
                .scaled(0.78 + 0.44 * texture * (0.35 + 0.65 * depth))
                .lit(light, texture)
                .mixed(Colour(0xf6dcb4), mist)
        }
    }

    /// Sand dunes in the evening, lit from the left.
    @Sendable static func dunes(_ width: Int, _ height: Int) -> Drawing.Painter {
        let (w, h) = (Float(width), Float(height))
        let sky = [Colour(0x2c5c93), Colour(0x7fb0cf), Colour(0xf5cfa0)]
        let crests = (0..<5).map { layer in
            Noise.ridge(width, perPixel: (1.6 + Float(layer) * 0.5) / w, octaves: 3, layer * 13 + 200)
                .map { h * (0.50 + 0.115 * Float(layer) - $0 * 0.24) }
        }
        return { x, y in
            let (px, py) = (Float(x), Float(y))
            guard let layer = crests.lastIndex(where: { py >= $0[x] }) else {
                let haze = Noise.fractal(px / w * 4, py / h * 9, octaves: 3, 300)
                return ramp(sky, py / (h * 0.45))
                    .mixed(Colour(0xffe9cf), smoothstep(0.55, 0.9, haze) * 0.35)
            }
            let crest = crests[layer]
            let ahead = crest[min(x + width / 160, width - 1)]
            let slope = (ahead - crest[x]) / (w / 160)
            let below = (py - crest[x]) / h
            let bend = Noise.fractal(px / w * 7, py / h * 9, octaves: 2, layer + 60)
            let ripples = sin((py + px * 0.22) / h * 420 + bend * 26) * 0.5 + 0.5
            let shade = smoothstep(-0.22, 0.30, slope + (bend - 0.5) * 0.25) * exp(-below * 6)
            let sand = Colour(0xf0a95a).mixed(Colour(0x8a3f2a), shade)
            let grain = Noise.hash(x, y, 4) * 0.06
            return sand.scaled(0.86 + 0.14 * ripples * (1 - shade * 0.6) + grain)
                .lit(Colour(0xffd9a0), exp(-below * 30) * (1 - shade) * 0.18)
                .mixed(Colour(0xeab98c), (1 - Float(layer) / 4) * 0.35)
        }
    }
}
