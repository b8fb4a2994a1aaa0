enum Conforming { static func run(_ a: Arguments) throws -> Int32 { 0 } }
