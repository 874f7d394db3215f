module contender

go 1.19
