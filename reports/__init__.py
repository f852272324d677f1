"""Records of measurements, the store that keeps them, and the site rendered from them.

`records` defines what a record is, `store` keeps records, `site` renders them. Everything shown is computed from
records; nothing derived (throughput, ratio, score) is ever stored. Importing this package loads no framework.
"""
