# swath: rows=3 columns=5 values=none first=0
0 4
3 0
