# swath: rows=3 columns=5 values=none
