import Foundation

/// Shapes and formulas. Each function prepares a painter for a picture of the given size.
enum Patterns {
    /// A sum of sine waves, mapped to a colour wheel.
    @Sendable static func plasma(_ width: Int, _ height: Int) -> Drawing.Painter {
        let scale = 1 / Float(height)
        let wheel = [0x1b1464, 0x0652dd, 0x12cbc4, 0xc4e538, 0xffc312, 0xee5a24, 0xb53471, 0x1b1464].map { Colour($0) }
        return { x, y in
            let (u, v) = (Float(x) * scale, Float(y) * scale)
            let value =
                sin(u * 6 + sin(v * 5) * 1.4) + sin(v * 8 + u * 3) + sin(hypot(u - 0.9, v - 0.3) * 14)
                + sin(hypot(u - 0.2, v - 0.9) * 9)
            let position = value * 0.19 + 0.5
            return ramp(wheel, position - position.rounded(.down))
        }
    }

    /// Seahorse Valley, a region of the Mandelbrot set.
    @Sendable static func mandelbrot(_ width: Int, _ height: Int) -> Drawing.Painter {
        let span = 0.0105 / Double(height)
        let colours = [0x0b1030, 0x1f5fa8, 0xe9f5fb, 0xf7b733, 0x8c2f1b, 0x0b1030].map { Colour($0) }
        return { x, y in
            let cx = -0.7463 + (Double(x) - Double(width) / 2) * span
            let cy = 0.1102 + (Double(y) - Double(height) / 2) * span
            var (zx, zy, count) = (0.0, 0.0, 0)
            while zx * zx + zy * zy < 256, count < 400 {
                (zx, zy) = (zx * zx - zy * zy + cx, 2 * zx * zy + cy)
                count += 1
            }
            guard count < 400 else { return Colour(0x05060f) }
            let smooth = Float(Double(count) + 1 - log2(log2(zx * zx + zy * zy) / 2))
            let position = sqrt(smooth) * 0.42
            return ramp(colours, position - position.rounded(.down))
        }
    }

    /// Triangles whose colours follow a gradient, with a slight random deviation.
    @Sendable static func triangles(_ width: Int, _ height: Int) -> Drawing.Painter {
        let side = Float(width) / 14
        let rise = side * 0.8660254
        let colours = [0x0f4c5c, 0x2a9d8f, 0xe9c46a, 0xf4a261, 0xe76f51, 0x6d2e46].map { Colour($0) }
        return { x, y in
            let row = Float(y) / rise
            let column = Float(x) / side - row.rounded(.down) * 0.5 + 40
            let (fx, fy) = (column - column.rounded(.down), row - row.rounded(.down))
            let isUpper = fx + fy * 0.5 < 0.5 || fx - fy * 0.5 > 0.5
            let cell = (Int(column + (isUpper && fx > 0.5 ? 1 : 0)), Int(row))
            let chance = Noise.hash(cell.0, cell.1, isUpper ? 1 : 2)
            let position = (Float(x) * 0.6 + Float(y) * 0.8) / Float(width + height) * 1.45 + (chance - 0.5) * 0.22
            let edge = min(abs(fx - 0.5 + fy * 0.5), abs(fx - 0.5 - fy * 0.5), fy, 1 - fy)
            let relief = (isUpper ? 1.06 : 0.92) + (chance - 0.5) * 0.18 + (isUpper ? fy : 1 - fy) * 0.08
            return ramp(colours, position).scaled(relief).mixed(Colour(0xfdf6e3), smoothstep(0.022, 0.010, edge) * 0.5)
        }
    }
}
