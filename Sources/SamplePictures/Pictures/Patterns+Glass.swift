import Foundation

extension Patterns {
    /// A leaded window: cells around scattered points, lit from behind.
    @Sendable static func glass(_ width: Int, _ height: Int) -> Drawing.Painter {
        let cell = Float(width) / 13
        let tints = [0x1b4f9c, 0xc8102e, 0xf2a900, 0x2e8b57, 0x6a2c91, 0x17a2b8, 0xe8dcc0].map { Colour($0) }
        return { x, y in
            let (u, v) = (Float(x) / cell, Float(y) / cell)
            let (ix, iy) = (Int(u), Int(v))
            var (nearest, second): (Float, Float) = (9, 9)
            var found = (0, 0)
            for cy in iy - 1...iy + 1 {
                for cx in ix - 1...ix + 1 {
                    let px = Float(cx) + 0.12 + 0.76 * Noise.hash(cx, cy, 1)
                    let py = Float(cy) + 0.12 + 0.76 * Noise.hash(cx, cy, 2)
                    let distance = hypot(px - u, py - v)
                    if distance < nearest {
                        (second, nearest, found) = (nearest, distance, (cx, cy))
                    } else if distance < second {
                        second = distance
                    }
                }
            }
            let lead = smoothstep(0.055, 0.075, second - nearest)
            let tint = tints[Int(Noise.hash(found.0, found.1, 3) * 6.99)]
            let streaks = Noise.fractal(u * 2, v * 7 + Float(found.0), octaves: 2, found.1)
            let window = 1.25 - hypot(Float(x) / Float(width) - 0.5, Float(y) / Float(height) - 0.42) * 0.9
            return Colour(0x14110f).mixed(tint.scaled(window * (0.72 + 0.5 * streaks)), lead)
        }
    }

    /// A hot-air balloon on a transparent background.
    @Sendable static func balloon(_ width: Int, _ height: Int) -> Drawing.Painter {
        let h = Float(height)
        let stripes = [0xd7263d, 0xf4d35e, 0x1b998b, 0xf46036, 0x2e294e, 0xf7f7ff].map { Colour($0) }
        return { x, y in
            let (u, v) = ((Float(x) - Float(width) / 2) / h, Float(y) / h)
            let soft = 1.5 / h
            let crown: Float = 0.36, radius: Float = 0.31
            let along = (v - crown) / radius
            let round = sqrt(max(0, 1 - along * along))
            let reach = radius * (along < 0.55 ? round : 0.835 - (along - 0.55) * 0.72)
            let cover = smoothstep(reach + soft, reach - soft, abs(u)) * smoothstep(0.765, 0.765 - soft * 2, v)
            if cover > 0, v > crown - radius {
                let angle = asin(min(max(u / max(reach, 0.001), -1), 1)) / .pi + 0.5
                let stripe = Int(angle * 12)
                let light = 0.62 + 0.48 * cos((angle - 0.36) * 2.6) * (1.1 - 0.28 * max(0, along))
                let seam = smoothstep(0.0, 0.05, abs(angle * 12 - (angle * 12).rounded()))
                var colour = stripes[stripe % stripes.count].scaled(light * (0.82 + 0.18 * seam))
                if abs(along - 0.05) < 0.07 { colour = stripes[(stripe + 3) % stripes.count].scaled(light) }
                colour.w = cover
                return colour
            }
            let across = smoothstep(0.058, 0.058 - soft, abs(u))
            let basket = across * smoothstep(0.855, 0.855 + soft, v) * smoothstep(0.945, 0.945 - soft, v)
            if basket > 0 {
                let weave = sin(u * 900) * sin(v * 700) > 0
                var colour = (weave ? Colour(0x9c6b3f) : Colour(0x6f4526)).scaled(1 - u * 3)
                colour.w = basket
                return colour
            }
            guard v > 0.76, v < 0.86 else { return Colour(0, 0, 0, 0) }
            let inner = 0.115 - (v - 0.76) * 0.6
            let rope = min(abs(abs(u) - inner), abs(abs(u) - inner * 0.35))
            return Colour(0.24, 0.18, 0.14, smoothstep(soft * 2.4, soft, rope))
        }
    }

    /// Rings on a pond where drops have fallen.
    @Sendable static func raindrops(_ width: Int, _ height: Int) -> Drawing.Painter {
        let scale = 1 / Float(height)
        let colours = [0x0d3b45, 0x1f7a6d, 0x9bd1a5, 0xf5f0c8].map { Colour($0) }
        let drops: [(x: Float, y: Float, age: Float)] = (0..<9).map {
            (Noise.hash($0, 1, 5), Noise.hash($0, 2, 5), 0.08 + 0.34 * Noise.hash($0, 3, 5))
        }
        return { x, y in
            let (u, v) = (Float(x) * scale, Float(y) * scale)
            var (tiltX, tiltY): (Float, Float) = (0, 0)
            for drop in drops {
                let (dx, dy) = (u - drop.x, v - drop.y)
                let distance = hypot(dx, dy) + 0.0001
                let wave =
                    cos((distance - drop.age) * 170) * exp(-pow((distance - drop.age * 0.6) / (drop.age * 0.5), 2))
                tiltX += dx / distance * wave
                tiltY += dy / distance * wave
            }
            let (mx, my) = (u + tiltX * 0.03, v + tiltY * 0.03)
            let leaves = Noise.fractal(mx * 7, my * 7, octaves: 4, 15)
            let sky = ramp(colours, leaves * 1.5 - 0.25)
            return sky.lit(Colour(0xffffff), max(0, tiltX * 0.35 - tiltY * 0.45)).scaled(0.92 + 0.1 * (1 - v))
        }
    }
}
