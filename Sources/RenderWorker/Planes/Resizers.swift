import CZimg
import Glibc

/// A lanczos3 resize of a plane, with its weights computed once. The plane is mirrored at its edges.
final class Resizer {
    struct Task: Equatable {
        var width: Int
        var height: Int
        /// The part of the plane to resize, in pixels. Its edges may lie between pixels.
        var region: Plane.Region
        var newWidth: Int
        var newHeight: Int
    }

    fileprivate let task: Task
    private let graph: OpaquePointer

    fileprivate init?(_ task: Task) {
        self.task = task
        var source = czimg_plane(
            width: UInt32(task.width), height: UInt32(task.height), left: task.region.left, top: task.region.top,
            active_width: task.region.width, active_height: task.region.height)
        guard let graph = czimg_lanczos3(&source, UInt32(task.newWidth), UInt32(task.newHeight)) else { return nil }
        self.graph = graph
    }

    deinit { zimg_filter_graph_free(graph) }

    /// Nil when memory can't be allocated.
    func apply(to plane: Plane) -> Plane? {
        var size = 0
        var memory: UnsafeMutableRawPointer?
        guard let result = Plane(task.newWidth, task.newHeight),
            zimg_filter_graph_get_tmp_size(graph, &size) == ZIMG_ERROR_SUCCESS,
            posix_memalign(&memory, Plane.alignment, size) == 0
        else { return nil }
        defer { free(memory) }
        return czimg_run(graph, plane.bytes, plane.stride, result.bytes, result.stride, memory) == 0 ? result : nil
    }
}

/// Caches the resizers of a worker's latest pictures. Making a resizer takes a tenth of the time of a render, and
/// pictures from one camera can share resizers, because these pictures have the same size.
final class Resizers {
    /// The most recently used resizer is last.
    private var latest: [Resizer] = []
    /// Enough for three results of one picture: each result needs a resizer for luma, one for chroma, and one for a
    /// gain map.
    private static let most = 9

    /// Nil when memory can't be allocated.
    func resizer(for task: Resizer.Task) -> Resizer? {
        let known = latest.firstIndex { $0.task == task }.map { latest.remove(at: $0) }
        guard let resizer = known ?? Resizer(task) else { return nil }
        latest = latest.suffix(Self.most - 1) + [resizer]
        return resizer
    }
}
