module steward.invalid/sidecar

go 1.22
