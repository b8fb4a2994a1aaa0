print("pipelined-render")
