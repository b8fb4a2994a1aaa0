import Foundation

extension Landscapes {
    /// The sun sets over the sea, and glitters on its waves.
    @Sendable static func sea(_ width: Int, _ height: Int) -> Drawing.Painter {
        let (w, h) = (Float(width), Float(height))
        let water = [Colour(0xd9795f), Colour(0x5a4a80), Colour(0x17254c)]
        let horizon = h * 0.56
        let sky = [Colour(0x1d2b58), Colour(0x7a4a86), Colour(0xe8735a), Colour(0xffc56b)]
        return { x, y in
            let (px, py) = (Float(x), Float(y))
            let aside = (px - w * 0.42) / h
            if py < horizon {
                let sun = hypot(aside, (py - h * 0.47) / h)
                let cloud = Noise.fractal(px / w * 4 + py / h, py / h * 16, octaves: 5, 11)
                let lit = Colour(0xffb37a).mixed(Colour(0x5d3f73), smoothstep(0.1, 0.9, sun))
                return ramp(sky, pow(py / horizon, 1.3))
                    .mixed(lit, smoothstep(0.48, 0.78, cloud) * 0.75)
                    .lit(Colour(0xffa54a), exp(-sun * 6) * 0.5)
                    .mixed(Colour(0xfff3cf), smoothstep(0.068, 0.064, sun))
            }
            // Distant waves look flatter.
            let near = (py - horizon) / (h - horizon)
            let distance = 1 / (near + 0.035)
            let swell = Noise.fractal(px / w * 18 * distance * 0.35 + 3, distance * 9, octaves: 3, 21)
            let ripple = Noise.fractal(px / w * 95 * (0.25 + distance * 0.12), distance * 34, octaves: 2, 22)
            let height = swell * 0.65 + ripple * 0.35
            let path = exp(-pow(aside / (0.055 + near * 0.16), 2))
            let glint = smoothstep(0.52, 0.68, height + path * 0.06) * path
            return ramp(water, pow(near, 0.45))
                .scaled(0.62 + 0.76 * height)
                .lit(Colour(0xffb35c), glint * 0.95 + path * 0.12)
        }
    }

    /// A lighthouse sends its beams into a starry night.
    @Sendable static func lighthouse(_ width: Int, _ height: Int) -> Drawing.Painter {
        let (w, h) = (Float(width), Float(height))
        let night = [Colour(0x070b24), Colour(0x14285c), Colour(0x3f5f94), Colour(0xb0829a)]
        let rock = Noise.ridge(width, perPixel: 5 / w, octaves: 5, 404)
        let lamp = (x: w * 0.5, y: h * 0.265)
        return { x, y in
            let (px, py) = (Float(x), Float(y))
            let (dx, dy) = ((px - lamp.x) / h, (py - lamp.y) / h)
            let ground = h * (0.80 - 0.10 * rock[x] + 0.16 * pow(abs(dx) * 2.2, 1.6))
            let across = abs(dx) / (0.030 + max(0, dy) * 0.045)
            if py > ground {
                let stone = Noise.fractal(px / w * 34, py / h * 46, octaves: 4, 41)
                return Colour(0x1a1d2c).mixed(Colour(0x6b5a52), smoothstep(0.35, 0.8, stone))
                    .lit(Colour(0xffd98a), exp(-(py - ground) / h * 22) * 0.10)
            }
            if dy > 0.028, across < 1 {
                let band = Int((dy - 0.028) * 13) % 2 == 0
                let round = sqrt(max(0, 1 - across * across))
                return (band ? Colour(0xc23b33) : Colour(0xf4efe6)).scaled(0.30 + 0.70 * round)
            }
            if dy > -0.022, dy <= 0.028, abs(dx) < (dy > 0.02 ? 0.046 : 0.024) {
                return dy > 0.02 ? Colour(0x22242e) : Colour(0xfff6c9)
            }
            if dy <= -0.022, dy > -0.05, abs(dx) < (dy + 0.05) * 1.05 { return Colour(0x8f2a26) }
            let star = Noise.hash(x / 3, y / 3, 77)
            let beam = exp(-pow((dy - abs(dx) * 0.10) / (0.006 + abs(dx) * 0.07), 2)) * exp(-abs(dx) * 1.5)
            let cloud = Noise.fractal(px / w * 4, py / h * 7, octaves: 4, 52)
            return ramp(night, py / (h * 0.86))
                .mixed(Colour(0x6d7fae), smoothstep(0.5, 0.9, cloud) * 0.4)
                .lit(Colour(0xffffff), star > 0.9985 ? (star - 0.9985) * 600 : 0)
                .lit(Colour(0xffe9a8), beam * 0.75 + exp(-hypot(dx, dy) * 22) * 0.6)
        }
    }
}
