/// The version that a worker says in its `hello`. Supervisor and workers are built and shipped together.
public let workerVersion = "0.1.0"
