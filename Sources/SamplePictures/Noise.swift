/// Random numbers that are the same in each run.
enum Noise {
    /// A pseudo-random number from 0 to 1 for a grid point.
    static func hash(_ x: Int, _ y: Int, _ seed: Int = 0) -> Float {
        var n = UInt32(truncatingIfNeeded: x &* 374_761_393 &+ y &* 668_265_263 &+ seed &* 2_147_483_647)
        n = (n ^ (n >> 13)) &* 1_274_126_177
        n = (n ^ (n >> 16)) &* 2_246_822_519
        return Float((n ^ (n >> 15)) & 0xffff) / 65535
    }

    /// Smooth noise from 0 to 1.
    static func value(_ x: Float, _ y: Float, _ seed: Int = 0) -> Float {
        // `rounded` would be slower: for the oldest processors, it compiles to a function call.
        let ix = Int(x) - (x < 0 ? 1 : 0)
        let iy = Int(y) - (y < 0 ? 1 : 0)
        let (tx, ty) = (x - Float(ix), y - Float(iy))
        let (sx, sy) = (tx * tx * (3 - 2 * tx), ty * ty * (3 - 2 * ty))
        let (a, b) = (hash(ix, iy, seed), hash(ix + 1, iy, seed))
        let (c, d) = (hash(ix, iy + 1, seed), hash(ix + 1, iy + 1, seed))
        let (upper, lower) = (a + (b - a) * sx, c + (d - c) * sx)
        return upper + (lower - upper) * sy
    }

    /// The weighted mean of noise at several scales, from 0 to 1.
    static func fractal(_ x: Float, _ y: Float, octaves: Int, _ seed: Int = 0) -> Float {
        var (sum, weight, total, scale): (Float, Float, Float, Float) = (0, 0.5, 0, 1)
        for octave in 0..<octaves {
            sum += value(x * scale, y * scale, seed + octave) * weight
            total += weight
            weight *= 0.5
            scale *= 2.03
        }
        return sum / total
    }

    /// A skyline: a height from 0 to 1 for each column.
    static func ridge(_ width: Int, perPixel: Float, octaves: Int, _ seed: Int) -> [Float] {
        (0..<width).map { fractal(Float($0) * perPixel, 0.5, octaves: octaves, seed) }
    }
}
