print("pipelined-samples")
