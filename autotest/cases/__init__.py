"""What a case is: calls, tensors, results and functions as data that any process can rebuild."""
