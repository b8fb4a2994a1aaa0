import Foundation

/// An operation that provides a value to its dependents.
package protocol Providing<Product> {
    associatedtype Product

    /// The product. Nil until the operation has made it; stays nil if the operation fails or is cancelled.
    var product: Product? { get }
}

extension AsyncOperation {
    /// Returns the first product of this type that a dependency of this operation provides, or nil.
    package final func provided<Value>(_ type: Value.Type) -> Value? {
        for dependency in dependencies {
            if let value = (dependency as? any Providing)?.product as? Value { return value }
        }
        return nil
    }

    /// Whether this operation depends on providers, and none of them has a product.
    final var isInVain: Bool {
        let providers = dependencies.lazy.compactMap { $0 as? any Providing }
        return !providers.isEmpty && providers.allSatisfy { $0.product == nil }
    }
}
