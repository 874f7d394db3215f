// The version is the oldest with which the sources compile. Builds that are measured replace this file by the one of
// `go mod init`, so that the runtime has its current defaults.
module contender

go 1.19
