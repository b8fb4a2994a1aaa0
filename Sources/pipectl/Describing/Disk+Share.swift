import PipelineControl

extension Control.Disk {
    /// Used space in percent.
    var share: Int { bytes > 0 ? Int(nearest: (1 - Double(free) / Double(bytes)) * 100) : 0 }
}
