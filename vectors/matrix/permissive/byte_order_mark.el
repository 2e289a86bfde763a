# two edges
0 1
2 2
