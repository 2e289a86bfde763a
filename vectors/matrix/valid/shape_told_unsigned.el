# swath: rows=1 columns=1 values=unsigned first=0
0 0 18446744073709551615
