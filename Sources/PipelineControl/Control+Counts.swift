extension Control.Jobs {
    public init() {
        self.init(
            waiting: 0, queued: 0, running: 0, cancelling: 0, done: 0, failed: 0, cancelled: 0, ignored: 0)
    }
}
