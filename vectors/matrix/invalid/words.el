from to
0 1
