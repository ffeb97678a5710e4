module github.com/monotable/monotable

go 1.26
