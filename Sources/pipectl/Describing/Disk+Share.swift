import PipelineControl

extension Control.Disk {
    /// How full it is, in percent.
    var share: Int { bytes > 0 ? Int(nearest: (1 - Double(free) / Double(bytes)) * 100) : 0 }
}
