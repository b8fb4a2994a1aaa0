print("pipelined")
