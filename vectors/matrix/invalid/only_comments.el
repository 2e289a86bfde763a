# a
# b
