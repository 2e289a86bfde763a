# swath: rows=3 columns=5 values=integer first=0
0 4 1.5
