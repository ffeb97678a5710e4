package api

// Tag is a label on a table; a table has at most 50.
type Tag struct {
	Key   *string `required:"true" min:"1" max:"128"`
	Value *string `required:"true" min:"0" max:"256"`
}

// TagResourceInput adds tags to a table, or changes their values.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TagResource.html
type TagResourceInput struct {
	ResourceArn *string `required:"true" min:"1" max:"1283"`
	Tags        []Tag   `required:"true"`
}

// TagResourceOutput has no members: the answer to TagResource has an empty body.
type TagResourceOutput struct{}

// UntagResourceInput takes tags from a table.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UntagResource.html
type UntagResourceInput struct {
	ResourceArn *string  `required:"true" min:"1" max:"1283"`
	TagKeys     []string `required:"true" each_min:"1" each_max:"128"`
}

// UntagResourceOutput has no members: the answer to UntagResource has an empty body.
type UntagResourceOutput struct{}

// ListTagsOfResourceInput asks for a page of a table's tags.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ListTagsOfResource.html
type ListTagsOfResourceInput struct {
	ResourceArn *string `required:"true" min:"1" max:"1283"`
	NextToken   *string
}

// ListTagsOfResourceOutput is one page; Tags is empty rather than absent.
type ListTagsOfResourceOutput struct {
	Tags      []Tag
	NextToken *string
}
