import Foundation

/// Red, green, blue and alpha from 0 to 1, gamma-encoded, not premultiplied.
typealias Colour = SIMD4<Float>

extension SIMD4<Float> {
    /// `0xrrggbb`, opaque.
    init(_ hex: Int) {
        self.init(Float(hex >> 16 & 255) / 255, Float(hex >> 8 & 255) / 255, Float(hex & 255) / 255, 1)
    }

    /// Blends this colour with another colour. `amount` is the weight of the other colour, from 0 to 1.
    func mixed(_ other: Self, _ amount: Float) -> Self {
        self + (other - self) * unit(amount)
    }

    /// Adds light to the colour, and keeps its alpha.
    func lit(_ light: Self, _ amount: Float) -> Self {
        var result = self + light * amount
        result.w = w
        return result
    }

    func scaled(_ factor: Float) -> Self { Self(x * factor, y * factor, z * factor, w) }
}

/// The colour at `position`, from 0 to 1, on a gradient through several colours.
func ramp(_ colours: [Colour], _ position: Float) -> Colour {
    let place = unit(position) * Float(colours.count - 1)
    let index = min(Int(place), colours.count - 2)
    return colours[index].mixed(colours[index + 1], place - Float(index))
}

/// 0 below `low`, 1 above `high`, and a smooth step in between.
func smoothstep(_ low: Float, _ high: Float, _ value: Float) -> Float {
    let t = unit((value - low) / (high - low))
    return t * t * (3 - 2 * t)
}

/// Clamps a value to 0…1.
func unit(_ value: Float) -> Float { min(max(value, 0), 1) }
