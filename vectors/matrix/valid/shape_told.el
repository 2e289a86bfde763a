# swath: rows=3 columns=5 values=integer first=1
# more
1 5 9007199254740993
2 1 -1
