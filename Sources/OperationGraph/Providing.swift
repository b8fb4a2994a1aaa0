import Foundation

/// An operation that hands a value on to its followers.
package protocol Providing<Product> {
    associatedtype Product

    /// Nil until there is a product, and for good if the operation fails or is cancelled.
    var product: Product? { get }
}

extension AsyncOperation {
    /// The first product of this type among its dependencies.
    package final func provided<Value>(_ type: Value.Type) -> Value? {
        for dependency in dependencies {
            if let value = (dependency as? any Providing)?.product as? Value { return value }
        }
        return nil
    }

    /// Whether it has providers, and all of them failed or were cancelled.
    final var isInVain: Bool {
        let providers = dependencies.lazy.compactMap { $0 as? any Providing }
        return !providers.isEmpty && providers.allSatisfy { $0.product == nil }
    }
}
