package api

// Tag is a label on a table; a table has at most 50. The model's constraints on its members are not checked with those
// of other members: AWS's tagging backend has sentences of its own for them, and so has the engine.
type Tag struct {
	Key   *string
	Value *string
}

// TagResourceInput adds tags to a table, or changes their values.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TagResource.html
type TagResourceInput struct {
	ResourceArn *string `required:"true" min:"1" max:"1283"`
	Tags        []Tag   `required:"true"`
}

// TagResourceOutput has no members: the response to TagResource has an empty body.
type TagResourceOutput struct{}

// UntagResourceInput takes tags from a table.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UntagResource.html
type UntagResourceInput struct {
	ResourceArn *string  `required:"true" min:"1" max:"1283"`
	TagKeys     []string `required:"true"`
}

// UntagResourceOutput has no members: the response to UntagResource has an empty body.
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
