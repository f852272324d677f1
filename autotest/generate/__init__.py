"""Makes test cases from the oracle's own signatures: no test is written by hand for any op."""
